/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The nine functions. See SystemConfiguration.h.
 *
 * How a target works. It has a reach_target, and while it is scheduled it is that target's callback. On a run loop, the
 * reach_target is on the queue of the first loop, and its changes signal a run loop source that is in all loops and
 * modes of the target; the loop that gets to it first delivers. On a dispatch queue, the reach_target is on a manual
 * queue of its own, whose descriptor a dispatch read source watches on a serial queue that targets the client's: so the
 * callouts are on the client's queue, and do not overlap when that is a concurrent one.
 *
 * The client's functions, retain and release included, are never called with a lock held. So they may call anything
 * here, which Apple's may not. The price is that a change may come up while SetCallback stands between the old context
 * and the new one; it is then delivered when SetCallback is done.
 */
#ifndef REACH_SC_NETWORK_REACHABILITY_H
#define REACH_SC_NETWORK_REACHABILITY_H

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <arpa/inet.h>

#include <reach.h>

#include <SystemConfiguration/SCError.h>

#ifdef REACH_USE_COREFOUNDATION
#include <CoreFoundation/CFRuntime.h>
#endif

#if !defined(REACH_NO_DISPATCH) && defined(__has_include)
#if __has_include(<dispatch/dispatch.h>)
#define REACH_SC_HAS_DISPATCH 1
/* libdispatch's headers ask with clang's __has_feature, which gcc has only since its version 14. */
#ifndef __has_feature
#define __has_feature(feature) 0
#define REACH_SC_HAS_NO_FEATURES 1
#endif
#ifndef __has_extension
#define __has_extension(extension) 0
#define REACH_SC_HAS_NO_EXTENSIONS 1
#endif
#include <dispatch/dispatch.h>
#ifdef REACH_SC_HAS_NO_FEATURES
#undef __has_feature
#endif
#ifdef REACH_SC_HAS_NO_EXTENSIONS
#undef __has_extension
#endif
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------- interface --- */

typedef uint32_t SCNetworkReachabilityFlags;

enum {
    kSCNetworkReachabilityFlagsTransientConnection = 1 << 0,
    kSCNetworkReachabilityFlagsReachable = 1 << 1,
    kSCNetworkReachabilityFlagsConnectionRequired = 1 << 2,
    kSCNetworkReachabilityFlagsConnectionOnTraffic = 1 << 3,
    kSCNetworkReachabilityFlagsConnectionAutomatic = kSCNetworkReachabilityFlagsConnectionOnTraffic,
    kSCNetworkReachabilityFlagsInterventionRequired = 1 << 4,
    kSCNetworkReachabilityFlagsConnectionOnDemand = 1 << 5,
    kSCNetworkReachabilityFlagsIsLocalAddress = 1 << 16,
    kSCNetworkReachabilityFlagsIsDirect = 1 << 17,
    kSCNetworkReachabilityFlagsIsWWAN = 1 << 18
};

typedef const struct __SCNetworkReachability *SCNetworkReachabilityRef;

typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
} SCNetworkReachabilityContext;

typedef void (*SCNetworkReachabilityCallBack)(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags,
                                              void *info);

/* ---------------------------------------------------------------------------------------------------- internals --- */

/* if_nametoindex, if_indextoname and inet_aton. <net/if.h> itself would be in the way of programs that include
 * <linux/if.h>, and <arpa/inet.h> does not declare inet_aton to those that ask for plain C. */
#define REACH_SC_LINK_NAME_SIZE 16
extern int reach_sc_inet_aton(const char *text, void *address) __asm__("inet_aton");
extern unsigned reach_sc_if_nametoindex(const char *name) __asm__("if_nametoindex");
extern char *reach_sc_if_indextoname(unsigned index, char *name) __asm__("if_indextoname");

/* A callback with its context. info is what the context's retain returned. Counted, so that a callout that is about to
 * retain info for itself keeps the context from being released under its hands. */
struct reach_sc_client {
    long references;
    SCNetworkReachabilityCallBack callout;
    SCNetworkReachabilityContext context;
};

struct reach_sc_entry {
    CFRunLoopRef loop;
    CFStringRef mode;
    unsigned long count;
};

