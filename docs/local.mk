EXTRA_DIST += \
	%D%/ARCHITECTURE.md \
	%D%/adding-a-part.md \
	%D%/clients.md \
	%D%/decisions/host-choice.md \
	%D%/examples/SendFlume.java \
	%D%/examples/SendThrift.java \
	%D%/examples/send.c \
	%D%/examples/send.cpp \
	%D%/examples/send.py \
	%D%/file-channel-format.md \
	%D%/flume-differences.md \
	%D%/registry-differences.md \
	%D%/registry.md

dist_doc_DATA = conf/reference.yaml %D%/leat.schema.json

dist_man_MANS += \
	%D%/man/leat.1 \
	%D%/man/leat.yaml.5 \
	%D%/man/libleat-client.3

if HAVE_SOUP
dist_man_MANS += %D%/man/leat-registry.8
else
EXTRA_DIST += %D%/man/leat-registry.8
endif

# What the rows of all parts say, committed so that a cross build need not run what it built; a story fails while it is stale.
options_page = $(srcdir)/%D%/man/leat.yaml.5
.PHONY: update-docs
update-docs: leat
	./leat describe --all=yaml > $(srcdir)/conf/reference.yaml.new
	mv $(srcdir)/conf/reference.yaml.new $(srcdir)/conf/reference.yaml
	./leat describe --all=json-schema > $(srcdir)/%D%/leat.schema.json.new
	mv $(srcdir)/%D%/leat.schema.json.new $(srcdir)/%D%/leat.schema.json
	{ $(SED) '/^\.\\" ---- options start/q' $(options_page) && ./leat describe --all=man && \
	  $(SED) -n '/^\.\\" ---- options end/,$$p' $(options_page); } > $(options_page).new
	mv $(options_page).new $(options_page)
