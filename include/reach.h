/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * reach.h - am I online, can I reach this address or host, and tell me when that changes.
 *
 *     #include <reach.h>
 *     cc program.c $(pkg-config --cflags --libs libreach)
 *
 * The answers come from the Linux kernel, asked at the moment of the call through rtnetlink: the routing tables, the
 * rules, the state of the links and the addresses of this machine. "Reachable" means that a packet sent now would leave
 * this machine on a working link with a usable source address. It does not mean that the other side is there, that a
 * firewall lets the packet pass, or that the answer would come back. No function sends a packet to find out. The one
 * kind of traffic libreach causes is name look-ups, and only for host names that are scheduled, waited for or
 * monitored.
 *
 * The four things in this header
 *
 *   reach_target    what is asked about: the internet at large, an address, a pair of addresses, or a host name
 *   reach_queue     where callbacks run: a thread of its own, or any event loop you already have, through a descriptor
 *   reach_confirm   one confirmed answer, online or offline, after at most so much time; reach_wait blocks for it
 *   reach_monitor   a status with a memory, by host: unknown, not reachable, via WWAN, via Wi-Fi or cable
 *
 * Conventions, which hold for every function
 *
 *   - Success is true, a pointer, or a number as said; failure is false, NULL, 0 (for ids) or -1, with errno set.
 *     Bad arguments, NULL where an object is needed included, fail with EINVAL and never crash. Outputs are written
 *     only on success, but where the text says otherwise. A call that succeeds may leave errno changed.
 *   - create makes an object with one reference, retain adds one and returns its argument, release takes one away and
 *     accepts NULL. Using an object after its last reference is gone is undefined, as with free.
 *   - Every function may be called from any thread at any time, also from inside any callback. Only the calls whose
 *     purpose is to wait ever wait: reach_wait, reach_queue_dispatch, reach_queue_next and reach_queue_flush.
 *   - Every callback takes "info", a pointer of yours that libreach never looks at. Where a callback is registered, a
 *     release function for info can be given (or NULL). It is run exactly once, after the last call that may use info,
 *     also when the registration fails, on whichever thread drops the last use, and never while a lock is held.
 *   - Callbacks of one queue never overlap and run in order. Callbacks must not throw, longjmp or end the thread.
 *   - An address is a struct sockaddr of family AF_INET with at least 16 bytes or AF_INET6 with at least 28 bytes; a
 *     shorter or longer (over 128 bytes) one is EINVAL, another family EAFNOSUPPORT. Ports do not matter. IPv4-mapped
 *     IPv6 addresses are judged as IPv4. A scope id selects the link.
 *   - Time is in milliseconds and is measured on the monotonic clock.
 *   - Nothing happens when the library is loaded. Threads of the library block every signal; every descriptor is
 *     close-on-exec; no signal handler is installed, no environment variable is read or changed, nothing is printed.
 *   - The library's sockets belong to the network namespace of the thread that caused them to be opened: the first
 *     question asked in the process for reach_get_flags and its relatives, the first scheduling on a queue for
 *     callbacks.
 *   - After fork, the child opens its own sockets when it first asks. What was scheduled stays with the parent: in the
 *     child a queue of the parent's fails with ESTALE, and a target can be scheduled afresh on a queue of the child's.
 *     A child that is forked inside a callback may return from it: the call from which the callback was made then fails
 *     with ESTALE, or, on a thread queue, the queue's thread ends, and with it the child, which has no other thread.
 *   - A thread must not be cancelled with pthread_cancel while it is inside a function of the library: a lock that it
 *     held would stay locked. Disable cancellation around the call (pthread_setcancelstate).
 *   - Failure to allocate memory for an object ends the process with a trap: the language the library is written in has
 *     no other answer. Descriptors, threads and sockets that cannot be had are ordinary errors.
 *   - The library cannot be unloaded: dlclose succeeds and leaves it in place.
 *
 * Mirrors: Apple's SCNetworkReachability, whose flags are used bit for bit. For code that is to compile unchanged,
 * include <SystemConfiguration/SystemConfiguration.h> from the same directory instead of this header.
 */
#ifndef REACH_H
#define REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------- versions --- */