struct __SCNetworkReachability {
#ifdef REACH_USE_COREFOUNDATION
    /* At least as large as any CFRuntimeBase, whatever the real library was compiled with. */
    char head[32];
#else
    struct reach_cf_object head;
#endif
    reach_target *target;
    char *text;                      /* what is asked about, for descriptions */
    pthread_mutex_t lock;            /* of what follows */
    struct reach_sc_client *client;  /* NULL for none */
    unsigned replacing;              /* calls of SetCallback that are between the old client and the new one */
    bool missed;                     /* there was a change meanwhile */
    SCNetworkReachabilityFlags told; /* by the last change */
    struct reach_sc_entry *entries;  /* run loops and modes; none when not on a run loop */
    size_t entry_count;
    CFRunLoopSourceRef source;       /* on a run loop */
    void *dispatch;                  /* on a dispatch queue: a struct reach_sc_dispatch */
    void (*dispatch_again)(void *dispatch);
    void (*dispatch_end)(void *dispatch);
};

typedef struct __SCNetworkReachability reach_sc_object;

static inline void reach_sc_client_release(struct reach_sc_client *client)
{
    if (client != NULL && __atomic_sub_fetch(&client->references, 1, __ATOMIC_ACQ_REL) == 0) {
        if (client->context.release != NULL) {
            client->context.release(client->context.info);
        }
        free(client);
    }
}

static inline void reach_sc_finalize(reach_sc_object *object)
{
    reach_sc_client_release(object->client);
    reach_release(object->target);
    free(object->text);
    pthread_mutex_destroy(&object->lock);
}

static inline char *reach_sc_describe(const reach_sc_object *object)
{
    return reach_cf_print("<SCNetworkReachability %p [0x0]> {%s}", (const void *)object, object->text);
}

/* How targets are objects of the CoreFoundation in use. */
#ifdef REACH_USE_COREFOUNDATION
static inline void reach_sc_class_finalize(CFTypeRef cf)
{
    reach_sc_finalize((reach_sc_object *)cf);
}

static inline CFStringRef reach_sc_class_describe(CFTypeRef cf)
{
    char *text = reach_sc_describe((const reach_sc_object *)cf);
    CFStringRef description = CFStringCreateWithCString(NULL, text, kCFStringEncodingUTF8);

    free(text);
    return description;
}

/* CoreFoundation keeps a pointer to the class. */
struct reach_sc_runtime {
    pthread_mutex_t lock;
    CFTypeID type;
    CFRuntimeClass type_class;
    reach_queue *queue; /* where targets on run loops are evaluated, as a CFRunLoop cannot drive a queue itself */
};

REACH_CF_SHARED struct reach_sc_runtime reach_sc_runtime_1 = {
    PTHREAD_MUTEX_INITIALIZER,
    0,
    {0, "SCNetworkReachability", NULL, NULL, reach_sc_class_finalize, NULL, NULL, NULL, reach_sc_class_describe, NULL,
     NULL, 0},
    NULL};

static inline CFTypeID SCNetworkReachabilityGetTypeID(void)
{
    CFTypeID type;

    pthread_mutex_lock(&reach_sc_runtime_1.lock);
    if (reach_sc_runtime_1.type == 0) {
        reach_sc_runtime_1.type = _CFRuntimeRegisterClass(&reach_sc_runtime_1.type_class);
    }
    type = reach_sc_runtime_1.type;
    pthread_mutex_unlock(&reach_sc_runtime_1.lock);
    return type;
}

static inline reach_sc_object *reach_sc_allocate(void)
{
    /* The base has at least two words, which do not count as extra bytes. */
    CFIndex extra = (CFIndex)(sizeof(reach_sc_object) - 2 * sizeof(uintptr_t));

    return (reach_sc_object *)_CFRuntimeCreateInstance(NULL, SCNetworkReachabilityGetTypeID(), extra, NULL);
}

static inline bool reach_sc_is_target(SCNetworkReachabilityRef target)
{
    return target != NULL && CFGetTypeID(target) == SCNetworkReachabilityGetTypeID();
}

static inline reach_queue *reach_sc_copy_queue(CFRunLoopRef loop)
{
    reach_queue *queue;

    (void)loop;
    pthread_mutex_lock(&reach_sc_runtime_1.lock);
    if (reach_sc_runtime_1.queue == NULL) {
        reach_sc_runtime_1.queue = reach_queue_create("SCNetworkReach");
    }
    queue = reach_queue_retain(reach_sc_runtime_1.queue);
    pthread_mutex_unlock(&reach_sc_runtime_1.lock);
    return queue;
}

