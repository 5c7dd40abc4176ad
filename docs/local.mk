EXTRA_DIST += \
	%D%/examples/send.py
