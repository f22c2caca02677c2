/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The preloaded shim: see faults.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/netlink.h>

#include "faults.h"

/* What a fault does. FAIL gives an error the way the function gives errors; the others spoil what the call brought. */
enum kind {
    FAIL, EMPTY, SHORT, CUT, GARBAGE, FORGED, SPURIOUS, OTHER_FAMILY, SHORT_ADDRESS, MISSING_ADDRESS, NOTHING_FOUND,
    HANG, MEMORY
};

/* Every function that is covered, by number. */
#define FUNCTIONS(X) \
    X(socket) X(bind) X(setsockopt) X(getsockopt) X(getsockname) X(connect) X(send) X(sendto) X(sendmsg) X(recv) \
    X(recvfrom) X(recvmsg) X(recvmmsg) X(open) X(openat) X(fstat) X(realpath) X(read) X(close) X(ioctl) \
    X(fcntl) X(epoll_create1) X(epoll_ctl) X(epoll_wait) X(epoll_pwait) X(eventfd) X(timerfd_create) \
    X(timerfd_settime) X(inotify_init1) X(inotify_add_watch) X(inotify_rm_watch) X(poll) X(ppoll) X(mmap) \
    X(madvise) X(pthread_create) X(pthread_attr_init) X(pthread_attr_setstacksize) X(pthread_setname_np) \
    X(if_nametoindex) X(getaddrinfo) X(malloc) X(calloc) X(realloc) X(posix_memalign) X(aligned_alloc)

enum function {
#define NUMBER(name) F_##name,
    FUNCTIONS(NUMBER)
#undef NUMBER
    FUNCTION_COUNT
};

static const char *const function_names[] = {
#define NAME(name) #name,
    FUNCTIONS(NAME)
#undef NAME
};

struct fault {
    enum function function;
    const char *outcome;
    enum kind kind;
    int error;
};

#define ERROR(function, error) { F_##function, #error, FAIL, error }
#define SPOIL(function, outcome, kind) { F_##function, outcome, kind, 0 }
/* A call that with right arguments fails only where a sandbox refuses it: then it does so from the beginning. */
#define SANDBOX(function, error) { F_##function, #error " (sandbox)", FAIL, error }
#define RECEIVE(function) \
    ERROR(function, EINTR), ERROR(function, EAGAIN), ERROR(function, ENOBUFS), ERROR(function, ENOMEM), \
    SPOIL(function, "empty datagram", EMPTY), SPOIL(function, "short datagram", SHORT), \
    SPOIL(function, "truncated datagram", CUT), SPOIL(function, "garbage", GARBAGE), \
    SPOIL(function, "forged by another process", FORGED)
#define SEND(function) \
    ERROR(function, EINTR), ERROR(function, EAGAIN), ERROR(function, ENOBUFS), ERROR(function, ENOMEM), \
    ERROR(function, EPERM), SPOIL(function, "short count", SHORT)