/* Waits until the queue's thread is done with a target that was unscheduled: else the last reference could be that
 * thread's, and the client's info be released there. Only code of this header runs on that queue, so that it does not
 * take long. Not with an object's lock, which that code takes. */
static inline void reach_sc_settle(void)
{
    reach_queue *queue;

    pthread_mutex_lock(&reach_sc_runtime_1.lock);
    queue = reach_queue_retain(reach_sc_runtime_1.queue);
    pthread_mutex_unlock(&reach_sc_runtime_1.lock);
    if (queue != NULL) {
        (void)reach_queue_flush(queue);
    }
    reach_queue_release(queue);
}
#else
static inline void reach_sc_object_destroy(struct reach_cf_object *object)
{
    reach_sc_finalize((reach_sc_object *)(void *)object);
}

static inline char *reach_sc_object_describe(const struct reach_cf_object *object)
{
    return reach_sc_describe((const reach_sc_object *)(const void *)object);
}

static inline CFTypeID SCNetworkReachabilityGetTypeID(void)
{
    return REACH_CF_TYPE_NETWORK_REACHABILITY;
}

static inline reach_sc_object *reach_sc_allocate(void)
{
    return (reach_sc_object *)reach_cf_create(sizeof(reach_sc_object), REACH_CF_TYPE_NETWORK_REACHABILITY,
                                              reach_sc_object_destroy, reach_sc_object_describe);
}

static inline bool reach_sc_is_target(SCNetworkReachabilityRef target)
{
    return reach_cf_is(target, REACH_CF_TYPE_NETWORK_REACHABILITY);
}

static inline reach_queue *reach_sc_copy_queue(CFRunLoopRef loop)
{
    return reach_cf_run_loop_copy_queue(loop);
}

/* Loops drive their queues themselves. */
static inline void reach_sc_settle(void)
{
}
#endif

static inline Boolean reach_sc_ask(reach_target *target, SCNetworkReachabilityFlags *flags)
{
    return reach_get_flags(target, flags) ? TRUE : reach_sc_fail(errno);
}

/* Takes target and text over. */
static inline SCNetworkReachabilityRef reach_sc_create(reach_target *target, char *text)
{
    reach_sc_object *object = target == NULL ? NULL : reach_sc_allocate();

    if (object == NULL) {
        reach_release(target);
        free(text);
        (void)reach_sc_fail(kSCStatusInvalidArgument);
        return NULL;
    }
    object->target = target;
    object->text = text;
    pthread_mutex_init(&object->lock, NULL);
    return object;
}

/* The same pointer, about whose object the compiler knows nothing any more. Once these functions are inlined it would
 * else see that an IPv4 address of the caller's is too small for an IPv6 one, and warn of code that is not reached. */
static inline const struct sockaddr *reach_sc_some_address(const struct sockaddr *address)
{
    __asm__("" : "+r"(address));
    return address;
}

/* Linux addresses have no length of their own, so that it can only be the family's. 0 for other families. */
static inline socklen_t reach_sc_length(const struct sockaddr *address)
{
    switch (address == NULL ? AF_UNSPEC : address->sa_family) {
    case AF_INET:
        return sizeof(struct sockaddr_in);
    case AF_INET6:
        return sizeof(struct sockaddr_in6);
    default:
        return 0;
    }
}

/* An address in a description. */
struct reach_sc_address {
    int family; /* AF_UNSPEC for none */
    uint32_t scope;
    unsigned char bytes[16];
};

