/* selector.c - channels of a source by name. */
#include "agent/core/selector.h"

int
selector_find_channel(const Selector *self, const char *name)
{
    for (guint i = 0; i < self->n_channels; i++)
        if (g_str_equal(self->channel_names[i], name))
            return (int) i;
    return -1;
}