#define REACH_VERSION_MAJOR 1
#define REACH_VERSION_MINOR 0
#define REACH_VERSION_PATCH 0

/** The version of this header, as reach_version() gives that of the library: major << 16 | minor << 8 | patch. */
#define REACH_VERSION \
    ((uint32_t)REACH_VERSION_MAJOR << 16 | (uint32_t)REACH_VERSION_MINOR << 8 | (uint32_t)REACH_VERSION_PATCH)

/** The version of this header as text. */
#define REACH_VERSION_STRING "1.0.0"

/** The version of the loaded library, comparable with REACH_VERSION. Never fails. */
uint32_t reach_version(void);

/** The version of the loaded library as text, a constant string. Never fails. */
const char *reach_version_string(void);

/* ------------------------------------------------------------------------------------------------------- flags --- */

/** A set of REACH_FLAG_ bits. 0 is an answer too: not reachable. Mirrors SCNetworkReachabilityFlags. */
typedef uint32_t reach_flags;

/** The path goes over a link that comes and goes: point-to-point (PPP, tun, WireGuard) or cellular. */
#define REACH_FLAG_TRANSIENT_CONNECTION   ((reach_flags)1 << 0)
/** A packet sent now would leave the machine, or stay on it. */
#define REACH_FLAG_REACHABLE              ((reach_flags)1 << 1)
/** Something must happen first, such as dialling or a port's authentication: the link is dormant (RFC 2863). */
#define REACH_FLAG_CONNECTION_REQUIRED    ((reach_flags)1 << 2)
/** The connection that is required is made by traffic (dial on demand). */
#define REACH_FLAG_CONNECTION_ON_TRAFFIC  ((reach_flags)1 << 3)
/** Apple's older name for the bit above. */
#define REACH_FLAG_CONNECTION_AUTOMATIC   REACH_FLAG_CONNECTION_ON_TRAFFIC
/** A person must act first. Reserved: not produced on Linux. */
#define REACH_FLAG_INTERVENTION_REQUIRED  ((reach_flags)1 << 4)
/** The connection is made on demand. Reserved: not produced on Linux. */
#define REACH_FLAG_CONNECTION_ON_DEMAND   ((reach_flags)1 << 5)
/** The address is this machine's own. */
#define REACH_FLAG_IS_LOCAL_ADDRESS       ((reach_flags)1 << 16)
/** No gateway lies between: the address is on a directly attached network, or this machine's own. */
#define REACH_FLAG_IS_DIRECT              ((reach_flags)1 << 17)
/** The path goes over a cellular link. */
#define REACH_FLAG_IS_WWAN                ((reach_flags)1 << 18)

/** What a set of flags comes to, for a user interface. Mirrors FXReachability's status. */
typedef int32_t reach_status;
/** Not yet known. Only monitors have it. */
#define REACH_STATUS_UNKNOWN        ((reach_status)-1)
/** Not reachable, or a connection is required first. */
#define REACH_STATUS_NOT_REACHABLE  ((reach_status)0)
/** Reachable over a cellular link. */
#define REACH_STATUS_VIA_WWAN       ((reach_status)1)
/** Reachable over Wi-Fi, cable, or anything else that is not cellular. */
#define REACH_STATUS_VIA_WIFI       ((reach_status)2)

/**
 * Whether flags mean "online": reachable, and no connection required first.
 *
 * @param flags  as reach_get_flags or a callback gave them
 * @return true if online. Never fails.
 */
bool reach_flags_is_online(reach_flags flags);

/**
 * The status that flags come to: never REACH_STATUS_UNKNOWN.
 *
 * @param flags  as reach_get_flags or a callback gave them
 * @return REACH_STATUS_NOT_REACHABLE unless online; else REACH_STATUS_VIA_WWAN or REACH_STATUS_VIA_WIFI. Never fails.
 */
reach_status reach_flags_status(reach_flags flags);

/**
 * The flags in words, comma-separated: "Reachable,Directly Reachable Address", "Not Reachable" for 0.
 *
 * @param flags   any value; bits without a name are added in hexadecimal
 * @param buffer  takes the text, cut to fit and always ended with NUL; may be NULL when size is 0
 * @param size    bytes in buffer
 * @return the length of the whole text without its NUL, as snprintf: when it is not less than size, the text was cut.
 *         0 with EINVAL when buffer is NULL and size is not 0.
 *
 * The words are those of macOS's "scutil -r".
 */
