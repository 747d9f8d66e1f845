/* Counts the file-system calls of one process, and makes one of them go wrong.
 *
 * Preloaded into the test process, which sets `shared` (memory that its forks share), arms a
 * fork with its pid, and lets it run an operation. Before a chosen call an agent in a process of
 * its own is told to write; at a chosen call the process is killed or the call fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define MAX_CALLS 4096
enum { NONE, KILL_BEFORE, KILL_AFTER, KILL_WITHIN, FAIL_EIO, FAIL_ENOSPC, SHORT, FULL_FROM };

struct shared {
  int armed_pid, n_calls, fault_call, fault_mode, hook_call, order_fd, reply_fd, wait_ms;
  int is_fired, is_applied, is_answered, order_size, no_leases;
  char order[4096];
  char kinds[MAX_CALLS];
};
static struct shared *shared;

void shim_attach(void *memory) { shared = memory; }

static void die(void) {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) pause();
}

static void let_agent_write(void) {
  char answer[16];
  struct pollfd ready = {shared->reply_fd, POLLIN, 0};
  shared->is_fired = 1;
  syscall(SYS_write, shared->order_fd, shared->order, shared->order_size);
  /* A blocked agent is one that waits for our lease: it goes on when we let go. */
  if (syscall(SYS_poll, &ready, 1, shared->wait_ms) == 1)
    shared->is_answered = syscall(SYS_read, shared->reply_fd, answer, sizeof answer) > 0;
}

/* Notes a call and gives the mode in which it goes wrong. */
static int enter(char kind) {
  if (!shared || !shared->armed_pid || syscall(SYS_getpid) != shared->armed_pid) return NONE;
  int number = shared->n_calls++;
  if (number < MAX_CALLS) shared->kinds[number] = kind;
  if (number == shared->hook_call) let_agent_write();
  int mode = shared->fault_mode;
  int is_full = mode == FULL_FROM && number >= shared->fault_call && strchr("WOLMR", kind);
  if (number != shared->fault_call && !is_full) return NONE;
  shared->is_applied = 1;
  if (mode == KILL_BEFORE) die();
  /* A disk that fills up takes a part of a write first. */
  if (mode == FULL_FROM && kind == 'W' && number == shared->fault_call) return SHORT;
  return mode;
}

static int fails(int mode) {
  if (mode == FAIL_EIO) errno = EIO;
  else if (mode == FAIL_ENOSPC || mode == FULL_FROM) errno = ENOSPC;
  else return 0;
  return 1;
}

#define REAL(name) ({ static void *found; if (!found) found = dlsym(RTLD_NEXT, #name); found; })
#define WRAP(kind, type, name, params, args)                                                     \
  type name params {                                                                             \
    int mode = enter(kind);                                                                      \
    if (fails(mode)) return -1;                                                                  \
    type result = ((type(*) params)REAL(name)) args;                                             \
    if (mode == KILL_AFTER || mode == KILL_WITHIN) die();                                        \
    return result;                                                                               \
  }
#define WRAP_OPEN(name, params, fixed)                                                           \
  int name params {                                                                              \
    va_list list;                                                                                \
    va_start(list, flags);                                                                       \
    mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                    \
    va_end(list);                                                                                \
    int mode = enter(flags & O_CREAT ? 'O' : 'o');                                               \
    if (fails(mode)) return -1;                                                                  \
    int result = ((int (*)())REAL(name))fixed;                                                   \
    if (mode == KILL_AFTER || mode == KILL_WITHIN) die();                                        \
    return result;                                                                               \
  }
#define WRAP_WRITE(name, params, part, whole)                                                    \
  ssize_t name params {                                                                          \
    int mode = enter('W');                                                                       \
    if (fails(mode)) return -1;                                                                  \
    size_t half = size / 2;                                                                      \
    if (mode == SHORT && size > 1) return ((ssize_t(*)())REAL(name))part;                        \
    if (mode == KILL_WITHIN) { if (half) ((ssize_t(*)())REAL(name))part; die(); }                \
    ssize_t result = ((ssize_t(*)())REAL(name))whole;                                            \
    if (mode == KILL_AFTER) die();                                                               \
    return result;                                                                               \
  }

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, rights))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, rights))
WRAP_OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, rights))
WRAP_OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, rights))
WRAP_WRITE(write, (int fd, const void *data, size_t size), (fd, data, half), (fd, data, size))
WRAP_WRITE(pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, half, at), (fd, data, size, at))
WRAP_WRITE(pwrite64, (int fd, const void *data, size_t size, off_t at), (fd, data, half, at), (fd, data, size, at))
WRAP('r', ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
WRAP('r', ssize_t, pread64, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
WRAP('S', int, fsync, (int fd), (fd))
WRAP('S', int, fdatasync, (int fd), (fd))
WRAP('R', int, rename, (const char *from, const char *to), (from, to))
WRAP('R', int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP('L', int, link, (const char *from, const char *to), (from, to))
WRAP('L', int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
WRAP('U', int, unlink, (const char *path), (path))
WRAP('U', int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
WRAP('T', int, ftruncate, (int fd, off_t size), (fd, size))
WRAP('T', int, ftruncate64, (int fd, off_t size), (fd, size))
WRAP('T', int, truncate64, (const char *path, off_t size), (path, size))
WRAP('M', int, mkdir, (const char *path, mode_t mode_), (path, mode_))
WRAP('M', int, mkdirat, (int dir, const char *path, mode_t mode_), (dir, path, mode_))
WRAP('P', int, chmod, (const char *path, mode_t mode_), (path, mode_))
WRAP('P', int, fchmod, (int fd, mode_t mode_), (fd, mode_))
WRAP('P', int, fchmodat, (int dir, const char *path, mode_t mode_, int flags), (dir, path, mode_, flags))
WRAP('P', int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
WRAP('P', int, utimensat, (int dir, const char *path, const struct timespec times[2], int flags), (dir, path, times, flags))
WRAP('F', int, flock, (int fd, int operation), (fd, operation))
WRAP('s', int, stat64, (const char *path, struct stat64 *found), (path, found))
WRAP('s', int, lstat64, (const char *path, struct stat64 *found), (path, found))
WRAP('s', int, fstat64, (int fd, struct stat64 *found), (fd, found))
WRAP('s', int, fstatat64, (int dir, const char *path, struct stat64 *found, int flags), (dir, path, found, flags))

int close(int fd) {
  int mode = enter('C');
  int result = ((int (*)(int))REAL(close))(fd);
  if (mode == KILL_AFTER || mode == KILL_WITHIN) die();
  return fails(mode) ? -1 : result;
}

static int control(int fd, int command, void *argument, void *real) {
  int mode = enter('c');
  if (fails(mode)) return -1;
  if (shared && shared->no_leases && command == F_SETLEASE) { errno = EINVAL; return -1; }
  int result = ((int (*)(int, int, ...))real)(fd, command, argument);
  if (mode == KILL_AFTER || mode == KILL_WITHIN) die();
  return result;
}
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return control(fd, command, argument, REAL(fcntl));
}
int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return control(fd, command, argument, REAL(fcntl64));
}
