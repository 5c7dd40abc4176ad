lints = %D%/format.sh %D%/layers.py %D%/sizes.py
EXTRA_DIST += $(lints)
TESTS += %D%/format.sh
if HAVE_PYTHON
TESTS += %D%/layers.py %D%/sizes.py
endif