size_t reach_flags_describe(reach_flags flags, char *buffer, size_t size);

/* ----------------------------------------------------------------------------------------------------- targets --- */

/**
 * What is asked about. Mirrors SCNetworkReachabilityRef.
 *
 * Made by the reach_create_ functions, freed by the last reach_release. A target that is scheduled on a queue keeps
 * itself alive until it is unscheduled: releasing the last reference of yours does not stop its callbacks. Making one
 * costs no descriptor and no thread, and every one may be used from any number of threads.
 */
typedef struct reach_target reach_target;

/**
 * Makes a target for an address.
 *
 * The zero address, 0.0.0.0 or ::, asks about the internet at large: is there a path to it, over IPv4 or IPv6?
 *
 * @param address  copied; the port does not matter
 * @param length   bytes in address: at least 16 for AF_INET, 28 for AF_INET6, at most 128
 * @return the target, to be released by the caller; NULL with EINVAL or EAFNOSUPPORT.
 *
 * Mirrors SCNetworkReachabilityCreateWithAddress.
 */
reach_target *reach_create_with_address(const struct sockaddr *address, socklen_t length);

/**
 * Makes a target for a local and a remote address: can a socket bound to the local one reach the remote one?
 *
 * When the local address is not this machine's, the flags are 0. Else the remote one is judged with the local one as
 * the packet's source, so that source-based rules count. With only a local address, it is judged like an address
 * target. The zero address has no special meaning here: an unspecified local address means "any". The families may
 * differ. A local address in 127/8 with a remote one outside 127/8 is left out, as on macOS.
 *
 * @param local          copied; may be NULL with length 0
 * @param local_length   as for reach_create_with_address
 * @param remote         copied; may be NULL with length 0, but not both
 * @param remote_length  as for reach_create_with_address
 * @return the target, to be released by the caller; NULL with EINVAL or EAFNOSUPPORT.
 *
 * Mirrors SCNetworkReachabilityCreateWithAddressPair.
 */
reach_target *reach_create_with_address_pair(const struct sockaddr *local, socklen_t local_length,
                                             const struct sockaddr *remote, socklen_t remote_length);

/**
 * Makes a target for a host name, or for an address in text.
 *
 * Text that inet_aton or inet_pton accepts, with an optional %link, gives an address target: "192.0.2.1", "127.1",
 * "fe80::1%eth0", and "0.0.0.0" for the internet at large. "localhost" and names below .localhost are the loopback
 * address and are never looked up. Everything else that is not empty is accepted as a name, however malformed, and is
 * looked up only while it is scheduled, waited for or monitored; see reach_name_is_valid for a strict check.
 *
 * @param name  copied, any length; not a URL and not "host:port"
 * @return the target, to be released by the caller; NULL with EINVAL when name is NULL or empty, or, for an address
 *         with %link, with the error of the system call that failed. A link that does not exist is no error: such a
 *         target answers that it is not reachable, with REACH_REASON_NO_LINK.
 *
 * Mirrors SCNetworkReachabilityCreateWithName.
 */
reach_target *reach_create_with_name(const char *name);

/** Adds a reference. Returns target; NULL with EINVAL when target is NULL. Mirrors CFRetain. */
reach_target *reach_retain(reach_target *target);

/** Takes a reference away, and frees the target with the last one. NULL is allowed. Mirrors CFRelease. */
void reach_release(reach_target *target);

/**
 * The answer now. Costs one system call when nothing changed, and some ten microseconds when something did.
 *
 * Never waits for the network, never sends a packet, never looks a name up. It is right at the moment of the call,
 * whether or not the target is scheduled, a queue is driven, or any thread exists. A name that has not been looked up
 * answers as the zero address does: reachable, if there is a path to the internet. Once it is scheduled and looked up,
 * it answers for its addresses, the best of them.
 *
 * A call on a scheduled name, before its first callback, takes the place of that callback (see reach_set_queue).
 *
 * @param target  the target
 * @param flags   takes the answer; 0 means not reachable
 * @return true with flags written; false with EINVAL, or with the error of the system call by which the kernel could
 *         not be asked (EMFILE, ENFILE, ENOMEM, ENOBUFS, EPERM, EACCES or whatever a sandbox gives). Nothing is
 *         guessed.
 *
 * Mirrors SCNetworkReachabilityGetFlags; asks the kernel with RTM_GETROUTE and RTM_GETLINK.
 */