static const struct fault table[] = {
    ERROR(socket, EMFILE), ERROR(socket, ENFILE), ERROR(socket, ENOMEM), ERROR(socket, ENOBUFS), ERROR(socket, EPERM),
    ERROR(socket, EACCES), ERROR(socket, EAFNOSUPPORT),
    ERROR(bind, EADDRINUSE), ERROR(bind, ENOMEM), ERROR(bind, EPERM),
    ERROR(setsockopt, ENOPROTOOPT), ERROR(setsockopt, ENOMEM), ERROR(setsockopt, EPERM), ERROR(setsockopt, EINVAL),
    ERROR(getsockopt, ENOPROTOOPT), ERROR(getsockname, ENOBUFS), ERROR(connect, ENETUNREACH), ERROR(connect, EACCES),
    SEND(send), SEND(sendto), SEND(sendmsg),
    RECEIVE(recv), RECEIVE(recvfrom), RECEIVE(recvmsg), RECEIVE(recvmmsg),
    ERROR(open, EMFILE), ERROR(open, ENFILE), ERROR(open, ENOENT), ERROR(open, EACCES), ERROR(open, ENOMEM),
    ERROR(openat, EMFILE), ERROR(openat, ENOENT), ERROR(openat, EACCES),
    ERROR(fstat, EIO), ERROR(fstat, ENOMEM),
    ERROR(realpath, ENOENT), ERROR(realpath, EACCES), ERROR(realpath, ENOMEM),
    ERROR(read, EINTR), ERROR(read, EAGAIN), ERROR(read, EIO), SPOIL(read, "nothing read", EMPTY),
    ERROR(close, EINTR), ERROR(close, EIO),
    ERROR(ioctl, EOPNOTSUPP), ERROR(ioctl, ENODEV), ERROR(ioctl, EPERM), ERROR(ioctl, ENOMEM),
    ERROR(fcntl, EINVAL), ERROR(fcntl, EMFILE),
    ERROR(epoll_create1, EMFILE), ERROR(epoll_create1, ENFILE), ERROR(epoll_create1, ENOMEM),
    ERROR(epoll_ctl, ENOMEM), ERROR(epoll_ctl, ENOSPC), ERROR(epoll_ctl, EPERM),
    ERROR(epoll_wait, EINTR), SPOIL(epoll_wait, "returns early", SPURIOUS),
    ERROR(epoll_pwait, EINTR), SPOIL(epoll_pwait, "returns early", SPURIOUS),
    ERROR(eventfd, EMFILE), ERROR(eventfd, ENFILE), ERROR(eventfd, ENOMEM), ERROR(eventfd, ENODEV),
    ERROR(timerfd_create, EMFILE), ERROR(timerfd_create, ENFILE), ERROR(timerfd_create, ENOMEM),
    ERROR(timerfd_create, ENODEV),
    SANDBOX(timerfd_settime, EPERM),
    ERROR(inotify_init1, EMFILE), ERROR(inotify_init1, ENFILE), ERROR(inotify_init1, ENOMEM),
    ERROR(inotify_add_watch, ENOSPC), ERROR(inotify_add_watch, ENOMEM), ERROR(inotify_add_watch, ENOENT),
    ERROR(inotify_add_watch, EACCES), ERROR(inotify_rm_watch, EINVAL),
    ERROR(poll, EINTR), ERROR(poll, ENOMEM), SPOIL(poll, "returns early", SPURIOUS),
    ERROR(ppoll, EINTR), ERROR(ppoll, ENOMEM), SPOIL(ppoll, "returns early", SPURIOUS),
    ERROR(mmap, ENOMEM), ERROR(mmap, EPERM), ERROR(madvise, EINVAL), ERROR(madvise, ENOMEM),
    ERROR(pthread_create, EAGAIN), ERROR(pthread_create, EPERM), ERROR(pthread_attr_init, ENOMEM),
    ERROR(pthread_attr_setstacksize, EINVAL), ERROR(pthread_setname_np, ERANGE),
    ERROR(if_nametoindex, EMFILE), ERROR(if_nametoindex, ENFILE), ERROR(if_nametoindex, ENOMEM),
    ERROR(getaddrinfo, EAI_AGAIN), ERROR(getaddrinfo, EAI_FAIL), ERROR(getaddrinfo, EAI_NONAME),
    ERROR(getaddrinfo, EAI_MEMORY), ERROR(getaddrinfo, EAI_SYSTEM), ERROR(getaddrinfo, EAI_FAMILY),
    SPOIL(getaddrinfo, "other family", OTHER_FAMILY), SPOIL(getaddrinfo, "short address", SHORT_ADDRESS),
    SPOIL(getaddrinfo, "no address", MISSING_ADDRESS), SPOIL(getaddrinfo, "empty list", NOTHING_FOUND),
    SPOIL(getaddrinfo, "hangs", HANG),
    { F_malloc, "ENOMEM", MEMORY, ENOMEM }, { F_calloc, "ENOMEM", MEMORY, ENOMEM },
    { F_realloc, "ENOMEM", MEMORY, ENOMEM }, { F_posix_memalign, "ENOMEM", MEMORY, ENOMEM },
    { F_aligned_alloc, "ENOMEM", MEMORY, ENOMEM },
};

