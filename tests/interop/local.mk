# Real programs of others against leat. Not part of `make check`: they may need the network, once.
EXTRA_DIST += \
	%D%/avro_events.py \
	%D%/conftest.py \
	%D%/flume_agent.py \
	%D%/flume_jars.py \
	%D%/go/go.mod \
	%D%/java/FlumeSender.java \
	%D%/java/RocketDriver.java \
	%D%/java/pom.xml \
	%D%/java/rocketmq/pom.xml \
	%D%/maven_jars.py \
	%D%/node/consume.js \
	%D%/node/package.json \
	%D%/nsq_programs.py \
	%D%/numbered_events.py \
	%D%/rocketmq_programs.py \
	%D%/test_discovery_nsq.py \
	%D%/test_discovery_rocketmq.py \
	%D%/test_examples.py \
	%D%/test_flume_client.py \
	%D%/test_flume_tiers.py \
	%D%/test_nsq.py \
	%D%/test_nsqjs.py \
	%D%/test_registration.py \
	%D%/test_registration_rocketmq.py \
	%D%/test_registry_page.py \
	%D%/test_rocketmq.py \
	%D%/test_rocketmq_frames.py

# What is skipped is named at the end, with the reason.
.PHONY: interop
interop: $(bin_PROGRAMS)
	LEAT=$(abs_builddir)/leat LEAT_REGISTRY=$(abs_builddir)/leat-registry PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -rs -p no:cacheprovider $(srcdir)/%D%
