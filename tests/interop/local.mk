# Real programs of others against leat. Not part of `make check`: they may need the network, once.
EXTRA_DIST += \
	%D%/avro_events.py \
	%D%/conftest.py \
	%D%/flume_agent.py \
	%D%/flume_jars.py \
	%D%/java/FlumeSender.java \
	%D%/java/pom.xml \
	%D%/numbered_events.py \
	%D%/test_examples.py \
	%D%/test_flume_client.py \
	%D%/test_flume_tiers.py

# What is skipped is named at the end, with the reason.
.PHONY: interop
interop: leat
	LEAT=$(abs_builddir)/leat PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -rs -p no:cacheprovider $(srcdir)/%D%
