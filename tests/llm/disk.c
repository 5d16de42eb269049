/* Notes what a process asks of the disk, and lets the disk fail: loaded with LD_PRELOAD.
 *
 * It sits between SQLite or Python and the C library. Every write, truncation, creation, removal,
 * renaming and sync of a file below DISK_FOLDER is carried out and then noted in the file
 * DISK_NOTES, in the order in which they happened; so is what the process prints. From the notes
 * a test knows what a disk may hold if the machine stops at any moment (see disk.py).
 *
 * DISK_FAULT is "CALL:NUMBER:HOW", with CALL write or sync: from the call with this number on, HOW
 *   EIO     this call fails with EIO; those after it succeed, as they do on Linux
 *   ENOSPC  this call and all later writes fail with ENOSPC
 *   SHORT   half of this write is written, then as ENOSPC
 *
 * A note is a line "OP INODE OFFSET LENGTH OTHER PATH_LENGTH\n", the path, and LENGTH bytes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int notes = -1;
static int is_full = 0;
static long calls_of_write = 0, calls_of_sync = 0;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Writes past our own functions, so that notes are not noted. */
static void put(const void *data, size_t length) {
    while (length > 0) {
        long done = syscall(SYS_write, notes, data, length);
        if (done < 0) abort();
        data = (const char *)data + done;
        length -= done;
    }
}

static void note(char op, unsigned long inode, long offset, long length, unsigned long other,
                 const char *path, const void *data) {
    char line[160];
    if (notes < 0) {
        notes = syscall(SYS_openat, AT_FDCWD, getenv("DISK_NOTES"),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (notes < 0) abort();
    }
    size_t size = snprintf(line, sizeof line, "%c %lu %ld %ld %lu %zu\n", op, inode, offset,
                           length, other, strlen(path));
    put(line, size);
    put(path, strlen(path));
    if (data) put(data, length);
}

static int is_ours(const char *path) {
    const char *folder = getenv("DISK_FOLDER");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

/* Returns whether a file is below the folder, and its path. */
static int known(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, 4000);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_ours(path);
}

static unsigned long inode_of(int file) {
    struct stat found;
    return fstat(file, &found) == 0 ? found.st_ino : 0;
}

static unsigned long inode_at(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? found.st_ino : 0;
}

/* Returns the error that this call is to have, or 0; *half asks for half of the write. */
static int fault(const char *call, long number, int *half) {
    const char *text = getenv("DISK_FAULT");
    char which[16], how[16];
    long at;
    if (half) *half = 0;
    if (is_full && strcmp(call, "write") == 0) return ENOSPC;
    if (!text || sscanf(text, "%15[a-z]:%ld:%15s", which, &at, how) != 3) return 0;
    if (strcmp(which, call) != 0 || at != number) return 0;
    if (strcmp(how, "EIO") == 0) return EIO;
    is_full = strcmp(call, "write") == 0;
    if (half && strcmp(how, "SHORT") == 0) {
        *half = 1;
        return 0;
    }
    return ENOSPC;
}

static ssize_t written(int file, const void *data, size_t length, off_t offset, int is_placed) {
    char path[4096];
    int half;
    if (file == STDOUT_FILENO) {
        pthread_mutex_lock(&order);
        ssize_t told = syscall(SYS_write, file, data, length);
        if (told > 0) note('A', 0, 0, told, 0, "", data);
        pthread_mutex_unlock(&order);
        return told;
    }
    if (!known(file, path))
        return is_placed ? syscall(SYS_pwrite64, file, data, length, offset)
                         : syscall(SYS_write, file, data, length);
    pthread_mutex_lock(&order);
    int error = fault("write", ++calls_of_write, &half);
    ssize_t done = -1;
    if (!error) {
        if (half) length = (length + 1) / 2;
        if (!is_placed) {
            offset = lseek(file, 0, SEEK_CUR);
            if (fcntl(file, F_GETFL) & O_APPEND) offset = lseek(file, 0, SEEK_END);
        }
        done = is_placed ? syscall(SYS_pwrite64, file, data, length, offset)
                         : syscall(SYS_write, file, data, length);
        error = errno;
        if (done > 0) note('W', inode_of(file), offset, done, 0, path, data);
    }
    pthread_mutex_unlock(&order);
    errno = error;
    return done;
}

ssize_t write(int file, const void *data, size_t length) {
    return written(file, data, length, 0, 0);
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset) {
    return written(file, data, length, offset, 1);
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    return written(file, data, length, offset, 1);
}

static int cut(int file, off_t size) {
    char path[4096];
    int is_noted = known(file, path);
    pthread_mutex_lock(&order);
    int result = syscall(SYS_ftruncate, file, size), error = errno;
    if (result == 0 && is_noted) note('T', inode_of(file), size, 0, 0, path, NULL);
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}

int ftruncate(int file, off_t size) { return cut(file, size); }

int ftruncate64(int file, off64_t size) { return cut(file, size); }

/* A sync is noted when it begins and when it ended: only what was written before it began counts. */
static int synced(int file, long call) {
    char path[4096];
    if (!known(file, path)) return syscall(call, file);
    unsigned long inode = inode_of(file), thread = syscall(SYS_gettid);
    pthread_mutex_lock(&order);
    int error = fault("sync", ++calls_of_sync, NULL);
    note(error ? 'E' : 'B', inode, 0, 0, thread, path, NULL);
    pthread_mutex_unlock(&order);
    if (error) {
        errno = error;
        return -1;
    }
    int result = syscall(call, file);
    error = errno;
    pthread_mutex_lock(&order);
    if (result == 0) note('S', inode, 0, 0, thread, path, NULL);
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}

int fsync(int file) { return synced(file, SYS_fsync); }

int fdatasync(int file) { return synced(file, SYS_fdatasync); }

static int opened(int folder, const char *path, int flags, mode_t mode) {
    char full[4096];
    if (!(flags & (O_CREAT | O_TRUNC)) || path[0] != '/' || !is_ours(path))
        return syscall(SYS_openat, folder, path, flags, mode);
    pthread_mutex_lock(&order);
    unsigned long before = inode_at(path);
    int file = syscall(SYS_openat, folder, path, flags, mode), error = errno;
    if (file >= 0 && known(file, full)) {
        if (!before) note('C', inode_of(file), 0, 0, 0, full, NULL);
        else if (flags & O_TRUNC) note('T', inode_of(file), 0, 0, 0, full, NULL);
    }
    pthread_mutex_unlock(&order);
    errno = error;
    return file;
}

#define OPENED(folder)                                   \
    mode_t mode = 0;                                     \
    if (flags & (O_CREAT | O_TMPFILE)) {                 \
        va_list more;                                    \
        va_start(more, flags);                           \
        mode = va_arg(more, int);                        \
        va_end(more);                                    \
    }                                                    \
    return opened(folder, path, flags, mode);

int open(const char *path, int flags, ...) { OPENED(AT_FDCWD) }

int open64(const char *path, int flags, ...) { OPENED(AT_FDCWD) }

int openat(int folder, const char *path, int flags, ...) { OPENED(folder) }

int openat64(int folder, const char *path, int flags, ...) { OPENED(folder) }

int unlink(const char *path) {
    pthread_mutex_lock(&order);
    int result = REAL(unlink)(path), error = errno;
    if (result == 0 && is_ours(path)) note('U', 0, 0, 0, 0, path, NULL);
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}

int rename(const char *old, const char *new) {
    pthread_mutex_lock(&order);
    int result = REAL(rename)(old, new), error = errno;
    if (result == 0 && is_ours(new)) note('R', 0, 0, strlen(new), 0, old, new);
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}