#define FAULT_COUNT (sizeof table / sizeof table[0])

/* ------------------------------------------------------------------------------------------------------- state --- */

enum mode { OFF, WATCH, ONE, RANDOM };

static _Atomic int mode;
static _Atomic unsigned active, active_first, active_count, fired, per_mille;
static _Atomic uint64_t random_state;
static _Atomic unsigned calls[FUNCTION_COUNT];
static _Atomic uintptr_t library_start, library_end;
static _Thread_local bool inside;

/* Look-ups that hang wait here until the fault ends. */
static pthread_mutex_t hang_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hang_over = PTHREAD_COND_INITIALIZER;

static uint64_t next_random(void)
{
    uint64_t z = atomic_fetch_add(&random_state, UINT64_C(0x9E3779B97F4A7C15)) + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int find_library(struct dl_phdr_info *information, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (information->dlpi_name != NULL && strstr(information->dlpi_name, "libreach.so") != NULL) {
        for (int i = 0; i < information->dlpi_phnum; i++) {
            const ElfW(Phdr) *segment = &information->dlpi_phdr[i];
            if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
                atomic_store(&library_start, information->dlpi_addr + segment->p_vaddr);
                atomic_store(&library_end, information->dlpi_addr + segment->p_vaddr + segment->p_memsz);
            }
        }
    }
    return 0;
}

static void start(enum mode new)
{
    if (atomic_load(&library_end) == 0) {
        dl_iterate_phdr(find_library, NULL);
    }
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        atomic_store(&calls[i], 0);
    }
    atomic_store(&fired, 0);
    atomic_store(&mode, new);
}

/* The fault that is to happen to this call, or NULL. */
static const struct fault *fault_of(enum function function, const void *caller)
{
    int now = atomic_load(&mode);
    if (now == OFF) {
        return NULL;
    }
    uintptr_t address = (uintptr_t)caller;
    bool from_library = address >= atomic_load(&library_start) && address < atomic_load(&library_end);
    if (!from_library && !(inside && function < F_malloc)) {
        return NULL;
    }
    unsigned number = atomic_fetch_add(&calls[function], 1);
    if (now == ONE) {
        const struct fault *fault = &table[atomic_load(&active)];
        unsigned first = atomic_load(&active_first), count = atomic_load(&active_count);
        if (fault->function != function || number < first || number - first >= count) {
            return NULL;
        }
        /* A call that is interrupted each time it is repeated would never end, in any program; and however much a
         * stranger sends, the kernel's messages come in between. */
        bool interrupted = fault->kind == FAIL && fault->error == EINTR;
        if ((interrupted || fault->kind == FORGED) && (number - first) % 2 != 0) {
            return NULL;
        }
        atomic_fetch_add(&fired, 1);
        return fault;
    }
    const char *only = getenv("FAULTS_ONLY");
    if (only != NULL && strstr(only, function_names[function]) == NULL) {
        return NULL;
    }
    if (now == RANDOM && next_random() % 1000 < atomic_load(&per_mille)) {
        const struct fault *of_function[16];
        unsigned count = 0;
        for (unsigned i = 0; i < FAULT_COUNT && count < 16; i++) {
            bool is_sandbox = strstr(table[i].outcome, "(sandbox)") != NULL;
            if (table[i].function == function && table[i].kind != MEMORY && table[i].kind != HANG && !is_sandbox) {
                of_function[count++] = &table[i];
            }
        }
        if (count != 0) {
            const struct fault *fault = of_function[next_random() % count];
            atomic_fetch_add(&fired, 1);
            if (getenv("FAULTS_TRACE") != NULL) {
                dprintf(STDERR_FILENO, "call %u of %s: %s\n", number, function_names[function], fault->outcome);
            }
            return fault;
        }
    }
    return NULL;
}

#define FAULT(function) fault_of(F_##function, __builtin_return_address(0))