bool reach_get_flags(reach_target *target, reach_flags *flags);

/**
 * Is there a path to the internet at large? The zero-address check in one call.
 *
 * @return true when online. False otherwise, with errno 0 when the kernel says no, or the error of reach_get_flags when
 *         it could not be asked.
 */
bool reach_is_online(void);

/**
 * Whether text is a well-formed host name or address, to catch the commonest mistake, which is to hand in a URL.
 *
 * Valid are labels of 1 to 63 letters, digits and hyphens, not beginning or ending with a hyphen, joined by dots, with
 * an optional dot at the end, 253 bytes in all without it (RFC 1123), and addresses in text as reach_create_with_name
 * takes them. "https://example.com", "example.com:80", names with spaces, underscores or empty labels, and names in
 * other than ASCII letters (use their xn-- form) are not.
 *
 * @param name  the text
 * @return true if valid; false otherwise, with EINVAL when name is NULL and errno 0 when it is not valid.
 */
bool reach_name_is_valid(const char *name);

/* ------------------------------------------------------------------------------------ the path behind an answer --- */

/** What a link is, as the kernel tells by device type, link kind, device class or driver; never by the link's name. */
#define REACH_LINK_NONE            0 /**< no link is involved */
#define REACH_LINK_OTHER           1 /**< none of the kinds below */
#define REACH_LINK_LOOPBACK        2
#define REACH_LINK_ETHERNET        3 /**< cable, or a virtual Ethernet device */
#define REACH_LINK_WIFI            4
#define REACH_LINK_CELLULAR        5
#define REACH_LINK_PPP             6
#define REACH_LINK_TUNNEL          7 /**< tun, WireGuard, GRE, IP in IP and other point-to-point links */

/**
 * What a link is in words, for people and logs: "Ethernet", "cellular".
 *
 * @param kind  REACH_LINK_
 * @return a constant string, in English; "unknown link" for other numbers. Never fails.
 */
const char *reach_link_text(int32_t kind);

/** Why the flags are what they are. reach_reason_text gives each in words. */
#define REACH_REASON_REACHABLE        0  /**< there is a path */
#define REACH_REASON_NO_ROUTE         1  /**< no route (ENETUNREACH) */
#define REACH_REASON_UNREACHABLE      2  /**< a route says unreachable (EHOSTUNREACH) */
#define REACH_REASON_PROHIBITED       3  /**< a route or rule prohibits it (EACCES) */
#define REACH_REASON_BLACKHOLE        4  /**< a route or rule drops it silently (EINVAL) */
#define REACH_REASON_NO_CARRIER       5  /**< the link has lost its carrier */
#define REACH_REASON_LOWER_LAYER_DOWN 6  /**< the link below this link is down */
#define REACH_REASON_LINK_DISABLED    7  /**< the link is administratively down */
#define REACH_REASON_NO_LINK          8  /**< the link that was named does not exist */
#define REACH_REASON_NO_SOURCE        9  /**< no address of this machine can be the source */
#define REACH_REASON_NOT_LOCAL        10 /**< the local address of a pair is not this machine's */
#define REACH_REASON_DORMANT          11 /**< the link waits for an event, such as dialling */
#define REACH_REASON_NAME_NOT_FOUND   12 /**< there is no such name */
#define REACH_REASON_RESOLVER_FAILED  13 /**< the name look-up failed or timed out; it is being retried */
#define REACH_REASON_NOT_RESOLVED     14 /**< the name was not looked up; the flags are those of the zero address */

/**
 * Everything that is known about the path to a target. Grows only at its end; the size that was passed in tells which
 * fields the caller knows. Text fields end with NUL and are empty when they do not apply. Values of generation can be
 * compared within one process only: those of another process, or of another run, have nothing to do with them.
 */