static inline struct reach_sc_address reach_sc_read_address(const struct sockaddr *address)
{
    struct reach_sc_address result;

    memset(&result, 0, sizeof result);
    result.family = address == NULL ? AF_UNSPEC : address->sa_family;
    if (result.family == AF_INET) {
        memcpy(result.bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    } else if (result.family == AF_INET6) {
        memcpy(result.bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
        result.scope = ((const struct sockaddr_in6 *)(const void *)address)->sin6_scope_id;
    }
    return result;
}

/* A link's name, or its number; one that no link has when there is none. */
static inline uint32_t reach_sc_read_scope(const char *text)
{
    const uint32_t none = 0x7fffffff;
    uint32_t number = reach_sc_if_nametoindex(text);

    if (number != 0) {
        return number;
    }
    for (; *text >= '0' && *text <= '9' && number < none / 10; text++) {
        number = number * 10 + (uint32_t)(*text - '0');
    }
    return *text == '\0' ? number : none;
}

/* The address that a name is, if it is one for reach_create_with_name. */
static inline struct reach_sc_address reach_sc_read_name(const char *name)
{
    struct reach_sc_address result;
    char *text = reach_cf_print("%s", name);
    char *percent = strchr(text, '%');

    memset(&result, 0, sizeof result);
    if (percent != NULL) {
        *percent = '\0';
    }
    if (percent == NULL || percent[1] != '\0') {
        if (reach_sc_inet_aton(text, result.bytes) != 0) {
            result.family = AF_INET;
        } else if (inet_pton(AF_INET6, text, result.bytes) == 1) {
            result.family = AF_INET6;
        }
    }
    if (result.family != AF_UNSPEC && percent != NULL) {
        result.scope = reach_sc_read_scope(percent + 1);
    }
    free(text);
    return result;
}

/* The bytes of an IPv4 address, also of one that is mapped into IPv6, which is taken for the same; or NULL. */
static inline const unsigned char *reach_sc_ipv4(const struct reach_sc_address *address)
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    if (address->family == AF_INET6 && memcmp(address->bytes, mapped, sizeof mapped) == 0) {
        return address->bytes + sizeof mapped;
    }
    return address->family == AF_INET ? address->bytes : NULL;
}

static inline bool reach_sc_is_loopback(const struct reach_sc_address *address)
{
    const unsigned char *bytes = reach_sc_ipv4(address);

    return bytes != NULL && bytes[0] == 127;
}

static inline char *reach_sc_address_text(const char *label, const struct reach_sc_address *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    char link[REACH_SC_LINK_NAME_SIZE] = "";

    if (address->family == AF_UNSPEC) {
        return reach_cf_print("%s", "");
    }
    (void)inet_ntop(address->family, address->bytes, text, sizeof text);
    if (address->scope == 0) {
        return reach_cf_print("%s = %s", label, text);
    }
    return reach_sc_if_indextoname(address->scope, link) == NULL
               ? reach_cf_print("%s = %s%%%u", label, text, address->scope)
               : reach_cf_print("%s = %s%%%s", label, text, link);
}

/* A single address. The zero address stands for the internet at large. */
static inline char *reach_sc_destination_text(const struct reach_sc_address *address)
{
    static const unsigned char zeros[16] = {0};
    const unsigned char *bytes = reach_sc_ipv4(address);
    bool is_zero = bytes != NULL ? memcmp(bytes, zeros, 4) == 0 : memcmp(address->bytes, zeros, sizeof zeros) == 0;

    return is_zero ? reach_cf_print("default path") : reach_sc_address_text("address", address);
}

/* Calls the client's callback, with flags as they are now. Not with a lock. flags are a stand-in in case that the
 * kernel cannot be asked. */
static inline void reach_sc_deliver(reach_sc_object *object, SCNetworkReachabilityFlags flags)
{
    struct reach_sc_client *client;

    pthread_mutex_lock(&object->lock);
    client = object->client;
    if (object->replacing > 0) {
        object->missed = true;
        client = NULL;
    } else if (client != NULL) {
        (void)__atomic_add_fetch(&client->references, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&object->lock);
    (void)reach_get_flags(object->target, &flags);
    if (client != NULL) {
        SCNetworkReachabilityCallBack callout = client->callout;
        const void *(*retain)(const void *) = client->context.retain;
        void (*release)(const void *) = client->context.release;
        void *info = client->context.info;

        /* A client that can retain protects its info by that alone. The info of one that cannot is protected by keeping
         * the context for as long as the callout runs. */
        if (retain != NULL) {
            info = (void *)retain(info);
            reach_sc_client_release(client);
        }
        if (callout != NULL) {
            callout(object, flags, info);
        }
        if (retain == NULL) {
            reach_sc_client_release(client);
        } else if (release != NULL) {
            release(info);
        }
    }
}

/* The release function of the reach_target's callback: the reference that a scheduled target has to itself. */
static inline void reach_sc_unschedule_self(void *object)
{
    CFRelease((CFTypeRef)object);
}

/* Unschedules the reach_target. With the object's lock, and with a reference of the caller's. */
static inline void reach_sc_stop(reach_sc_object *object)
{
    (void)reach_set_queue(object->target, NULL);
    (void)reach_set_callback(object->target, NULL, NULL, NULL);
    object->missed = false;
}

/* Schedules the reach_target. With the object's lock. */
static inline bool reach_sc_start(reach_sc_object *object, reach_queue *queue, reach_callback callback)
{
    CFRetain(object);
    if (!reach_set_callback(object->target, callback, object, reach_sc_unschedule_self)) {
        return false;
    }
    if (!reach_set_queue(object->target, queue)) {
        (void)reach_set_callback(object->target, NULL, NULL, NULL);
        return false;
    }
    return true;
}

/* Has one of the target's loops deliver: one that waits in a mode of the target if there is one, else the first. With
 * the object's lock. */
static inline void reach_sc_signal(reach_sc_object *object)
{
    CFRunLoopRef loop = object->entries[0].loop;
    size_t i;

    CFRunLoopSourceSignal(object->source);
    for (i = 0; i < object->entry_count; i++) {
        if (CFRunLoopIsWaiting(object->entries[i].loop)) {
            CFStringRef mode = CFRunLoopCopyCurrentMode(object->entries[i].loop);
            bool fits = mode != NULL && (CFEqual(mode, object->entries[i].mode) ||
                                         CFEqual(object->entries[i].mode, kCFRunLoopCommonModes));

            if (mode != NULL) {
                CFRelease(mode);
            }
            if (fits) {
                loop = object->entries[i].loop;
                break;
            }
        }
    }
    CFRunLoopWakeUp(loop);
}

/* The reach_target's callback on a run loop. */
static inline void reach_sc_changed(reach_target *target, reach_flags flags, void *info)
{
    reach_sc_object *object = (reach_sc_object *)info;

    (void)target;
    pthread_mutex_lock(&object->lock);
    object->told = flags;
    if (object->entry_count > 0) {
        reach_sc_signal(object);
    }
    pthread_mutex_unlock(&object->lock);
}

/* The run loop source's work. */
static inline void reach_sc_perform(void *info)
{
    reach_sc_object *object = (reach_sc_object *)info;
    SCNetworkReachabilityFlags flags;
    bool scheduled;

    pthread_mutex_lock(&object->lock);
    scheduled = object->entry_count > 0;
    flags = object->told;
    pthread_mutex_unlock(&object->lock);
    if (scheduled) {
        CFRetain(object);
        reach_sc_deliver(object, flags);
        CFRelease(object);
    }
}

static inline size_t reach_sc_find(const reach_sc_object *object, CFRunLoopRef loop, CFStringRef mode)
{
    size_t i;

    for (i = 0; i < object->entry_count; i++) {
        if (object->entries[i].loop == loop && CFEqual(object->entries[i].mode, mode)) {
            break;
        }
    }
    return i;
}

/* Puts the reach_target onto the loop's queue, and makes the source that its changes signal. With the object's lock. */
static inline bool reach_sc_start_on_run_loop(reach_sc_object *object, CFRunLoopRef loop)
{
    CFRunLoopSourceContext context;
    reach_queue *queue = reach_sc_copy_queue(loop);
    bool started;

    if (queue == NULL) {
        return false;
    }
    memset(&context, 0, sizeof context);
    context.info = object;
    context.retain = CFRetain;
    context.release = CFRelease;
    context.perform = reach_sc_perform;
    object->source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context);
    started = reach_sc_start(object, queue, reach_sc_changed);
    if (!started) {
        CFRelease(object->source);
        object->source = NULL;
    }
#ifndef REACH_USE_COREFOUNDATION
    if (started) {
        object->source->queue = reach_queue_retain(queue);
    }
#endif
    reach_queue_release(queue);
    return started;
}

/* With the object's lock, and with a reference of the caller's. */
static inline void reach_sc_remove_entry(reach_sc_object *object, size_t index)
{
    struct reach_sc_entry entry = object->entries[index];

    object->entry_count--;
    memmove(object->entries + index, object->entries + index + 1,
            (object->entry_count - index) * sizeof *object->entries);
    CFRunLoopRemoveSource(entry.loop, object->source, entry.mode);
    CFRelease(entry.loop);
    CFRelease(entry.mode);
    if (object->entry_count == 0) {
        reach_sc_stop(object);
        free(object->entries);
        object->entries = NULL;
        CFRelease(object->source);
        object->source = NULL;
    }
}

/* ---------------------------------------------------------------------------------------------------- functions --- */

static inline SCNetworkReachabilityRef SCNetworkReachabilityCreateWithAddress(CFAllocatorRef allocator,
                                                                              const struct sockaddr *address)
{
    struct reach_sc_address shown;
    reach_target *target;

    (void)allocator;
    address = reach_sc_some_address(address);
    target = reach_create_with_address(address, reach_sc_length(address));
    if (target == NULL) {
        return reach_sc_create(NULL, NULL);
    }
    shown = reach_sc_read_address(address);
    return reach_sc_create(target, reach_sc_destination_text(&shown));
}

static inline SCNetworkReachabilityRef SCNetworkReachabilityCreateWithAddressPair(CFAllocatorRef allocator,
                                                                                  const struct sockaddr *local,
                                                                                  const struct sockaddr *remote)
{
    reach_target *target;
    char *text = NULL;

    (void)allocator;
    local = reach_sc_some_address(local);
    remote = reach_sc_some_address(remote);
    target = reach_create_with_address_pair(local, reach_sc_length(local), remote, reach_sc_length(remote));
    if (target != NULL) {
        struct reach_sc_address shown_local = reach_sc_read_address(local);
        struct reach_sc_address shown_remote = reach_sc_read_address(remote);
        /* A local address in 127/8 says nothing about a remote one outside, and is left out by the library. */
        bool alone = remote != NULL && reach_sc_is_loopback(&shown_local) && !reach_sc_is_loopback(&shown_remote);
        char *local_text = alone ? NULL : reach_sc_address_text("local address", &shown_local);
        char *remote_text = reach_sc_address_text(alone ? "address" : "remote address", &shown_remote);

        text = alone ? reach_cf_print("%s", remote_text)
                     : reach_cf_print("%s%s%s", local_text, local != NULL && remote != NULL ? ", " : "", remote_text);
        free(local_text);
        free(remote_text);
    }
    return reach_sc_create(target, text);
}

static inline SCNetworkReachabilityRef SCNetworkReachabilityCreateWithName(CFAllocatorRef allocator, const char *name)
{
    reach_target *target = name == NULL ? NULL : reach_create_with_name(name);
    struct reach_sc_address shown;

    (void)allocator;
    if (target == NULL) {
        return reach_sc_create(NULL, NULL);
    }
    shown = reach_sc_read_name(name);
    return reach_sc_create(target, shown.family == AF_UNSPEC ? reach_cf_print("name = %s", name)
                                                             : reach_sc_destination_text(&shown));
}

static inline Boolean SCNetworkReachabilityGetFlags(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags *flags)
{
    if (!reach_sc_is_target(target) || flags == NULL) {
        return reach_sc_fail(kSCStatusInvalidArgument);
    }
    return reach_sc_ask(target->target, flags);
}

static inline Boolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target,
                                                       SCNetworkReachabilityCallBack callout,
                                                       SCNetworkReachabilityContext *context)
{
    reach_sc_object *object = (reach_sc_object *)(void *)target;
    struct reach_sc_client *client, *other;

    if (!reach_sc_is_target(target)) {
        return reach_sc_fail(kSCStatusInvalidArgument);
    }
    client = (struct reach_sc_client *)reach_cf_allocate(NULL, sizeof *client);
    memset(client, 0, sizeof *client);
    client->references = 1;
    client->callout = callout;

    /* The old context is released before the new one is retained, even when both have the same info. */
    CFRetain(target);
    pthread_mutex_lock(&object->lock);
    other = object->client;
    object->client = NULL;
    object->replacing++;
    pthread_mutex_unlock(&object->lock);
    reach_sc_client_release(other);

    if (context != NULL) {
        client->context = *context;
        if (context->retain != NULL) {
            client->context.info = (void *)context->retain(context->info);
        }
    }
    pthread_mutex_lock(&object->lock);
    other = object->client; /* of a call on another thread meanwhile, or from inside release or retain */
    object->client = client;
    object->replacing--;
    if (object->missed && object->replacing == 0) {
        object->missed = false;
        if (object->entry_count > 0) {
            reach_sc_signal(object);
        } else if (object->dispatch != NULL) {
            object->dispatch_again(object->dispatch);
        }
    }
    pthread_mutex_unlock(&object->lock);
    reach_sc_client_release(other);
    CFRelease(target);
    return TRUE;
}