/* The libc function itself. Data and function pointers have one size here, as POSIX asks for. */
#define REAL(name) \
    static __typeof__(name) *real_##name; \
    if (real_##name == NULL) { \
        void *symbol = dlsym(RTLD_NEXT, #name); \
        memcpy(&real_##name, &symbol, sizeof symbol); \
    }

/* Whether the next datagram is an answer to this very socket, and not an announcement. */
static bool reply_is_waiting(int fd)
{
    struct nlmsghdr header;
    struct sockaddr_nl own = { .nl_pid = 0 };
    socklen_t length = sizeof own;
    REAL(recv)
    REAL(getsockname)
    return real_recv(fd, &header, sizeof header, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof header &&
           real_getsockname(fd, (__SOCKADDR_ARG){ .__sockaddr__ = (struct sockaddr *)&own }, &length) == 0 &&
           header.nlmsg_pid == own.nl_pid;
}

/* As below. An answer can be missing, when the kernel could not deliver it; but that nothing is there, while an
 * announcement is, is a lie that no kernel tells. */
#define FAIL_RECEIVE_IF_TOLD(name) \
    REAL(name) \
    const struct fault *fault = FAULT(name); \
    if (fault != NULL && fault->kind == FAIL && fault->error == EAGAIN && !reply_is_waiting(fd)) { \
        fault = NULL; \
    } \
    if (fault != NULL && fault->kind == FAIL) { \
        errno = fault->error; \
        return -1; \
    }

#define FAIL_IF_TOLD(name) \
    REAL(name) \
    const struct fault *fault = FAULT(name); \
    if (fault != NULL && fault->kind == FAIL) { \
        errno = fault->error; \
        return -1; \
    }

/* --------------------------------------------------------------------------------------------------- functions --- */

/* __SOCKADDR_ARG is how glibc's header spells the address parameters: a union of pointers, which ISO C would not take
 * for the same type as struct sockaddr *. */

int socket(int domain, int type, int protocol)
{
    FAIL_IF_TOLD(socket)
    return real_socket(domain, type, protocol);
}

int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
    FAIL_IF_TOLD(bind)
    return real_bind(fd, address, length);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    FAIL_IF_TOLD(setsockopt)
    return real_setsockopt(fd, level, option, value, length);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    FAIL_IF_TOLD(getsockopt)
    return real_getsockopt(fd, level, option, value, length);
}

int getsockname(int fd, __SOCKADDR_ARG address, socklen_t *length)
{
    FAIL_IF_TOLD(getsockname)
    return real_getsockname(fd, address, length);
}

int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
    FAIL_IF_TOLD(connect)
    return real_connect(fd, address, length);
}

/* A short count: the kernel takes netlink requests whole, so one that is sent in half is a broken request as well. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    FAIL_IF_TOLD(send)
    return real_send(fd, data, fault != NULL ? size / 2 : size, flags);
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, __CONST_SOCKADDR_ARG address, socklen_t length)
{
    FAIL_IF_TOLD(sendto)
    return real_sendto(fd, data, fault != NULL ? size / 2 : size, flags, address, length);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    REAL(send)
    FAIL_IF_TOLD(sendmsg)
    if (fault != NULL && message->msg_iovlen != 0) {
        return real_send(fd, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len / 2, flags);
    }
    return real_sendmsg(fd, message, flags);
}

/* A datagram that was not sent by the kernel, with the content that would do harm if it were believed: "there is no
 * such route", for every question in turn. The kernel's own messages stay where they are, for the next call. */
static ssize_t forge(void *data, size_t size, struct sockaddr *sender)
{
    static _Atomic unsigned sequence;
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
    } message = { .header = { .nlmsg_len = sizeof message, .nlmsg_type = NLMSG_ERROR,
                              .nlmsg_seq = atomic_fetch_add(&sequence, 1) },
                  .error = { .error = -ENETUNREACH } };
    memcpy(data, &message, size < sizeof message ? size : sizeof message);
    if (sender != NULL) {
        struct sockaddr_nl stranger = { .nl_family = AF_NETLINK, .nl_pid = 4242 };
        memcpy(sender, &stranger, sizeof stranger);
    }
    return (ssize_t)sizeof message;
}

