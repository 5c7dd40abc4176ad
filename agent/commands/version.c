/* version.c - versions of leat and of the libraries in use, at run time where they tell. */
#include "config.h"

#include "agent/commands/version.h"

#include <glib.h>
#include <stdio.h>
#include <yaml.h>
#ifdef HAVE_SOUP
#include <libsoup/soup.h>
#endif
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/regex.h"

void
version_print(void)
{
    g_autofree char *pcre2 = regex_library_version();

    printf("leat %s\n", PACKAGE_VERSION);
    printf("GLib %u.%u.%u\n", glib_major_version, glib_minor_version, glib_micro_version);
    printf("libyaml %s\n", yaml_get_version_string());
    printf("PCRE2 %s\n", pcre2);
    printf("Thrift c_glib %s\n", THRIFT_VERSION);
#ifdef HAVE_SOUP
    printf("libsoup %u.%u.%u\n", soup_get_major_version(), soup_get_minor_version(),
           soup_get_micro_version());
#else
    printf("libsoup left out: no HTTP\n");
#endif
#ifdef HAVE_ZLIB
    printf("zlib %s\n", zlibVersion());
#else
    printf("zlib left out: no gzip\n");
#endif
#ifdef HAVE_ZSTD
    printf("zstd %s\n", ZSTD_versionString());
#else
    printf("zstd left out: no zstd compression\n");
#endif
}
