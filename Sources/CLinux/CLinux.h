/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The parts of libc and of the kernel's interface that the Swift code uses, and a few inline functions for what Swift
 * cannot import: macros with arguments, variadic functions, enum constants that glibc hides behind macros, and flexible
 * or bit-packed structs. Nothing here decides anything.
 */
#ifndef REACH_CLINUX_H
#define REACH_CLINUX_H

#include <net/if.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Two functions that glibc shows only under _GNU_SOURCE, which cannot be defined here: it changes types that Swift's
 * own view of glibc has too. */
struct mmsghdr;
extern int recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout);
extern int pthread_setname_np(pthread_t thread, const char *name);

/* struct mmsghdr, by another name. */
struct clinux_message {
    struct msghdr header;
    unsigned int length;
};

/* errno is a macro around a function call, which Swift does not import. */
static inline int clinux_errno(void) { return errno; }
static inline void clinux_set_errno(int value) { errno = value; }

/* SOCK_ values are enum constants behind macros; one function keeps the flags together. */
static inline int clinux_socket_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
}

/* struct sockaddr_nl would have to be cast to struct sockaddr at each use. */
static inline int clinux_bind_netlink(int fd, uint32_t groups)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    return bind(fd, (const struct sockaddr *)&address, sizeof address);
}

/* What a socket's receive side holds. SO_MEMINFO came with Linux 4.12. */
struct clinux_receive_memory {
    uint32_t waiting; /* bytes that were not received yet */
    uint32_t size;    /* of the buffer */
    uint32_t dropped; /* messages that found no room */
};
static inline int clinux_receive_memory(int fd, struct clinux_receive_memory *memory)
{
    uint32_t values[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof values;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values, &length) != 0)
        return -1;
    if (length < (SK_MEMINFO_DROPS + 1) * sizeof values[0])
        return -1;
    memory->waiting = values[SK_MEMINFO_RMEM_ALLOC];
    memory->size = values[SK_MEMINFO_RCVBUF];
    memory->dropped = values[SK_MEMINFO_DROPS];
    return 0;
}

/* Which file a descriptor stands for. */
static inline int clinux_identity(int fd, uint64_t *device, uint64_t *inode)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -1;
    *device = (uint64_t)status.st_dev;
    *inode = (uint64_t)status.st_ino;
    return 0;
}