/* Spoils a datagram that was received, and gives its new length. */
static ssize_t spoil(const struct fault *fault, void *data, size_t size, ssize_t count)
{
    unsigned char *bytes = data;
    if (fault == NULL || count < 0) {
        return count;
    }
    switch (fault->kind) {
    case EMPTY:
        return 0;
    case SHORT:
        return count < 6 ? count : 6;
    case CUT:
        return (ssize_t)(size + 1);
    case GARBAGE:
        for (size_t i = 0; i < (size_t)count && i < size; i++) {
            bytes[i] = (unsigned char)next_random();
        }
        return count;
    default:
        return count;
    }
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    FAIL_RECEIVE_IF_TOLD(recv)
    /* Whoever receives without looking at the sender cannot tell a forged message. */
    return fault != NULL && fault->kind == FORGED ? forge(data, size, NULL)
                                                  : spoil(fault, data, size, real_recv(fd, data, size, flags));
}

ssize_t recvfrom(int fd, void *restrict data, size_t size, int flags, __SOCKADDR_ARG sender,
                 socklen_t *restrict length)
{
    FAIL_RECEIVE_IF_TOLD(recvfrom)
    if (fault != NULL && fault->kind == FORGED) {
        return forge(data, size, sender.__sockaddr__);
    }
    return spoil(fault, data, size, real_recvfrom(fd, data, size, flags, sender, length));
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    FAIL_RECEIVE_IF_TOLD(recvmsg)
    if (fault != NULL && fault->kind == FORGED && message->msg_iovlen != 0) {
        return forge(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, message->msg_name);
    }
    ssize_t count = real_recvmsg(fd, message, flags);
    if (fault != NULL && fault->kind == CUT) {
        message->msg_flags |= MSG_TRUNC;
    }
    if (message->msg_iovlen == 0) {
        return count;
    }
    return spoil(fault, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, count);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned length, int flags, struct timespec *timeout)
{
    FAIL_RECEIVE_IF_TOLD(recvmmsg)
    if (fault != NULL && fault->kind == FORGED) {
        struct msghdr *header = &messages[0].msg_hdr;
        struct iovec *vector = &header->msg_iov[0];
        messages[0].msg_len = (unsigned)forge(vector->iov_base, vector->iov_len, header->msg_name);
        return 1;
    }
    int count = real_recvmmsg(fd, messages, length, flags, timeout);
    for (int i = 0; fault != NULL && i < count; i++) {
        struct msghdr *header = &messages[i].msg_hdr;
        ssize_t spoiled =
            spoil(fault, header->msg_iov[0].iov_base, header->msg_iov[0].iov_len, messages[i].msg_len);
        messages[i].msg_len = (unsigned)spoiled;
        if (fault->kind == CUT) {
            header->msg_flags |= MSG_TRUNC;
        }
    }
    return count;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t permission = va_arg(arguments, mode_t);
    va_end(arguments);
    FAIL_IF_TOLD(open)
    return real_open(path, flags, permission);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t permission = va_arg(arguments, mode_t);
    va_end(arguments);
    FAIL_IF_TOLD(openat)
    return real_openat(folder, path, flags, permission);
}

int fstat(int fd, struct stat *status)
{
    FAIL_IF_TOLD(fstat)
    return real_fstat(fd, status);
}

char *realpath(const char *restrict path, char *restrict resolved)
{
    REAL(realpath)
    const struct fault *fault = FAULT(realpath);
    if (fault != NULL) {
        errno = fault->error;
        return NULL;
    }
    return real_realpath(path, resolved);
}

ssize_t read(int fd, void *data, size_t size)
{
    FAIL_IF_TOLD(read)
    return fault != NULL ? 0 : real_read(fd, data, size);
}

/* Adding one to an eventfd has no way to fail that could be told from a broken kernel. So there is no fault of it; but
 * it is made sure that nothing else is ever written to. */
ssize_t write(int fd, const void *data, size_t size)
{
    REAL(write)
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    if (caller >= atomic_load(&library_start) && caller < atomic_load(&library_end)) {
        char path[64], kind[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, kind, sizeof kind - 1) < 0 || strcmp(kind, "anon_inode:[eventfd]") != 0) {
            dprintf(STDERR_FILENO, "WRONG: the library writes to descriptor %d, which is %s\n", fd, kind);
            _exit(1);
        }
    }
    return real_write(fd, data, size);
}

