EXTRA_DIST += \
	%D%/ARCHITECTURE.md \
	%D%/adding-a-part.md \
	%D%/examples/send.py
