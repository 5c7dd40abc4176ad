/* remoting_decode.c - frames of remoting commands, with headers of JSON and packed ones. */
#include "registry/wire/remoting_command.h"

#include <gio/gio.h>
#include <string.h>

#include "registry/wire/json_object.h"
#include "registry/wire/remoting_frame.h"

#define LENGTHS 8 /* the frame's, and the header's with its kind */

static gboolean
refuse(GError **error, const char *what)
{
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, what);
    return FALSE;
}

static guint32
read_be32(const guint8 *at)
{
    guint32 number;

    memcpy(&number, at, sizeof number);
    return GUINT32_FROM_BE(number);
}

/* ---- frames ---- */

/* What the first four bytes say when they are no length. */
static const char *
stranger(const guint8 *bytes)
{
    static const struct {
        const char *bytes;
        const char *what;
    } strangers[] = {
        { "\x16\x03", "it speaks TLS, and only plain connections are taken here" },
        { "PROX", "it begins with a PROXY preamble, which is not read here" },
        { "\r\n\r\n", "it begins with a PROXY preamble, which is not read here" },
        { "GET ", "it speaks HTTP; this is the port of RocketMQ's remoting protocol" },
        { "POST", "it speaks HTTP; this is the port of RocketMQ's remoting protocol" },
        { "HEAD", "it speaks HTTP; this is the port of RocketMQ's remoting protocol" },
        { "HTTP", "it speaks HTTP; that is not RocketMQ's remoting protocol" },
        { "  V1", "it speaks NSQ's protocol; this is the port of RocketMQ's" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(strangers); i++)
        if (memcmp(bytes, strangers[i].bytes, strlen(strangers[i].bytes)) == 0)
            return strangers[i].what;
    return NULL;
}

static gboolean
check_length(const guint8 *bytes, guint32 length, gsize max_frame, GError **error)
{
    const char *what = stranger(bytes);

    if (length >= 4 && length <= G_MAXINT32 && (gsize) length + 4 <= max_frame)
        return TRUE;
    if (what != NULL)
        return refuse(error, what);
    if (length < 4 || length > G_MAXINT32)
        return refuse(error, "a frame has a length that none can have");
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                "a frame of %" G_GUINT32_FORMAT " bytes is too long; it may have %" G_GSIZE_FORMAT,
                length, max_frame - 4);
    return FALSE;
}

static gboolean
check_mark(guint32 mark, guint32 length, GError **error)
{
    if (mark >> 24 != REMOTING_HEADER_JSON && mark >> 24 != REMOTING_HEADER_PACKED)
        return refuse(error, "a header is neither JSON nor packed");
    return (mark & 0xffffff) <= length - 4 || refuse(error, "a header is longer than its frame");
}

gboolean
remoting_frame_needs(ByteSpan received, gsize max_frame, gsize *ret_needed, GError **error)
{
    guint32 length;

    if (received.length < 4) {
        *ret_needed = 4;
        return TRUE;
    }
    length = read_be32(received.data);
    if (!check_length(received.data, length, max_frame, error))
        return FALSE;
    if (received.length >= LENGTHS && !check_mark(read_be32(received.data + 4), length, error))
        return FALSE;
    *ret_needed = (gsize) length + 4;
    return TRUE;
}

/* ---- headers of JSON ---- */

typedef struct {
    RemotingCommand *command;
    gint32 code, version, opaque, flag;
    char *remark;
} Header;

static void
read_field(JsonReader *reader, RemotingCommand *command, const char *name)
{
    JsonKind kind;
    ByteSpan written;
    g_autofree char *value = NULL;

    if (json_read_null(reader) || !json_reader_peek(reader, &kind))
        return;
    if (kind == JSON_STRING)
        json_read_text(reader, &value);
    else if (json_reader_skip(reader, &written))
        value = g_utf8_make_valid((const char *) written.data, (gssize) written.length);
    remoting_command_set(command, name, value);
}

static void
read_fields(JsonReader *reader, gpointer header)
{
    RemotingCommand *command = ((Header *) header)->command;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        read_field(reader, command, key->str);
        if (command->fields->len > REMOTING_MAX_FIELDS)
            json_reader_fail(reader, "it has too many fields");
    }
}