typedef struct reach_path {
    reach_flags flags;           /**< as reach_get_flags gives them */
    int32_t     reason;          /**< REACH_REASON_ */
    uint32_t    interface_index; /**< the link a packet would leave by, 0 when there is none */
    int32_t     interface_kind;  /**< REACH_LINK_ */
    uint64_t    generation;      /**< grows when the network of this process changed between two questions */
    uint32_t    ipv4_usable;     /**< 1 when the target can be reached by IPv4, else 0 */
    uint32_t    ipv6_usable;     /**< 1 when the target can be reached by IPv6, else 0 */
    char        interface_name[16];
    char        gateway[64];     /**< the next hop's address; empty when the destination is on the link */
    char        source[64];      /**< the address of this machine that the kernel would choose */
    char        destination[64]; /**< the address that was judged: of a name, the best; of the zero address, a probe */
} reach_path;

/**
 * The answer now, with its path and its reason. Never waits; see reach_get_flags.
 *
 * @param target  the target
 * @param path    takes the answer
 * @param size    sizeof *path as the caller knows it, at least 4; a larger one than the library's is filled with zeros
 * @return true with path written; false with EINVAL or an error as for reach_get_flags.
 */
bool reach_get_path(reach_target *target, reach_path *path, size_t size);

/**
 * A reason in words, for people and logs: "no route", "the link has lost its carrier".
 *
 * @param reason  REACH_REASON_
 * @return a constant string, in English; "unknown reason" for other numbers. Never fails.
 */
const char *reach_reason_text(int32_t reason);

/* ------------------------------------------------------------------------------------------------------ queues --- */

/**
 * Where callbacks run. Mirrors a serial dispatch queue, or a run loop.
 *
 * A queue is made in one of two ways and used in the same way afterwards. A thread queue has a thread that runs the
 * callbacks. A manual queue has none: its descriptor becomes readable when there is work, in any event loop (poll,
 * epoll, libuv, libevent, GLib, Qt, sd-event, asyncio, a dispatch source), and reach_queue_dispatch then runs what is
 * due on the thread that calls it.
 *
 * Made by the reach_queue_create functions, freed by the last reach_queue_release. Scheduled targets, observers and
 * pending confirmations keep their queue alive: it can be released as soon as it is in use.
 */
typedef struct reach_queue reach_queue;

/**
 * Makes a queue with a thread of its own.
 *
 * The thread blocks every signal. A runtime that stops threads by signals to collect garbage (Mono, Boehm's collector)
 * would wait for it for ever once a callback has run managed code: there, drive a manual queue from a thread of the
 * runtime's own.
 *
 * @param label  names the thread in debuggers and /proc, cut to 15 bytes; NULL gives "reach", and an empty text a
 *               thread with an empty name
 * @return the queue, to be released by the caller; NULL with the error of the system call that failed (EMFILE, EAGAIN,
 *         ...).
 *
 * Mirrors dispatch_queue_create(label, DISPATCH_QUEUE_SERIAL).
 */
reach_queue *reach_queue_create(const char *label);

/**
 * Makes a queue without a thread, which the caller drives.
 *
 * @return the queue, to be released by the caller; NULL with the error of the system call that failed.
 */
reach_queue *reach_queue_create_manual(void);

/**
 * The descriptor of a manual queue: readable when reach_queue_dispatch has something to do.
 *
 * Watch it level-triggered for reading; do not read from it, write to it or close it. It lives as long as the queue and
 * stays the same.
 *
 * @param queue  a manual queue
 * @return the descriptor; -1 with EINVAL, also for a thread queue, or ESTALE in a forked child.
 */
int reach_queue_fd(reach_queue *queue);

/**
 * Runs what is due on a manual queue, on the calling thread.
 *
 * Waits until there is something to do or the time is over, makes the callouts that are due, and returns. It may return
 * 0 before the time is over when the work that came up led to no callout.
 *
 * @param queue       a manual queue
 * @param timeout_ms  0 does not wait; -1 waits for ever; below that is EINVAL
 * @return the number of callouts made, 0 or more; -1 with EINVAL (also for a thread queue), EDEADLK when called from
 *         inside a callback of the same queue, EBUSY when another thread is in it, EINTR when a signal came first, or
 *         ESTALE in a forked child.
 */
