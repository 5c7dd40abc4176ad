# What `make install` lays down besides programs and manual pages.
EXTRA_DIST += \
	%D%/leat.yaml \
	%D%/registry.yaml \
	%D%/systemd/leat-registry.service.in \
	%D%/systemd/leat.service.in \
	%D%/sysusers/leat-registry.conf

unit_substitutions = $(SED) -e 's,@bindir\@,$(bindir),' -e 's,@sysconfdir\@,$(sysconfdir),'
nodist_systemdsystemunit_DATA = %D%/systemd/leat.service
CLEANFILES += %D%/systemd/leat.service %D%/systemd/leat-registry.service
%D%/systemd/leat.service: %D%/systemd/leat.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%/systemd && $(unit_substitutions) $(srcdir)/%D%/systemd/leat.service.in > $@
%D%/systemd/leat-registry.service: %D%/systemd/leat-registry.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%/systemd && $(unit_substitutions) $(srcdir)/%D%/systemd/leat-registry.service.in > $@

sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = %D%/sysusers/leat.conf
configurations = leat.yaml
if HAVE_SOUP
configurations += registry.yaml
nodist_systemdsystemunit_DATA += %D%/systemd/leat-registry.service
sysusers_DATA = %D%/sysusers/leat-registry.conf
endif

# A configuration that is there already stays; one that nobody changed goes with the rest.
install-data-hook:
	$(MKDIR_P) $(DESTDIR)$(sysconfdir)/leat
	for name in $(configurations); do \
	  test -f $(DESTDIR)$(sysconfdir)/leat/$$name || \
	    $(INSTALL_DATA) $(srcdir)/packaging/$$name $(DESTDIR)$(sysconfdir)/leat/$$name || exit 1; \
	done
uninstall-hook:
	for name in $(configurations); do \
	  if cmp -s $(srcdir)/packaging/$$name $(DESTDIR)$(sysconfdir)/leat/$$name; then \
	    rm -f $(DESTDIR)$(sysconfdir)/leat/$$name; fi; \
	done
