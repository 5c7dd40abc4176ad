/* file_saver.c - replaces a file again and again, each time on a thread of its own. */
#include "registry/file_saver.h"

#include "base/clock.h"
#include "base/file_replace.h"
#include "base/silent_thread.h"

/* Counted by reference: the thread has one, and may outlive its owner. */
struct FileSaver {
    char *path;
    FileSaved saved;
    gpointer user;
    LoopJob job;
    GString *text; /* of the thread while there is one */

    GMutex lock; /* guards the rest */
    GCond written;
    Loop *loop; /* NULL: the owner is gone */
    gboolean job_is_posted;
    gboolean is_busy;
    gboolean is_written; /* and nobody has been told */
    GError *error;
};

static void
clear(gpointer data)
{
    FileSaver *self = data;

    if (self->text != NULL)
        g_string_free(self->text, TRUE);
    g_clear_error(&self->error);
    g_cond_clear(&self->written);
    g_mutex_clear(&self->lock);
    g_free(self->path);
}

/* With the lock held, that of the loop is taken: as long as the owner is there, so is the loop. */
static void
note_written(FileSaver *self, GError *error)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->error = error;
    self->is_written = TRUE;
    g_cond_signal(&self->written);
    if (self->loop == NULL || self->job_is_posted)
        return;
    self->job_is_posted = TRUE;
    loop_post(self->loop, &self->job);
}

static gpointer
write_file(gpointer user)
{
    FileSaver *self = user;
    g_autofree char *folder = g_path_get_dirname(self->path);
    GError *error = NULL;

    /* What it fails at shows in the next call. */
    (void) g_mkdir_with_parents(folder, 0755);
    if (!file_replace(self->path, self->text->str, self->text->len, &error))
        g_prefix_error(&error, "%s ", self->path);
    note_written(self, error);
    g_atomic_rc_box_release_full(self, clear);
    return NULL;
}

/* FALSE: it was told before, or is not there yet. */
static gboolean
take_result(FileSaver *self, GError **ret_error)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    if (!self->is_written)
        return FALSE;
    self->is_written = self->is_busy = FALSE;
    *ret_error = g_steal_pointer(&self->error);
    return TRUE;
}

static void
tell(FileSaver *self)
{
    g_autoptr(GError) error = NULL;

    if (take_result(self, &error))
        self->saved(error, self->user);
}

static void
on_job(LoopJob *job)
{
    FileSaver *self = (FileSaver *) ((char *) job - G_STRUCT_OFFSET(FileSaver, job));

    g_mutex_lock(&self->lock);
    self->job_is_posted = FALSE;
    g_mutex_unlock(&self->lock);
    tell(self);
}

void
file_saver_save(FileSaver *self, GString *text)
{
    GError *error = NULL;
    GThread *thread;

    g_mutex_lock(&self->lock);
    g_assert(!self->is_busy);
    self->is_busy = TRUE;
    g_mutex_unlock(&self->lock);
    if (self->text != NULL)
        g_string_free(self->text, TRUE);
    self->text = text;
    thread = silent_thread_new("file-saver", write_file, g_atomic_rc_box_acquire(self), &error);
    if (thread != NULL) {
        g_thread_unref(thread);
        return;
    }
    note_written(self, error);
    g_atomic_rc_box_release_full(self, clear);
}

/* FALSE: the deadline has passed. */
static gboolean
wait_until_written(FileSaver *self, gint64 deadline_us)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    while (self->is_busy && !self->is_written)
        if (!clock_cond_wait_until(&self->written, &self->lock, deadline_us))
            return FALSE;
    return TRUE;
}

gboolean
file_saver_settle(FileSaver *self, gint64 deadline_us)
{
    if (!wait_until_written(self, deadline_us))
        return FALSE;
    tell(self);
    return TRUE;
}

FileSaver *
file_saver_new(Loop *loop, const char *path, FileSaved saved, gpointer user)
{
    FileSaver *self = g_atomic_rc_box_new0(FileSaver);

    self->path = g_strdup(path);
    self->saved = saved;
    self->user = user;
    self->job.run = on_job;
    self->loop = loop;
    g_mutex_init(&self->lock);
    g_cond_init(&self->written);
    return self;
}

void
file_saver_free(FileSaver *self)
{
    if (self == NULL)
        return;
    g_mutex_lock(&self->lock);
    self->loop = NULL;
    g_mutex_unlock(&self->lock);
    g_atomic_rc_box_release_full(self, clear);
}