static gboolean
read_json(ByteSpan bytes, Header *header, GError **error)
{
    static const JsonMember members[] = {
        JSON_MEMBER("code", INT32, Header, code),
        JSON_MEMBER_BY("extFields", read_fields),
        JSON_MEMBER("flag", INT32, Header, flag),
        JSON_MEMBER("opaque", INT32, Header, opaque),
        JSON_MEMBER("remark", TEXT, Header, remark),
        JSON_MEMBER("version", INT32, Header, version),
        { 0 },
    };
    JsonReader reader;

    json_reader_init(&reader, bytes, JSON_FASTJSON);
    json_object_read(&reader, members, header);
    return json_reader_finish(&reader, error);
}

/* ---- packed headers ---- */

typedef struct {
    const guint8 *at, *end;
    gboolean failed;
} Cursor;

static gint64
take_int(Cursor *self, guint n_bytes)
{
    guint32 number = 0;

    if (self->end - self->at < (gssize) n_bytes) {
        self->failed = TRUE;
        return 0;
    }
    for (guint i = 0; i < n_bytes; i++)
        number = number << 8 | *self->at++;
    return n_bytes == 2 ? (gint16) number : n_bytes == 1 ? (gint8) number : (gint32) number;
}

static ByteSpan
take_bytes(Cursor *self, guint n_bytes_of_length)
{
    gint64 length = take_int(self, n_bytes_of_length);
    const guint8 *start = self->at;

    if (self->failed || length < 0 || length > self->end - self->at) {
        self->failed = TRUE;
        return byte_span(start, 0);
    }
    self->at += length;
    return byte_span(start, (gsize) length);
}

static char *
text_of(ByteSpan bytes)
{
    return g_utf8_make_valid((const char *) bytes.data, (gssize) bytes.length);
}

static gboolean
read_packed_fields(ByteSpan bytes, RemotingCommand *command, GError **error)
{
    Cursor cursor = { .at = bytes.data, .end = bytes.data + bytes.length };

    while (cursor.at < cursor.end) {
        g_autofree char *name = text_of(take_bytes(&cursor, 2));
        g_autofree char *value = text_of(take_bytes(&cursor, 4));

        if (cursor.failed)
            return refuse(error, "a field is longer than its header");
        remoting_command_set(command, name, value);
        if (command->fields->len > REMOTING_MAX_FIELDS)
            return refuse(error, "it has too many fields");
    }
    return TRUE;
}

static gboolean
read_packed(ByteSpan bytes, Header *header, GError **error)
{
    Cursor cursor = { .at = bytes.data, .end = bytes.data + bytes.length };
    ByteSpan remark;
    ByteSpan fields;

    header->code = (gint32) take_int(&cursor, 2);
    take_int(&cursor, 1); /* the peer's language */
    header->version = (gint32) take_int(&cursor, 2);
    header->opaque = (gint32) take_int(&cursor, 4);
    header->flag = (gint32) take_int(&cursor, 4);
    remark = take_bytes(&cursor, 4);
    fields = take_bytes(&cursor, 4);
    if (cursor.failed)
        return refuse(error, "a packed header ends too early");
    if (remark.length > 0)
        header->remark = text_of(remark);
    return read_packed_fields(fields, header->command, error);
}

/* ---- the whole ---- */

/* Not every caller has asked remoting_frame_needs: what is read below is trusted from here on. */
static gboolean
check_frame(ByteSpan frame, GError **error)
{
    gsize needed;

    return remoting_frame_needs(frame, G_MAXSIZE, &needed, error) &&
           (needed == frame.length || refuse(error, "a frame has another length than it says"));
}

RemotingCommand *
remoting_command_decode(ByteSpan frame, GError **error)
{
    g_autoptr(RemotingCommand) self = remoting_command_new(0, 0);
    Header header = { .command = self };
    ByteSpan bytes;
    guint32 mark;
    gboolean done;

    if (!check_frame(frame, error))
        return NULL;
    mark = read_be32(frame.data + 4);
    bytes = byte_span(frame.data + LENGTHS, mark & 0xffffff);
    done = mark >> 24 == REMOTING_HEADER_JSON ? read_json(bytes, &header, error)
                                              : read_packed(bytes, &header, error);
    self->remark = header.remark;
    if (!done) {
        g_prefix_error_literal(error, "a header cannot be read: ");
        return NULL;
    }
    self->code = header.code;
    self->version = header.version;
    self->opaque = header.opaque;
    self->is_answer = (header.flag & REMOTING_FLAG_ANSWER) != 0;
    self->is_one_way = (header.flag & REMOTING_FLAG_ONE_WAY) != 0;
    self->body = byte_span(bytes.data + bytes.length, frame.length - LENGTHS - bytes.length);
    return g_steal_pointer(&self);
}
