# Whole-process stories: one entry of `make check`, run by pytest. Stories may need leat and nothing else.

AM_TESTS_ENVIRONMENT = PYTHON='$(PYTHON)'; export PYTHON;

integration_files = \
	%D%/conftest.py \
	%D%/leat.py \
	%D%/run.sh

EXTRA_DIST += $(integration_files)