static inline Boolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, CFRunLoopRef loop,
                                                               CFStringRef mode)
{
    reach_sc_object *object = (reach_sc_object *)(void *)target;
    int status = kSCStatusOK;
    size_t index;

    if (!reach_sc_is_target(target) || loop == NULL || mode == NULL) {
        return reach_sc_fail(kSCStatusInvalidArgument);
    }
    CFRetain(target);
    pthread_mutex_lock(&object->lock);
    index = reach_sc_find(object, loop, mode);
    if (object->dispatch != NULL) {
        status = kSCStatusInvalidArgument;
    } else if (index < object->entry_count) {
        object->entries[index].count++;
    } else if (object->entry_count == 0 && !reach_sc_start_on_run_loop(object, loop)) {
        status = kSCStatusFailed;
    } else {
        object->entries = (struct reach_sc_entry *)reach_cf_allocate(object->entries,
                                                                     (index + 1) * sizeof *object->entries);
        object->entries[index].loop = loop;
        object->entries[index].mode = mode;
        object->entries[index].count = 1;
        object->entry_count++;
        CFRetain(loop);
        CFRetain(mode);
        CFRunLoopAddSource(loop, object->source, mode);
    }
    pthread_mutex_unlock(&object->lock);
    CFRelease(target);
    return status == kSCStatusOK ? TRUE : reach_sc_fail(status);
}

