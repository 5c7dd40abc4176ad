/* folder.h - temporary folders of tests. */
#pragma once

#include <glib.h>

/* In memory where there is a place for that: a sync costs nothing there. (transfer full) */
char *folder_make(void);
/* With all files in it; it has no folders. */
void folder_remove(const char *path);