int reach_queue_dispatch(reach_queue *queue, int timeout_ms);

/**
 * Reads the next change as data instead of through a callback, for languages in which callbacks are awkward.
 *
 * A target that is scheduled on a manual queue without a callback has its changes reported here. Callbacks that are due
 * on the queue meanwhile are run, as by reach_queue_dispatch.
 *
 * A queue is either read with this function or dispatched: reach_queue_dispatch passes over the changes of targets that
 * have no callback, and those are not reported later.
 *
 * @param queue       a manual queue
 * @param timeout_ms  0 does not wait; -1 waits for ever; below that is EINVAL
 * @param target      takes the target that changed; not retained, valid as long as the target is scheduled or owned
 * @param flags       takes its new flags
 * @return 1 with target and flags written, 0 when the time is over, -1 with errno as for reach_queue_dispatch.
 */
int reach_queue_next(reach_queue *queue, int timeout_ms, reach_target **target, reach_flags *flags);

/**
 * Waits until the callout that is running on the queue, if any, has ended.
 *
 * After unscheduling a target from another thread, this makes sure that its callback is no longer running. Callouts
 * that begin later are not waited for.
 *
 * @param queue  the queue
 * @return true when done; false with EDEADLK when called from inside a callback of the same queue, EINVAL, or ESTALE in
 *         a forked child.
 */
bool reach_queue_flush(reach_queue *queue);

/** Adds a reference. Returns queue; NULL with EINVAL when queue is NULL. */
reach_queue *reach_queue_retain(reach_queue *queue);

/**
 * Takes a reference away. NULL is allowed. The thread of a thread queue ends by itself, after the callout that is
 * running, once nothing is scheduled on the queue and the last reference is gone; this is not waited for.
 */
void reach_queue_release(reach_queue *queue);

/* -------------------------------------------------------------------------------------------- change callbacks --- */

/**
 * Called on the target's queue when the answer changed: the flags, or the link a packet would leave by (then the flags
 * can be the same as before).
 *
 * Changes are coalesced: several changes between two looks give one call with the last answer, and a change that was
 * undone before anybody looked gives none. target is the pointer that was scheduled and is alive during the call. From
 * inside, everything is allowed: asking, setting another callback, unscheduling, rescheduling, the last release.
 */
typedef void (*reach_callback)(reach_target *target, reach_flags flags, void *info);

/**
 * Sets, replaces or removes the callback of a target. Takes effect with the next delivery; causes none.
 *
 * @param target    the target, scheduled or not
 * @param callback  NULL removes the callback; changes go on being tracked
 * @param info      handed to callback
 * @param release   run once for info when the callback is replaced or removed or the target freed, after the last call
 *                  that may use info; also when this function fails; NULL for none
 * @return true; false with EINVAL.
 *
 * Mirrors SCNetworkReachabilitySetCallback.
 */
bool reach_set_callback(reach_target *target, reach_callback callback, void *info, void (*release)(void *info));

/**
 * Schedules a target on a queue, or unschedules it.
 *
 * For addresses and the zero address there is no callback at scheduling: ask with reach_get_flags, then be told of
 * changes. For host names one callback always follows, even without a change and even offline, never from inside this
 * call; reach_get_flags on the scheduled target takes its place. That first callback says what is known without a
 * look-up; another one follows if the look-up says otherwise. Names are looked up on helper threads while they are
 * scheduled, again when the network or resolv.conf changes, and again with growing pauses while look-ups fail.
 *
 * A target is on one queue at a time. After unscheduling returns, no new callback begins; one that is running on
 * another thread is not waited for (see reach_queue_flush).
 *
 * @param target  the target
 * @param queue   NULL unschedules
 * @return true; false with EINVAL, EBUSY when the target is scheduled already (also on the same queue), ENOENT when it
 *         is unscheduled without being scheduled, ESTALE for a queue of the parent's in a forked child, or an error by
 *         which the kernel could not be asked, as for reach_get_flags.
 *
 * Mirrors SCNetworkReachabilitySetDispatchQueue.
 */