static inline Boolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, CFRunLoopRef loop,
                                                                 CFStringRef mode)
{
    reach_sc_object *object = (reach_sc_object *)(void *)target;
    bool scheduled;
    size_t index;

    if (!reach_sc_is_target(target) || loop == NULL || mode == NULL) {
        return reach_sc_fail(kSCStatusInvalidArgument);
    }
    CFRetain(target);
    pthread_mutex_lock(&object->lock);
    scheduled = object->entry_count > 0;
    index = reach_sc_find(object, loop, mode);
    if (index < object->entry_count && --object->entries[index].count == 0) {
        reach_sc_remove_entry(object, index);
    }
    pthread_mutex_unlock(&object->lock);
    reach_sc_settle();
    CFRelease(target);
    return scheduled ? TRUE : reach_sc_fail(kSCStatusInvalidArgument);
}

#ifdef REACH_SC_HAS_DISPATCH

/* What a target on a dispatch queue has there. Counted: for the target, for the source until its cancellation is done,
 * and for each delivery that is on its way. */
struct reach_sc_dispatch {
    long references;
    reach_sc_object *object; /* retained only by what is on its way */
    reach_queue *queue;      /* retained */
    dispatch_queue_t serial; /* retained; targets the client's, and keeps it */
    dispatch_source_t source;
};

