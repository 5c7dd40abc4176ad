# What `make install` lays down besides programs and manual pages.
EXTRA_DIST += \
	%D%/leat.yaml \
	%D%/systemd/leat.service.in

nodist_systemdsystemunit_DATA = %D%/systemd/leat.service
CLEANFILES += %D%/systemd/leat.service
%D%/systemd/leat.service: %D%/systemd/leat.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%/systemd && \
	  $(SED) -e 's,@bindir\@,$(bindir),' -e 's,@sysconfdir\@,$(sysconfdir),' $(srcdir)/%D%/systemd/leat.service.in > $@

sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = %D%/sysusers/leat.conf

# A configuration that is there already stays; one that nobody changed goes with the rest.
leat_config = $(DESTDIR)$(sysconfdir)/leat/leat.yaml
install-data-hook:
	$(MKDIR_P) $(DESTDIR)$(sysconfdir)/leat
	test -f $(leat_config) || $(INSTALL_DATA) $(srcdir)/packaging/leat.yaml $(leat_config)
uninstall-hook:
	if cmp -s $(srcdir)/packaging/leat.yaml $(leat_config); then rm -f $(leat_config); fi