bool reach_set_queue(reach_target *target, reach_queue *queue);

/* ------------------------------------------------------------------------------------------- confirmed answers --- */

/**
 * Called on the queue exactly once, with the one confirmed answer. flags are those behind the answer. target is alive
 * during the call.
 */
typedef void (*reach_confirm_callback)(reach_target *target, bool online, reach_flags flags, void *info);

/**
 * Asks for one answer worth acting on, and waits for it in the background: the cure for "no at first, yes a second
 * later", as after waking up or joining a network.
 *
 * If the target is online now, that is the answer. Else it is watched until it is online, which is then the answer at
 * once, or until the time is over, and the answer is offline. For a host name, online means that it has been looked up
 * and one of its addresses can be reached. The target need not be scheduled, and may be. When the kernel cannot be
 * asked at the deadline, the answer is offline too: reach_wait tells the two apart.
 *
 * @param target      the target; it and the queue are kept alive until the answer is given or cancelled
 * @param timeout_ms  0 answers with what is true now; -1 waits for ever; below that is EINVAL
 * @param queue       where callback is called, never from inside this function
 * @param callback    called exactly once, unless cancelled
 * @param info        handed to callback
 * @param release     run once for info, after callback or after cancelling, also when this function fails; NULL for
 *                    none
 * @return an id for reach_confirm_cancel, never reused; 0 with EINVAL or an error as for reach_set_queue.
 */
uint64_t reach_confirm(reach_target *target, int timeout_ms, reach_queue *queue, reach_confirm_callback callback,
                       void *info, void (*release)(void *info));

/**
 * Cancels a confirmation. Called on its queue, or for a manual queue on the thread that drives it, no answer comes
 * after this returned; from elsewhere, an answer that is being given already is not waited for.
 *
 * @param id  as reach_confirm gave it
 * @return true when it was pending and no answer will come; false with ENOENT when it was answered, cancelled or never
 *         was.
 */
bool reach_confirm_cancel(uint64_t id);

/**
 * Waits until the target is online, or until the time is over: reach_confirm as a blocking call, for programs and
 * scripts without a loop. It may be called on any thread, inside callbacks too.
 *
 * @param target      the target
 * @param timeout_ms  0 does not wait; -1 waits for ever; below that is EINVAL
 * @param flags       takes the flags behind the answer; NULL when they are not wanted
 * @return true when online; false with ETIMEDOUT when it is still offline, with flags written too; false with EINVAL,
 *         or with an error as for reach_set_queue, with flags not written. Signals do not end the wait.
 */
bool reach_wait(reach_target *target, int timeout_ms, reach_flags *flags);

/* ---------------------------------------------------------------------------------------------------- monitors --- */

/**
 * The status of a host, kept up to date. Mirrors FXReachability.
 *
 * A monitor makes name look-ups for its host from the moment it is made, and whenever the network changes: the shared
 * one for apple.com, until its host is changed. A program that only wants to know whether it is online is better served
 * by reach_is_online, by a target for the zero address, or by reach_wait on one: these cause no traffic at all.
 *
 * Made by reach_monitor_create, freed by the last reach_monitor_release, after which its observers hear nothing more.
 * All monitors share one thread of the library, which starts with the first of them; observers are called on the queues
 * they asked for.
 */
typedef struct reach_monitor reach_monitor;

/**
 * Called on the observer's queue when the status of a monitor changed. host is the host that the status is about, ended
 * with NUL and valid during the call; monitor is alive during the call.
 */
typedef void (*reach_monitor_callback)(reach_monitor *monitor, reach_status status, reach_status previous,
                                       const char *host, void *info);

/**
 * The monitor that everybody in the process can use. Its host is apple.com until changed.
 *
 * It starts with the first call of this function, or of another one that is given NULL for it. When that is
 * reach_monitor_set_host, it starts with that host, and apple.com is not looked up.
 *
 * In a forked child, a monitor of the parent's keeps the status that it had, and hears of nothing any more; the child's
 * shared one is another one, with apple.com as its host.
 *
 * @return the monitor, which is never freed; not retained for the caller. NULL with the error of the system call that
 *         failed; the next call tries again.
 */
reach_monitor *reach_monitor_shared(void);