static inline void reach_sc_dispatch_release(void *info)
{
    struct reach_sc_dispatch *dispatch = (struct reach_sc_dispatch *)info;

    if (__atomic_sub_fetch(&dispatch->references, 1, __ATOMIC_ACQ_REL) == 0) {
        reach_queue_release(dispatch->queue);
        dispatch_release(dispatch->source);
        dispatch_release(dispatch->serial);
        free(dispatch);
    }
}

/* The source's work. */
static inline void reach_sc_dispatch_readable(void *info)
{
    struct reach_sc_dispatch *dispatch = (struct reach_sc_dispatch *)info;

    (void)reach_queue_dispatch(dispatch->queue, 0);
}

/* The reach_target's callback on a dispatch queue. */
static inline void reach_sc_dispatch_changed(reach_target *target, reach_flags flags, void *info)
{
    reach_sc_object *object = (reach_sc_object *)info;

    (void)target;
    pthread_mutex_lock(&object->lock);
    object->told = flags;
    pthread_mutex_unlock(&object->lock);
    reach_sc_deliver(object, flags);
}

/* A delivery that SetCallback has put off. */
static inline void reach_sc_dispatch_deliver(void *info)
{
    struct reach_sc_dispatch *dispatch = (struct reach_sc_dispatch *)info;
    reach_sc_object *object = dispatch->object;
    SCNetworkReachabilityFlags flags;
    bool scheduled;

    pthread_mutex_lock(&object->lock);
    scheduled = object->dispatch == dispatch;
    flags = object->told;
    pthread_mutex_unlock(&object->lock);
    if (scheduled) {
        reach_sc_deliver(object, flags);
    }
    reach_sc_dispatch_release(dispatch);
    CFRelease(object);
}