/* Linux closes the descriptor whatever error it gives. */
int close(int fd)
{
    REAL(close)
    const struct fault *fault = FAULT(close);
    int result = real_close(fd);
    if (fault != NULL) {
        errno = fault->error;
        return -1;
    }
    return result;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    FAIL_IF_TOLD(ioctl)
    return real_ioctl(fd, request, argument);
}

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    FAIL_IF_TOLD(fcntl)
    return real_fcntl(fd, command, argument);
}

int epoll_create1(int flags)
{
    FAIL_IF_TOLD(epoll_create1)
    return real_epoll_create1(flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    FAIL_IF_TOLD(epoll_ctl)
    return real_epoll_ctl(epoll, operation, fd, event);
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
    FAIL_IF_TOLD(epoll_wait)
    /* Early, but not at once and for ever: that would only measure how fast a loop can turn. */
    return fault != NULL ? real_epoll_wait(epoll, events, count, timeout < 0 || timeout > 10 ? 10 : timeout)
                         : real_epoll_wait(epoll, events, count, timeout);
}

int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
    FAIL_IF_TOLD(epoll_pwait)
    return fault != NULL ? real_epoll_pwait(epoll, events, count, timeout < 0 || timeout > 10 ? 10 : timeout, mask)
                         : real_epoll_pwait(epoll, events, count, timeout, mask);
}

int eventfd(unsigned value, int flags)
{
    FAIL_IF_TOLD(eventfd)
    return real_eventfd(value, flags);
}

int timerfd_create(clockid_t clock, int flags)
{
    FAIL_IF_TOLD(timerfd_create)
    return real_timerfd_create(clock, flags);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    FAIL_IF_TOLD(timerfd_settime)
    return real_timerfd_settime(fd, flags, new, old);
}

int inotify_init1(int flags)
{
    FAIL_IF_TOLD(inotify_init1)
    return real_inotify_init1(flags);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    FAIL_IF_TOLD(inotify_add_watch)
    return real_inotify_add_watch(fd, path, mask);
}

int inotify_rm_watch(int fd, int watch)
{
    FAIL_IF_TOLD(inotify_rm_watch)
    return real_inotify_rm_watch(fd, watch);
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
    FAIL_IF_TOLD(poll)
    return fault != NULL ? real_poll(descriptors, count, timeout < 0 || timeout > 10 ? 10 : timeout)
                         : real_poll(descriptors, count, timeout);
}

int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    FAIL_IF_TOLD(ppoll)
    struct timespec early = { .tv_nsec = 10000000 };
    return real_ppoll(descriptors, count, fault != NULL ? &early : timeout, mask);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap)
    const struct fault *fault = FAULT(mmap);
    if (fault != NULL) {
        errno = fault->error;
        return MAP_FAILED;
    }
    return real_mmap(address, length, protection, flags, fd, offset);
}

int madvise(void *address, size_t length, int advice)
{
    FAIL_IF_TOLD(madvise)
    return real_madvise(address, length, advice);
}

/* The thread functions give their error as result and leave errno alone. */
#define RESULT_IF_TOLD(name) \
    REAL(name) \
    const struct fault *fault = FAULT(name); \
    if (fault != NULL) { \
        return fault->error; \
    }

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*body)(void *),
                   void *restrict argument)
{
    RESULT_IF_TOLD(pthread_create)
    return real_pthread_create(thread, attributes, body, argument);
}

int pthread_attr_init(pthread_attr_t *attributes)
{
    RESULT_IF_TOLD(pthread_attr_init)
    return real_pthread_attr_init(attributes);
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size)
{
    RESULT_IF_TOLD(pthread_attr_setstacksize)
    return real_pthread_attr_setstacksize(attributes, size);
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    RESULT_IF_TOLD(pthread_setname_np)
    return real_pthread_setname_np(thread, name);
}