/* The sender's port comes with the datagram: the kernel's is 0, and nobody else may be believed. */
static inline ssize_t clinux_receive_netlink(int fd, void *buffer, size_t size, uint32_t *port)
{
    struct sockaddr_nl sender = {.nl_pid = ~0u};
    socklen_t length = sizeof sender;
    ssize_t count = recvfrom(fd, buffer, size, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
    *port = sender.nl_pid;
    return count;
}

/* Many datagrams in one system call. Each slot is slot_size bytes of buffer. lengths takes the true length of each
 * datagram (it may exceed slot_size: then it was cut), ports the sender's port. */
#define CLINUX_SLOTS 64
static inline int clinux_receive_netlink_many(int fd, void *buffer, size_t slot_size, int slots, uint32_t *lengths,
                                              uint32_t *ports)
{
    struct clinux_message messages[CLINUX_SLOTS];
    struct iovec vectors[CLINUX_SLOTS];
    struct sockaddr_nl senders[CLINUX_SLOTS];
    int i, count;
    if (slots > CLINUX_SLOTS)
        slots = CLINUX_SLOTS;
    for (i = 0; i < slots; i++) {
        senders[i] = (struct sockaddr_nl){.nl_pid = ~0u};
        vectors[i] = (struct iovec){.iov_base = (char *)buffer + (size_t)i * slot_size, .iov_len = slot_size};
        messages[i] = (struct clinux_message){.header = {.msg_name = &senders[i], .msg_namelen = sizeof senders[i],
                                                         .msg_iov = &vectors[i], .msg_iovlen = 1}};
    }
    count = recvmmsg(fd, (struct mmsghdr *)messages, (unsigned)slots, MSG_DONTWAIT | MSG_TRUNC, NULL);
    for (i = 0; i < count; i++) {
        lengths[i] = messages[i].length;
        ports[i] = senders[i].nl_pid;
    }
    return count;
}

/* Two of getaddrinfo's errors that glibc shows only under _GNU_SOURCE; the numbers are part of its ABI. */
static inline int clinux_eai_nodata(void) { return -5; }
static inline int clinux_eai_addrfamily(void) { return -9; }

/* fcntl, open and ioctl are variadic. */
static inline int clinux_open_read_only(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The driver's name, by the ethtool request that every kernel answers for every link; buffer takes 32 bytes. */
/* Any socket will do, and it decides the namespace: a netlink socket hands the request on. */
static inline int clinux_link_driver(int fd, const char *name, size_t name_length, char *buffer)
{
    struct ethtool_drvinfo information = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request = {0};
    if (name_length >= IFNAMSIZ)
        return -1;
    memcpy(request.ifr_name, name, name_length);
    request.ifr_data = (char *)&information;
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        return -1;
    memcpy(buffer, information.driver, 32);
    buffer[31] = 0;
    return 0;
}

/* struct epoll_event is packed and holds a union. */
static inline int clinux_epoll_control(int epoll, int operation, int fd, uint32_t events, uint32_t token)
{
    struct epoll_event event = {.events = events, .data = {.u32 = token}};
    return epoll_ctl(epoll, operation, fd, &event);
}

/* A bit for each token (below 32) that is ready, or -1. */
static inline int64_t clinux_epoll_wait(int epoll, int timeout_ms)
{
    struct epoll_event events[8];
    int64_t ready = 0;
    int i, count = epoll_wait(epoll, events, 8, timeout_ms);
    if (count < 0)
        return -1;
    for (i = 0; i < count; i++)
        ready |= (int64_t)1 << events[i].data.u32;
    return ready;
}

/* eventfd and timerfd flags are enum constants. */
static inline int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
static inline int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int clinux_timerfd_monotonic(void)
{
    return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}
static inline int clinux_inotify(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

/* A timer that never fires and becomes readable when the wall clock jumps, which it does at resume from suspend: the
 * only way to be woken by a resume without waking up regularly to look. */
static inline int clinux_timerfd_clock_jump(void)
{
    struct itimerspec never = {.it_value = {.tv_sec = (time_t)(((uint64_t)1 << (sizeof(time_t) * 8 - 1)) - 1)}};
    int saved, fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0)
        return -1;
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) != 0) {
        saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static inline int clinux_timerfd_set(int fd, uint64_t nanoseconds)
{
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                                           .tv_nsec = (long)(nanoseconds % 1000000000u)}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static inline uint64_t clinux_clock(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* MAP_FAILED is a cast pointer. NULL on failure; the page is zero in every child that fork makes. */
static inline void *clinux_map_wipe_on_fork(size_t size)
{
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) {
        munmap(page, size);
        return NULL;
    }
    return page;
}

/* A condition variable on the monotonic clock needs an attribute object that lives for two calls. */
static inline int clinux_condition_init(pthread_cond_t *condition) { return pthread_cond_init(condition, NULL); }

/* A detached thread with every signal blocked from its first instruction: the mask is inherited, so it is set around
 * the creation. stack_size 0 leaves the default. */
static inline int clinux_thread_start(size_t stack_size, void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    size_t size = 0;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_size != 0 && pthread_attr_getstacksize(&attributes, &size) == 0 && size != stack_size)
        pthread_attr_setstacksize(&attributes, stack_size);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

/* The netlink attribute and message sizes are macros with arguments. */
static inline int clinux_attach_filter(int fd, struct sock_filter *program, unsigned short length)
{
    struct sock_fprog filter = {.len = length, .filter = program};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

static inline int clinux_detach_filter(int fd)
{
    int unused = 0;
    return setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
}

#endif /* REACH_CLINUX_H */