/* The functions through which what stands above reaches libdispatch, so that a program that uses no dispatch queue need
 * not be linked with it. Both with the object's lock. */
static inline void reach_sc_dispatch_again(void *info)
{
    struct reach_sc_dispatch *dispatch = (struct reach_sc_dispatch *)info;

    CFRetain(dispatch->object);
    (void)__atomic_add_fetch(&dispatch->references, 1, __ATOMIC_RELAXED);
    dispatch_async_f(dispatch->serial, dispatch, reach_sc_dispatch_deliver);
}

static inline void reach_sc_dispatch_end(void *info)
{
    struct reach_sc_dispatch *dispatch = (struct reach_sc_dispatch *)info;

    dispatch_source_cancel(dispatch->source);
    reach_sc_dispatch_release(dispatch);
}

/* With the object's lock. */
static inline bool reach_sc_dispatch_start(reach_sc_object *object, dispatch_queue_t client)
{
    reach_queue *queue = reach_queue_create_manual();
    struct reach_sc_dispatch *dispatch;

    if (queue == NULL) {
        return false;
    }
    if (!reach_sc_start(object, queue, reach_sc_dispatch_changed)) {
        reach_queue_release(queue);
        return false;
    }
    dispatch = (struct reach_sc_dispatch *)reach_cf_allocate(NULL, sizeof *dispatch);
    dispatch->references = 2;
    dispatch->object = object;
    dispatch->queue = queue;
    /* With the label of the client's, which a callout may ask for. */
    dispatch->serial = dispatch_queue_create(dispatch_queue_get_label(client), NULL);
    dispatch_set_target_queue(dispatch->serial, client);
    dispatch->source = dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)reach_queue_fd(queue), 0,
                                              dispatch->serial);
    dispatch_set_context(dispatch->source, dispatch);
    dispatch_source_set_event_handler_f(dispatch->source, reach_sc_dispatch_readable);
    /* Only after cancellation has nobody the descriptor any more, so that the queue may be closed. */
    dispatch_source_set_cancel_handler_f(dispatch->source, reach_sc_dispatch_release);
    dispatch_resume(dispatch->source);
    object->dispatch = dispatch;
    object->dispatch_again = reach_sc_dispatch_again;
    object->dispatch_end = reach_sc_dispatch_end;
    return true;
}

static inline Boolean SCNetworkReachabilitySetDispatchQueue(SCNetworkReachabilityRef target, dispatch_queue_t queue)
{
    reach_sc_object *object = (reach_sc_object *)(void *)target;
    int status = kSCStatusOK;

    if (!reach_sc_is_target(target)) {
        return reach_sc_fail(kSCStatusInvalidArgument);
    }
    CFRetain(target);
    pthread_mutex_lock(&object->lock);
    if (queue != NULL) {
        if (object->dispatch != NULL || object->entry_count > 0) {
            status = kSCStatusInvalidArgument;
        } else if (!reach_sc_dispatch_start(object, queue)) {
            status = kSCStatusFailed;
        }
    } else if (object->dispatch != NULL) {
        void *dispatch = object->dispatch;

        object->dispatch = NULL;
        reach_sc_stop(object);
        object->dispatch_end(dispatch);
    } else if (object->entry_count > 0) {
        /* As on macOS, this takes the target off all its run loops too. */
        while (object->entry_count > 0) {
            reach_sc_remove_entry(object, object->entry_count - 1);
        }
    } else {
        status = kSCStatusInvalidArgument;
    }
    pthread_mutex_unlock(&object->lock);
    reach_sc_settle();
    CFRelease(target);
    return status == kSCStatusOK ? TRUE : reach_sc_fail(status);
}

#endif /* REACH_SC_HAS_DISPATCH */

#ifdef __cplusplus
}
#endif

/* Apple's has it too. Here it comes last, as it is built upon this one. */
#include <SystemConfiguration/SCNetwork.h>

/* After every header that could define these members. */
#ifdef REACH_SIN_LEN
#define sin_len  sin_zero[0]
#define sin6_len sin6_flowinfo
#ifndef IN_LINKLOCALNETNUM
#define IN_LINKLOCALNETNUM ((in_addr_t)0xA9FE0000)
#endif
#endif
#ifdef REACH_SA_LEN
#define sa_len sa_data[13]
#define ss_len __ss_align
#endif

#endif