unsigned if_nametoindex(const char *name)
{
    REAL(if_nametoindex)
    const struct fault *fault = FAULT(if_nametoindex);
    if (fault != NULL) {
        errno = fault->error;
        return 0;
    }
    return real_if_nametoindex(name);
}

static void wait_until_disarmed(void)
{
    pthread_mutex_lock(&hang_mutex);
    while (atomic_load(&mode) != OFF) {
        pthread_cond_wait(&hang_over, &hang_mutex);
    }
    pthread_mutex_unlock(&hang_mutex);
}

int getaddrinfo(const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict result)
{
    REAL(getaddrinfo)
    const struct fault *fault = FAULT(getaddrinfo);
    if (fault != NULL && fault->kind == FAIL) {
        errno = EMFILE;
        return fault->error;
    }
    if (fault != NULL && fault->kind == HANG) {
        wait_until_disarmed();
    }
    int error = real_getaddrinfo(node, service, hints, result);
    if (error != 0 || fault == NULL) {
        return error;
    }
    if (fault->kind == NOTHING_FOUND) {
        freeaddrinfo(*result);
        *result = NULL;
    }
    for (struct addrinfo *entry = *result; entry != NULL; entry = entry->ai_next) {
        if (fault->kind == OTHER_FAMILY) {
            entry->ai_family = AF_UNIX;
            entry->ai_addr->sa_family = AF_UNIX;
        } else if (fault->kind == SHORT_ADDRESS) {
            entry->ai_addrlen = 3;
        } else if (fault->kind == MISSING_ADDRESS) {
            entry->ai_addr = NULL;
        }
    }
    return 0;
}

/* Memory. glibc's own second names are used, because dlsym may allocate before these functions have been found. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool no_memory(enum function function, const void *caller)
{
    if (fault_of(function, caller) == NULL) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return no_memory(F_malloc, __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return no_memory(F_calloc, __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return no_memory(F_realloc, __builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_memory(F_aligned_alloc, __builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (no_memory(F_posix_memalign, __builtin_return_address(0))) {
        return ENOMEM;
    }
    void *got = __libc_memalign(alignment, size);
    if (got == NULL) {
        return ENOMEM;
    }
    *memory = got;
    return 0;
}

/* ----------------------------------------------------------------------------------------------- for the driver --- */

unsigned faults_count(void)
{
    return FAULT_COUNT;
}

const char *faults_function(unsigned fault)
{
    return fault < FAULT_COUNT ? function_names[table[fault].function] : NULL;
}

const char *faults_outcome(unsigned fault)
{
    return fault < FAULT_COUNT ? table[fault].outcome : NULL;
}

int faults_errno(unsigned fault)
{
    /* The resolver's codes are numbers of their own. */
    return fault < FAULT_COUNT && table[fault].function != F_getaddrinfo ? table[fault].error : 0;
}

bool faults_of_memory(unsigned fault)
{
    return fault < FAULT_COUNT && table[fault].kind == MEMORY;
}

bool faults_covers(const char *function)
{
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        if (strcmp(function_names[i], function) == 0) {
            return true;
        }
    }
    return false;
}

void faults_arm(unsigned fault, unsigned first, unsigned count)
{
    atomic_store(&active, fault);
    atomic_store(&active_first, first);
    atomic_store(&active_count, count);
    start(ONE);
}

void faults_arm_random(uint64_t seed, unsigned chance)
{
    atomic_store(&random_state, seed);
    atomic_store(&per_mille, chance);
    start(RANDOM);
}

void faults_watch(void)
{
    start(WATCH);
}

void faults_disarm(void)
{
    pthread_mutex_lock(&hang_mutex);
    atomic_store(&mode, OFF);
    pthread_cond_broadcast(&hang_over);
    pthread_mutex_unlock(&hang_mutex);
}

unsigned faults_calls(unsigned fault)
{
    return fault < FAULT_COUNT ? atomic_load(&calls[table[fault].function]) : 0;
}

unsigned faults_fired(void)
{
    return atomic_load(&fired);
}

void faults_enter(void)
{
    inside = true;
}

void faults_leave(void)
{
    inside = false;
}