/**
 * Makes and starts a monitor for a host. Its status is unknown until the first answer.
 *
 * @param host  a name or an address in text, as for reach_create_with_name; copied
 * @return the monitor, to be released by the caller; NULL with EINVAL or the error of the system call that failed.
 */
reach_monitor *reach_monitor_create(const char *host);

/** Adds a reference. Returns monitor; NULL with EINVAL when monitor is NULL. */
reach_monitor *reach_monitor_retain(reach_monitor *monitor);

/** Takes a reference away, and ends the monitor with the last one. NULL and the shared monitor are allowed. */
void reach_monitor_release(reach_monitor *monitor);

/**
 * The status as the observers know it.
 *
 * @param monitor  NULL asks the shared one
 * @return a REACH_STATUS_; REACH_STATUS_UNKNOWN before the first answer, and after the host was changed until there is
 *         an answer about the new one. Never fails.
 */
reach_status reach_monitor_get_status(reach_monitor *monitor);

/**
 * Whether it is worth trying: true unless the host is known to be not reachable.
 *
 * @param monitor  NULL asks the shared one
 * @return true when the status is unknown or reachable. Never fails.
 */
bool reach_monitor_is_reachable(reach_monitor *monitor);

/**
 * Changes the host. The status is unknown at once, nothing is sent to observers by that, and no answer about the old
 * host comes later. Setting the same host again does nothing.
 *
 * @param monitor  NULL means the shared one
 * @param host     as for reach_monitor_create; copied
 * @return true; false with EINVAL, ESTALE for a monitor of the parent's in a forked child, or the error of the system
 *         call that failed, and then the old host stays.
 */
bool reach_monitor_set_host(reach_monitor *monitor, const char *host);

/**
 * The host.
 *
 * @param monitor  NULL asks the shared one
 * @param buffer   takes the name, cut to fit and always ended with NUL; may be NULL when size is 0
 * @param size     bytes in buffer
 * @return the length of the whole name without its NUL, as snprintf; 0 with EINVAL when buffer is NULL and size is not
 *         0.
 */
size_t reach_monitor_get_host(reach_monitor *monitor, char *buffer, size_t size);

/**
 * Adds an observer. It hears of every change of the status after this call, in order, with the status before.
 *
 * @param monitor   NULL observes all monitors, those made later included
 * @param queue     where callback is called; kept alive until the observer is removed
 * @param callback  called when the status changes
 * @param info      handed to callback
 * @param release   run once for info when the observer is removed or its monitor ended, after the last call that may
 *                  use info; also when this function fails; NULL for none
 * @return an id for reach_monitor_remove_observer, never reused; 0 with EINVAL, or ESTALE for a queue or monitor of the
 *         parent's in a forked child.
 */
uint64_t reach_monitor_add_observer(reach_monitor *monitor, reach_queue *queue, reach_monitor_callback callback,
                                    void *info, void (*release)(void *info));

/**
 * Removes an observer. Called on its queue, or for a manual queue on the thread that drives it, nothing is heard after
 * this returned; from elsewhere, a call that is being made already is not waited for.
 *
 * @param id  as reach_monitor_add_observer gave it
 * @return true; false with ENOENT when there is no such observer.
 */
bool reach_monitor_remove_observer(uint64_t id);

/* The sizes that callers in other languages rely on. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define REACH_STATIC_ASSERT_(condition, name) static_assert(condition, #name)
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define REACH_STATIC_ASSERT_(condition, name) _Static_assert(condition, #name)
#else
#define REACH_STATIC_ASSERT_(condition, name) typedef char reach_assert_##name[(condition) ? 1 : -1]
#endif
REACH_STATIC_ASSERT_(sizeof(reach_flags) == 4, flags_are_32_bits);
REACH_STATIC_ASSERT_(sizeof(reach_status) == 4, status_is_32_bits);
REACH_STATIC_ASSERT_(sizeof(bool) == 1, bool_is_one_byte);
REACH_STATIC_ASSERT_(sizeof(reach_path) == 240, path_has_no_padding);
#undef REACH_STATIC_ASSERT_

#ifdef __cplusplus
}
#endif

#endif /* REACH_H */
