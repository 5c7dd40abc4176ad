EXTRA_DIST += \
	%D%/collector.yaml \
	%D%/discovered-collector.yaml \
	%D%/discovered-edge.yaml \
	%D%/durable.yaml \
	%D%/edge.yaml \
	%D%/failover.yaml \
	%D%/quickstart.sh \
	%D%/quickstart.yaml \
	%D%/registry.yaml \
	%D%/routing.yaml \
	%D%/sequence.yaml \
	%D%/spilling.yaml

# The main job on an example that a person can watch; ends by itself.
.PHONY: run
run: leat
	@$(SHELL) $(srcdir)/%D%/quickstart.sh $(abs_builddir)/leat $(abs_top_srcdir) $(abs_builddir)/quickstart
