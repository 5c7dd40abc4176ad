/* topology_canvas.c - a grid of characters to draw boxes and lines on, in UTF-8 or plain ASCII. */
#include "agent/topology_canvas.h"

/* The sides to which a line leaves a cell. */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, DASHED = 16, ARROW = 32 };

typedef struct {
    gunichar letter; /* 0 where there is a line or nothing */
    guint sides;
    guint owner;
} Cell;

struct TopologyCanvas {
    guint width;
    guint height;
    Cell cells[];
};

TopologyCanvas *
topology_canvas_new(guint width, guint height)
{
    TopologyCanvas *self =
        g_malloc0(sizeof(TopologyCanvas) + (gsize) width * height * sizeof(Cell));

    self->width = width;
    self->height = height;
    return self;
}

void
topology_canvas_free(TopologyCanvas *self)
{
    g_free(self);
}

static Cell *
cell_at(TopologyCanvas *self, guint x, guint y)
{
    g_assert(x < self->width && y < self->height);
    return &self->cells[(gsize) y * self->width + x];
}

void
topology_canvas_text(TopologyCanvas *self, guint x, guint y, const char *text)
{
    for (; *text != '\0'; text = g_utf8_next_char(text))
        cell_at(self, x++, y)->letter = g_utf8_get_char(text);
}

/* ---- lines ---- */

static void
add_sides(TopologyCanvas *self, guint x, guint y, guint sides, guint owner)
{
    Cell *cell = cell_at(self, x, y);

    if (cell->owner != 0 && cell->owner != owner) {
        if ((sides & (UP | DOWN)) == 0)
            return;
        cell->sides = 0;
    }
    cell->owner = owner;
    cell->sides |= sides;
}

void
topology_canvas_across(TopologyCanvas *self, guint y, guint from_x, guint to_x, guint owner,
                       gboolean dashed)
{
    for (guint x = from_x; x <= to_x; x++)
        add_sides(self, x, y,
                  (x > from_x ? LEFT : 0) | (x < to_x ? RIGHT : 0) | (dashed ? DASHED : 0), owner);
}

void
topology_canvas_down(TopologyCanvas *self, guint x, guint from_y, guint to_y, guint owner)
{
    for (guint y = from_y; y <= to_y && from_y < to_y; y++)
        add_sides(self, x, y, (y > from_y ? UP : 0) | (y < to_y ? DOWN : 0), owner);
}

void
topology_canvas_box(TopologyCanvas *self, guint x, guint y, guint width, guint height)
{
    guint right = x + width - 1;
    guint bottom = y + height - 1;
    /* No owner that a line has, so that no line joins a box by accident. */
    guint box = G_MAXUINT;

    topology_canvas_across(self, y, x, right, box, FALSE);
    topology_canvas_across(self, bottom, x, right, box, FALSE);
    topology_canvas_down(self, x, y, bottom, box);
    topology_canvas_down(self, right, y, bottom, box);
}

void
topology_canvas_exit(TopologyCanvas *self, guint x, guint y)
{
    cell_at(self, x, y)->sides |= RIGHT;
}

void
topology_canvas_arrow(TopologyCanvas *self, guint x, guint y)
{
    cell_at(self, x, y)->sides = ARROW;
}

/* ---- to text ---- */

static gunichar
line_letter(guint sides, gboolean utf8)
{
    static const gunichar plain[16] = {
        ' ', '|', '|', '|', '-', '+', '+', '+', '-', '+', '+', '+', '-', '+', '+', '+',
    };
    static const gunichar drawn[16] = {
        ' ',    0x2502, 0x2502, 0x2502, 0x2500, 0x2518, 0x2510, 0x2524,
        0x2500, 0x2514, 0x250c, 0x251c, 0x2500, 0x2534, 0x252c, 0x253c,
    };

    if (sides == ARROW)
        return utf8 ? 0x25ba : '>';
    if ((sides & (DASHED | UP | DOWN)) == DASHED)
        return utf8 ? 0x254c : '.';
    return (utf8 ? drawn : plain)[sides & (UP | DOWN | LEFT | RIGHT)];
}

char *
topology_canvas_to_text(const TopologyCanvas *self, gboolean utf8)
{
    GString *text = g_string_new(NULL);

    for (guint y = 0; y < self->height; y++) {
        const Cell *row = &self->cells[(gsize) y * self->width];

        for (guint x = 0; x < self->width; x++)
            g_string_append_unichar(text, row[x].letter != 0 ? row[x].letter
                                                             : line_letter(row[x].sides, utf8));
        while (text->len > 0 && text->str[text->len - 1] == ' ')
            g_string_truncate(text, text->len - 1);
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}
