/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Run loops with modes, sources (version 0) and timers. See CFBase.h.
 *
 * A run loop is its thread's manual reach_queue: the queue is made when the first target is scheduled on the loop, the
 * running loop polls the queue's descriptor, and what the queue reports signals sources. Signalling and performing are
 * two steps on purpose. A callout is never made from inside reach_queue_dispatch, so a callback may run the loop again;
 * and a source in several loops or modes is performed once, by the loop that gets to it first.
 *
 * When the program is linked with libdispatch, the loop of the main thread also serves the main dispatch queue, as on
 * macOS, and then never finds that it has nothing to wait for. Run loops do not survive fork.
 */
#include <CoreFoundation/CFBase.h>

#ifdef REACH_USE_COREFOUNDATION
#pragma GCC system_header
#include_next <CoreFoundation/CFRunLoop.h>
#elif !defined(REACH_CF_RUN_LOOP_H)
#define REACH_CF_RUN_LOOP_H

#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <reach.h>

#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFString.h>

CF_EXTERN_C_BEGIN

typedef struct __CFRunLoop *CFRunLoopRef;
typedef struct __CFRunLoopSource *CFRunLoopSourceRef;
typedef struct __CFRunLoopTimer *CFRunLoopTimerRef;
typedef CFStringRef CFRunLoopMode;
typedef SInt32 CFRunLoopRunResult;

enum {
    kCFRunLoopRunFinished = 1,
    kCFRunLoopRunStopped = 2,
    kCFRunLoopRunTimedOut = 3,
    kCFRunLoopRunHandledSource = 4
};

#define kCFRunLoopDefaultMode CFSTR("kCFRunLoopDefaultMode")
#define kCFRunLoopCommonModes CFSTR("kCFRunLoopCommonModes")

typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
    Boolean (*equal)(const void *info1, const void *info2);
    CFHashCode (*hash)(const void *info);
    void (*schedule)(void *info, CFRunLoopRef rl, CFRunLoopMode mode);
    void (*cancel)(void *info, CFRunLoopRef rl, CFRunLoopMode mode);
    void (*perform)(void *info);
} CFRunLoopSourceContext;

typedef void (*CFRunLoopTimerCallBack)(CFRunLoopTimerRef timer, void *info);

typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
} CFRunLoopTimerContext;

/* What a loop has in a mode: a source or a timer. */
struct reach_cf_member {
    struct reach_cf_object object;
    CFIndex order;
    bool valid; /* atomic; an invalid one is in no loop */
};

struct __CFRunLoopSource {
    struct reach_cf_member member;
    CFRunLoopSourceContext context;
    bool signalled;     /* atomic */
    reach_queue *queue; /* a queue that a loop with this source drives, retained; or NULL */
};

struct __CFRunLoopTimer {
    struct reach_cf_member member;
    CFRunLoopTimerContext context;
    CFRunLoopTimerCallBack callout;
    long users; /* atomic; of info: the timer while it is valid, and each callout. The last one releases info */
    double due; /* on the monotonic clock; read and written under the lock of all timers */
    double interval;
};

struct reach_cf_entry {
    CFRunLoopMode mode;             /* retained */
    struct reach_cf_member *member; /* retained */
};

struct __CFRunLoop {
    struct reach_cf_object object;
    CFRunLoopRef previous, next; /* of all loops; under their lock */
    int wake;             /* an event descriptor, written by CFRunLoopWakeUp */
    bool waiting;         /* atomic: about to poll, or polling */
    bool stopped;         /* atomic: the innermost run is to end */
    bool draining;        /* the loop's thread is inside the main dispatch queue, which must not be entered again */
    pthread_mutex_t lock; /* of what follows */
    CFRunLoopMode mode;   /* of the innermost run, NULL when the loop is not running */
    reach_queue *queue;   /* NULL until something is scheduled */
    struct reach_cf_entry *entries;
    size_t count;
    CFRunLoopMode *common; /* common modes beside the default one, retained */
    size_t common_count;
};

/* What all files of the program share: the loop of the main thread, which stays once it was asked for, all loops, so
 * that those are found that a source or timer is in, and the locks. */
struct reach_cf_run_loops {
    pthread_mutex_t lock;
    pthread_mutex_t timers;
    pthread_mutex_t all;
    CFRunLoopRef main;  /* atomic; written under the lock */
    CFRunLoopRef first; /* under the lock of all; not retained: a loop that ends takes itself out */
    size_t count;
};

REACH_CF_SHARED struct reach_cf_run_loops reach_cf_run_loops_1 = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, NULL, NULL, 0};
REACH_CF_SHARED __thread CFRunLoopRef reach_cf_run_loop_1 = NULL;

/* How libc's own thread-local destructors are registered: unlike pthread_key_create, it keeps a shared library that was
 * opened with dlopen, and whose code this is, from being unloaded before the thread has ended. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

extern long reach_cf_syscall(long number, ...) __asm__("syscall");

#ifndef REACH_NO_DISPATCH
/* How libdispatch lends its main queue to a run loop; NULL without libdispatch. */
extern int reach_cf_main_queue_descriptor(void) __asm__("_dispatch_get_main_queue_handle_4CF") __attribute__((weak));
extern void reach_cf_main_queue_drain(void *message) __asm__("_dispatch_main_queue_callback_4CF") __attribute__((weak));
#endif

static inline CFTypeID CFRunLoopGetTypeID(void)
{
    return REACH_CF_TYPE_RUN_LOOP;
}

/* ------------------------------------------------------------------------------------------- sources and timers --- */

static inline CFTypeID CFRunLoopSourceGetTypeID(void)
{
    return REACH_CF_TYPE_RUN_LOOP_SOURCE;
}

static inline CFTypeID CFRunLoopTimerGetTypeID(void)
{
    return REACH_CF_TYPE_RUN_LOOP_TIMER;
}

static inline void reach_cf_source_destroy(struct reach_cf_object *object)
{
    CFRunLoopSourceRef source = (CFRunLoopSourceRef)(void *)object;

    if (source->context.release != NULL) {
        source->context.release(source->context.info);
    }
    reach_queue_release(source->queue);
}

static inline CFRunLoopSourceRef CFRunLoopSourceCreate(CFAllocatorRef allocator, CFIndex order,
                                                       CFRunLoopSourceContext *context)
{
    CFRunLoopSourceRef source;

    (void)allocator;
    if (context == NULL || context->version != 0) {
        return NULL;
    }
    source = (CFRunLoopSourceRef)reach_cf_create(sizeof *source, REACH_CF_TYPE_RUN_LOOP_SOURCE, reach_cf_source_destroy,
                                                 NULL);
    source->member.order = order;
    source->member.valid = true;
    source->context = *context;
    if (context->retain != NULL) {
        source->context.info = (void *)context->retain(context->info);
    }
    return source;
}

static inline void CFRunLoopSourceSignal(CFRunLoopSourceRef source)
{
    if (reach_cf_is(source, REACH_CF_TYPE_RUN_LOOP_SOURCE)) {
        __atomic_store_n(&source->signalled, true, __ATOMIC_SEQ_CST);
    }
}

static inline Boolean CFRunLoopSourceIsValid(CFRunLoopSourceRef source)
{
    return reach_cf_is(source, REACH_CF_TYPE_RUN_LOOP_SOURCE) &&
           __atomic_load_n(&source->member.valid, __ATOMIC_ACQUIRE);
}

/* Keeps info for a callout, unless it is released already. */
static inline bool reach_cf_timer_use(CFRunLoopTimerRef timer)
{
    long users = __atomic_load_n(&timer->users, __ATOMIC_RELAXED);

    while (users > 0 && !__atomic_compare_exchange_n(&timer->users, &users, users + 1, true, __ATOMIC_ACQUIRE,
                                                     __ATOMIC_RELAXED)) {
    }
    return users > 0;
}

static inline void reach_cf_timer_leave(CFRunLoopTimerRef timer)
{
    if (__atomic_sub_fetch(&timer->users, 1, __ATOMIC_ACQ_REL) == 0 && timer->context.release != NULL) {
        timer->context.release(timer->context.info);
    }
}

static inline void reach_cf_timer_destroy(struct reach_cf_object *object)
{
    CFRunLoopTimerRef timer = (CFRunLoopTimerRef)(void *)object;

    if (timer->member.valid) {
        reach_cf_timer_leave(timer);
    }
}

static inline CFRunLoopTimerRef CFRunLoopTimerCreate(CFAllocatorRef allocator, CFAbsoluteTime fire_date,
                                                     CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
                                                     CFRunLoopTimerCallBack callout, CFRunLoopTimerContext *context)
{
    CFRunLoopTimerRef timer = (CFRunLoopTimerRef)reach_cf_create(sizeof *timer, REACH_CF_TYPE_RUN_LOOP_TIMER,
                                                                 reach_cf_timer_destroy, NULL);

    (void)allocator;
    (void)flags;
    timer->member.order = order;
    timer->member.valid = true;
    timer->callout = callout;
    timer->users = 1;
    timer->due = reach_cf_clock(REACH_CF_CLOCK_MONOTONIC) + (fire_date - CFAbsoluteTimeGetCurrent());
    timer->interval = interval > 0 ? interval : 0;
    if (context != NULL) {
        timer->context = *context;
        if (context->retain != NULL) {
            timer->context.info = (void *)context->retain(context->info);
        }
    }
    return timer;
}

static inline Boolean CFRunLoopTimerIsValid(CFRunLoopTimerRef timer)
{
    return reach_cf_is(timer, REACH_CF_TYPE_RUN_LOOP_TIMER) && __atomic_load_n(&timer->member.valid, __ATOMIC_ACQUIRE);
}

static inline Boolean CFRunLoopTimerDoesRepeat(CFRunLoopTimerRef timer)
{
    return reach_cf_is(timer, REACH_CF_TYPE_RUN_LOOP_TIMER) && timer->interval > 0;
}

static inline double reach_cf_timer_due(CFRunLoopTimerRef timer)
{
    double due;

    pthread_mutex_lock(&reach_cf_run_loops_1.timers);
    due = timer->due;
    pthread_mutex_unlock(&reach_cf_run_loops_1.timers);
    return due;
}

static inline CFAbsoluteTime CFRunLoopTimerGetNextFireDate(CFRunLoopTimerRef timer)
{
    return CFRunLoopTimerIsValid(timer)
               ? reach_cf_timer_due(timer) - reach_cf_clock(REACH_CF_CLOCK_MONOTONIC) + CFAbsoluteTimeGetCurrent()
               : 0;
}

/* --------------------------------------------------------------------------------------------------------- loops ---
 * */

static inline void reach_cf_run_loop_destroy(struct reach_cf_object *object)
{
    CFRunLoopRef loop = (CFRunLoopRef)(void *)object;
    size_t i;

    pthread_mutex_lock(&reach_cf_run_loops_1.all);
    *(loop->previous == NULL ? &reach_cf_run_loops_1.first : &loop->previous->next) = loop->next;
    if (loop->next != NULL) {
        loop->next->previous = loop->previous;
    }
    reach_cf_run_loops_1.count--;
    pthread_mutex_unlock(&reach_cf_run_loops_1.all);
    for (i = 0; i < loop->count; i++) {
        CFRelease(loop->entries[i].mode);
        CFRelease(loop->entries[i].member);
    }
    for (i = 0; i < loop->common_count; i++) {
        CFRelease(loop->common[i]);
    }
    free(loop->entries);
    free(loop->common);
    reach_queue_release(loop->queue);
    close(loop->wake);
    pthread_mutex_destroy(&loop->lock);
}

/* NULL when there is no descriptor left: then nothing can be scheduled on the loop, and it does not run. */
static inline CFRunLoopRef reach_cf_run_loop_create(void)
{
    int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    CFRunLoopRef loop;

    if (wake < 0) {
        return NULL;
    }
    loop = (CFRunLoopRef)reach_cf_create(sizeof *loop, REACH_CF_TYPE_RUN_LOOP, reach_cf_run_loop_destroy, NULL);
    loop->wake = wake;
    pthread_mutex_init(&loop->lock, NULL);
    pthread_mutex_lock(&reach_cf_run_loops_1.all);
    loop->next = reach_cf_run_loops_1.first;
    if (loop->next != NULL) {
        loop->next->previous = loop;
    }
    reach_cf_run_loops_1.first = loop;
    reach_cf_run_loops_1.count++;
    pthread_mutex_unlock(&reach_cf_run_loops_1.all);
    return loop;
}

/* All loops that there are, retained. */
struct reach_cf_loops {
    CFRunLoopRef *list;
    size_t count;
};

static inline struct reach_cf_loops reach_cf_loops_copy(void)
{
    struct reach_cf_loops loops = {NULL, 0};
    CFRunLoopRef loop;

    pthread_mutex_lock(&reach_cf_run_loops_1.all);
    loops.list = (CFRunLoopRef *)reach_cf_allocate(NULL, (reach_cf_run_loops_1.count + 1) * sizeof *loops.list);
    for (loop = reach_cf_run_loops_1.first; loop != NULL; loop = loop->next) {
        long references = __atomic_load_n(&loop->object.references, __ATOMIC_RELAXED);

        /* One without references is about to take itself out. */
        while (references > 0 && !__atomic_compare_exchange_n(&loop->object.references, &references, references + 1,
                                                              true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
        if (references > 0) {
            loops.list[loops.count++] = loop;
        }
    }
    pthread_mutex_unlock(&reach_cf_run_loops_1.all);
    return loops;
}

static inline void reach_cf_loops_release(struct reach_cf_loops loops)
{
    size_t i;

    for (i = 0; i < loops.count; i++) {
        CFRelease(loops.list[i]);
    }
    free(loops.list);
}

static inline void reach_cf_run_loop_end(void *loop)
{
    reach_cf_run_loop_1 = NULL;
    CFRelease(loop);
}

static inline CFRunLoopRef CFRunLoopGetMain(void)
{
    CFRunLoopRef loop;

    pthread_mutex_lock(&reach_cf_run_loops_1.lock);
    loop = __atomic_load_n(&reach_cf_run_loops_1.main, __ATOMIC_ACQUIRE);
    if (loop == NULL) {
        loop = reach_cf_run_loop_create();
        __atomic_store_n(&reach_cf_run_loops_1.main, loop, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&reach_cf_run_loops_1.lock);
    return loop;
}

static inline CFRunLoopRef CFRunLoopGetCurrent(void)
{
    if (reach_cf_run_loop_1 == NULL) {
        if (reach_cf_syscall(SYS_gettid) == (long)getpid()) {
            reach_cf_run_loop_1 = CFRunLoopGetMain();
        } else {
            reach_cf_run_loop_1 = reach_cf_run_loop_create();
            if (reach_cf_run_loop_1 != NULL) {
                (void)__cxa_thread_atexit_impl(reach_cf_run_loop_end, reach_cf_run_loop_1, &__dso_handle);
            }
        }
    }
    return reach_cf_run_loop_1;
}

static inline void CFRunLoopWakeUp(CFRunLoopRef loop)
{
    if (reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP)) {
        (void)eventfd_write(loop->wake, 1);
    }
}

/* Ends the innermost run. As on macOS, a loop that is not running does not remember it. */
static inline void CFRunLoopStop(CFRunLoopRef loop)
{
    if (reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP)) {
        __atomic_store_n(&loop->stopped, true, __ATOMIC_SEQ_CST);
        CFRunLoopWakeUp(loop);
    }
}

static inline Boolean CFRunLoopIsWaiting(CFRunLoopRef loop)
{
    return reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP) && __atomic_load_n(&loop->waiting, __ATOMIC_SEQ_CST);
}

static inline CFRunLoopMode CFRunLoopCopyCurrentMode(CFRunLoopRef loop)
{
    CFRunLoopMode mode = NULL;

    if (reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP)) {
        pthread_mutex_lock(&loop->lock);
        mode = (CFRunLoopMode)CFRetain(loop->mode);
        pthread_mutex_unlock(&loop->lock);
    }
    return mode;
}

/* With the loop's lock. */
static inline bool reach_cf_is_common(CFRunLoopRef loop, CFRunLoopMode mode)
{
    size_t i;

    for (i = 0; i < loop->common_count; i++) {
        if (CFEqual(loop->common[i], mode)) {
            return true;
        }
    }
    return CFEqual(mode, kCFRunLoopDefaultMode);
}

static inline void CFRunLoopAddCommonMode(CFRunLoopRef loop, CFRunLoopMode mode)
{
    if (!reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP) || mode == NULL) {
        return;
    }
    pthread_mutex_lock(&loop->lock);
    if (!reach_cf_is_common(loop, mode)) {
        loop->common = (CFRunLoopMode *)reach_cf_allocate(loop->common,
                                                          (loop->common_count + 1) * sizeof *loop->common);
        loop->common[loop->common_count++] = (CFRunLoopMode)CFRetain(mode);
    }
    pthread_mutex_unlock(&loop->lock);
}

/* With the loop's lock: where a member stands in a mode, or where it is to be inserted when it does not. */
static inline bool reach_cf_find(CFRunLoopRef loop, const struct reach_cf_member *member, CFRunLoopMode mode,
                                 size_t *index)
{
    size_t i;

    for (i = 0; i < loop->count; i++) {
        if (loop->entries[i].member == member && CFEqual(loop->entries[i].mode, mode)) {
            *index = i;
            return true;
        }
    }
    for (i = loop->count; i > 0 && loop->entries[i - 1].member->order > member->order; i--) {
    }
    *index = i;
    return false;
}

static inline bool reach_cf_add(CFRunLoopRef loop, struct reach_cf_member *member, CFRunLoopMode mode)
{
    size_t index = 0;
    bool found;

    if (!reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP) || mode == NULL) {
        return false;
    }
    pthread_mutex_lock(&loop->lock);
    /* One that becomes invalid is taken out of the loops after that, with their locks: so it cannot be left in one. */
    found = !__atomic_load_n(&member->valid, __ATOMIC_ACQUIRE) || reach_cf_find(loop, member, mode, &index);
    if (!found) {
        loop->entries = (struct reach_cf_entry *)reach_cf_allocate(loop->entries,
                                                                   (loop->count + 1) * sizeof *loop->entries);
        memmove(loop->entries + index + 1, loop->entries + index, (loop->count - index) * sizeof *loop->entries);
        loop->entries[index].mode = (CFRunLoopMode)CFRetain(mode);
        loop->entries[index].member = (struct reach_cf_member *)(void *)CFRetain(member);
        loop->count++;
    }
    pthread_mutex_unlock(&loop->lock);
    CFRunLoopWakeUp(loop);
    return !found;
}

static inline bool reach_cf_remove(CFRunLoopRef loop, struct reach_cf_member *member, CFRunLoopMode mode)
{
    struct reach_cf_entry entry = {NULL, NULL};
    size_t index;

    if (!reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP) || mode == NULL) {
        return false;
    }
    pthread_mutex_lock(&loop->lock);
    if (reach_cf_find(loop, member, mode, &index)) {
        entry = loop->entries[index];
        loop->count--;
        memmove(loop->entries + index, loop->entries + index + 1, (loop->count - index) * sizeof *loop->entries);
    }
    pthread_mutex_unlock(&loop->lock);
    CFRelease(entry.mode);
    CFRelease(entry.member);
    return entry.member != NULL;
}

static inline Boolean CFRunLoopContainsSource(CFRunLoopRef loop, CFRunLoopSourceRef source, CFRunLoopMode mode)
{
    size_t index;
    bool found;

    if (!reach_cf_is(loop, REACH_CF_TYPE_RUN_LOOP) || mode == NULL) {
        return FALSE;
    }
    pthread_mutex_lock(&loop->lock);
    found = reach_cf_find(loop, (const struct reach_cf_member *)source, mode, &index);
    pthread_mutex_unlock(&loop->lock);
    return found;
}

static inline void CFRunLoopAddSource(CFRunLoopRef loop, CFRunLoopSourceRef source, CFRunLoopMode mode)
{
    if (CFRunLoopSourceIsValid(source) && reach_cf_add(loop, &source->member, mode) &&
        source->context.schedule != NULL) {
        source->context.schedule(source->context.info, loop, mode);
    }
}

static inline void CFRunLoopRemoveSource(CFRunLoopRef loop, CFRunLoopSourceRef source, CFRunLoopMode mode)
{
    if (reach_cf_is(source, REACH_CF_TYPE_RUN_LOOP_SOURCE)) {
        CFRetain(source);
        if (reach_cf_remove(loop, &source->member, mode) && source->context.cancel != NULL) {
            source->context.cancel(source->context.info, loop, mode);
        }
        CFRelease(source);
    }
}

/* Takes a member out of one mode of the loop that it is in, whichever. Returns the mode, NULL for none. What the entry
 * had, a reference to the mode and one to the member, becomes the caller's. */
static inline CFRunLoopMode reach_cf_take_out(CFRunLoopRef loop, struct reach_cf_member *member)
{
    CFRunLoopMode mode = NULL;
    size_t i;

    pthread_mutex_lock(&loop->lock);
    for (i = 0; i < loop->count && loop->entries[i].member != member; i++) {
    }
    if (i < loop->count) {
        mode = loop->entries[i].mode;
        loop->count--;
        memmove(loop->entries + i, loop->entries + i + 1, (loop->count - i) * sizeof *loop->entries);
    }
    pthread_mutex_unlock(&loop->lock);
    return mode;
}

/* Makes a member invalid and takes it out of all loops. False when it was invalid already. A source's cancel function
 * is called for each loop and mode, without a lock. With a reference of the caller's. */
static inline bool reach_cf_invalidate(struct reach_cf_member *member, CFRunLoopSourceRef source)
{
    struct reach_cf_loops loops;
    CFRunLoopMode mode;
    size_t i;

    if (!__atomic_exchange_n(&member->valid, false, __ATOMIC_ACQ_REL)) {
        return false;
    }
    loops = reach_cf_loops_copy();
    for (i = 0; i < loops.count; i++) {
        while ((mode = reach_cf_take_out(loops.list[i], member)) != NULL) {
            if (source != NULL && source->context.cancel != NULL) {
                source->context.cancel(source->context.info, loops.list[i], mode);
            }
            CFRelease(mode);
            CFRelease(member);
        }
    }
    reach_cf_loops_release(loops);
    return true;
}

/* The context's info stays until the last reference to the source is gone, as on macOS. */
static inline void CFRunLoopSourceInvalidate(CFRunLoopSourceRef source)
{
    if (reach_cf_is(source, REACH_CF_TYPE_RUN_LOOP_SOURCE)) {
        CFRetain(source);
        (void)reach_cf_invalidate(&source->member, source);
        CFRelease(source);
    }
}

/* The context's info is released, or when a callout is under way, at the end of that. */
static inline void CFRunLoopTimerInvalidate(CFRunLoopTimerRef timer)
{
    if (reach_cf_is(timer, REACH_CF_TYPE_RUN_LOOP_TIMER)) {
        CFRetain(timer);
        if (reach_cf_invalidate(&timer->member, NULL)) {
            reach_cf_timer_leave(timer);
        }
        CFRelease(timer);
    }
}

/* A loop that is waiting for the old time is woken up; one that is not yet looks at the time after it has said so. */
static inline void CFRunLoopTimerSetNextFireDate(CFRunLoopTimerRef timer, CFAbsoluteTime fire_date)
{
    if (reach_cf_is(timer, REACH_CF_TYPE_RUN_LOOP_TIMER)) {
        struct reach_cf_loops loops;
        size_t i, entry;

        pthread_mutex_lock(&reach_cf_run_loops_1.timers);
        timer->due = reach_cf_clock(REACH_CF_CLOCK_MONOTONIC) + (fire_date - CFAbsoluteTimeGetCurrent());
        pthread_mutex_unlock(&reach_cf_run_loops_1.timers);
        loops = reach_cf_loops_copy();
        for (i = 0; i < loops.count; i++) {
            CFRunLoopRef loop = loops.list[i];

            pthread_mutex_lock(&loop->lock);
            for (entry = 0; entry < loop->count && loop->entries[entry].member != &timer->member; entry++) {
            }
            if (entry < loop->count && __atomic_load_n(&loop->waiting, __ATOMIC_SEQ_CST)) {
                CFRunLoopWakeUp(loop);
            }
            pthread_mutex_unlock(&loop->lock);
        }
        reach_cf_loops_release(loops);
    }
}

static inline void CFRunLoopAddTimer(CFRunLoopRef loop, CFRunLoopTimerRef timer, CFRunLoopMode mode)
{
    if (CFRunLoopTimerIsValid(timer)) {
        (void)reach_cf_add(loop, &timer->member, mode);
    }
}

static inline void CFRunLoopRemoveTimer(CFRunLoopRef loop, CFRunLoopTimerRef timer, CFRunLoopMode mode)
{
    if (reach_cf_is(timer, REACH_CF_TYPE_RUN_LOOP_TIMER)) {
        (void)reach_cf_remove(loop, &timer->member, mode);
    }
}

/* The loop's queue with a reference for the caller; NULL when it cannot be had. */
static inline reach_queue *reach_cf_run_loop_copy_queue(CFRunLoopRef loop)
{
    reach_queue *queue;

    pthread_mutex_lock(&loop->lock);
    if (loop->queue == NULL) {
        loop->queue = reach_queue_create_manual();
    }
    queue = reach_queue_retain(loop->queue);
    pthread_mutex_unlock(&loop->lock);
    return queue;
}

/* ------------------------------------------------------------------------------------------------------- running ---
 * */

/* The members of a loop's mode at one moment, retained. */
struct reach_cf_members {
    struct reach_cf_member **list;
    size_t count;
};

static inline struct reach_cf_members reach_cf_members_copy(CFRunLoopRef loop, CFRunLoopMode mode)
{
    struct reach_cf_members members = {NULL, 0};
    bool common;
    size_t i;

    pthread_mutex_lock(&loop->lock);
    common = reach_cf_is_common(loop, mode);
    members.list = (struct reach_cf_member **)reach_cf_allocate(NULL, (loop->count + 1) * sizeof *members.list);
    for (i = 0; i < loop->count; i++) {
        struct reach_cf_entry entry = loop->entries[i];

        if (CFEqual(entry.mode, mode) || (common && CFEqual(entry.mode, kCFRunLoopCommonModes))) {
            members.list[members.count++] = (struct reach_cf_member *)(void *)CFRetain(entry.member);
        }
    }
    pthread_mutex_unlock(&loop->lock);
    return members;
}

static inline void reach_cf_members_release(struct reach_cf_members members)
{
    size_t i;

    for (i = 0; i < members.count; i++) {
        CFRelease(members.list[i]);
    }
    free(members.list);
}

static inline CFRunLoopSourceRef reach_cf_as_source(struct reach_cf_member *member)
{
    return member->object.type == REACH_CF_TYPE_RUN_LOOP_SOURCE ? (CFRunLoopSourceRef)(void *)member : NULL;
}

/* Whether a member is in the mode still. The callout before may have taken it out. */
static inline bool reach_cf_run_loop_has(CFRunLoopRef loop, CFRunLoopMode mode, struct reach_cf_member *member)
{
    size_t index;
    bool has;

    pthread_mutex_lock(&loop->lock);
    has = reach_cf_find(loop, member, mode, &index) ||
          (reach_cf_is_common(loop, mode) && reach_cf_find(loop, member, kCFRunLoopCommonModes, &index));
    pthread_mutex_unlock(&loop->lock);
    return has && __atomic_load_n(&member->valid, __ATOMIC_ACQUIRE);
}

/* Whether a timer is due, which is then set to its next time. Times that were missed are left out; one that does not
 * repeat stays in its loops until its callout has ended, but is not due again by itself. */
static inline bool reach_cf_timer_take(CFRunLoopTimerRef timer)
{
    double now = reach_cf_clock(REACH_CF_CLOCK_MONOTONIC);
    bool due;

    pthread_mutex_lock(&reach_cf_run_loops_1.timers);
    due = timer->due <= now;
    if (due && !(timer->interval > 0)) {
        timer->due = HUGE_VAL;
    } else if (due) {
        double missed = (now - timer->due) / timer->interval;

        /* In step with the first time, unless that lies too far back for its step to be known. */
        timer->due = missed < 1e15 ? timer->due + timer->interval * (1.0 + (double)(uint64_t)missed)
                                   : now + timer->interval;
    }
    pthread_mutex_unlock(&reach_cf_run_loops_1.timers);
    return due;
}

static inline void reach_cf_timer_fire(CFRunLoopTimerRef timer)
{
    if (!reach_cf_timer_use(timer)) {
        return;
    }
    if (timer->callout != NULL) {
        timer->callout(timer, timer->context.info);
    }
    if (!(timer->interval > 0)) {
        CFRunLoopTimerInvalidate(timer);
    }
    reach_cf_timer_leave(timer);
}

/* Performs the sources that are signalled and fires the timers that are due. True when there was such a source. */
static inline bool reach_cf_run_loop_perform(CFRunLoopRef loop, CFRunLoopMode mode, struct reach_cf_members members)
{
    bool handled = false;
    size_t i;

    for (i = 0; i < members.count; i++) {
        struct reach_cf_member *member = members.list[i];
        CFRunLoopSourceRef source = reach_cf_as_source(member);

        if (source != NULL) {
            if (__atomic_load_n(&source->signalled, __ATOMIC_SEQ_CST) && reach_cf_run_loop_has(loop, mode, member) &&
                __atomic_exchange_n(&source->signalled, false, __ATOMIC_SEQ_CST)) {
                handled = true;
                if (source->context.perform != NULL) {
                    source->context.perform(source->context.info);
                }
            }
        } else {
            CFRunLoopTimerRef timer = (CFRunLoopTimerRef)(void *)member;

            if (reach_cf_run_loop_has(loop, mode, member) && reach_cf_timer_take(timer)) {
                reach_cf_timer_fire(timer);
            }
        }
    }
    return handled;
}

/* What a loop waits for. Of the members only the queues are held on to meanwhile, so that a target that another thread
 * unschedules and releases is gone at once. */
struct reach_cf_wait {
    struct pollfd *polls; /* the loop's own descriptor, the queues', the main dispatch queue's */
    nfds_t poll_count;
    reach_queue **queues; /* polls[i + 1] is the descriptor of queues[i] */
    size_t queue_count;
    int main_queue; /* -1 for none */
    bool ready;     /* a source is signalled already */
    double until;
};

/* The main dispatch queue's descriptor, -1 when this is not its loop or mode. */
static inline int reach_cf_run_loop_main_queue(CFRunLoopRef loop, CFRunLoopMode mode)
{
#ifndef REACH_NO_DISPATCH
    if (loop == __atomic_load_n(&reach_cf_run_loops_1.main, __ATOMIC_ACQUIRE) && !loop->draining &&
        reach_cf_main_queue_descriptor != NULL && reach_cf_main_queue_drain != NULL) {
        bool common;

        pthread_mutex_lock(&loop->lock);
        common = reach_cf_is_common(loop, mode);
        pthread_mutex_unlock(&loop->lock);
        return common ? reach_cf_main_queue_descriptor() : -1;
    }
#else
    (void)loop;
    (void)mode;
#endif
    return -1;
}

static inline void reach_cf_wait_add_queue(struct reach_cf_wait *wait, reach_queue *queue)
{
    size_t i;

    for (i = 0; i < wait->queue_count; i++) {
        if (wait->queues[i] == queue) {
            return;
        }
    }
    wait->queues[wait->queue_count++] = reach_queue_retain(queue);
}

static inline struct reach_cf_wait reach_cf_wait_prepare(CFRunLoopRef loop, struct reach_cf_members members,
                                                         int main_queue, double until)
{
    struct reach_cf_wait wait;
    size_t i;

    memset(&wait, 0, sizeof wait);
    wait.main_queue = main_queue;
    wait.until = until;
    wait.polls = (struct pollfd *)reach_cf_allocate(NULL, (members.count + 2) * sizeof *wait.polls);
    wait.queues = (reach_queue **)reach_cf_allocate(NULL, (members.count + 1) * sizeof *wait.queues);

    /* Whoever signals a source looks for a waiting loop afterwards, so being about to wait is told before looking. */
    __atomic_store_n(&loop->waiting, true, __ATOMIC_SEQ_CST);
    for (i = 0; i < members.count; i++) {
        CFRunLoopSourceRef source = reach_cf_as_source(members.list[i]);

        if (source == NULL) {
            double due = reach_cf_timer_due((CFRunLoopTimerRef)(void *)members.list[i]);

            wait.until = due < wait.until ? due : wait.until;
        } else {
            wait.ready = wait.ready || __atomic_load_n(&source->signalled, __ATOMIC_SEQ_CST);
            if (source->queue != NULL) {
                reach_cf_wait_add_queue(&wait, source->queue);
            }
        }
    }
    wait.polls[wait.poll_count++].fd = loop->wake;
    for (i = 0; i < wait.queue_count; i++) {
        wait.polls[wait.poll_count++].fd = reach_queue_fd(wait.queues[i]);
    }
    wait.polls[wait.poll_count++].fd = main_queue;
    for (i = 0; i < wait.poll_count; i++) {
        wait.polls[i].events = POLLIN;
        wait.polls[i].revents = 0;
    }
    return wait;
}

/* Waits, then has the queues signal their sources. */
static inline void reach_cf_wait_end(CFRunLoopRef loop, struct reach_cf_wait wait)
{
    double left = wait.until - reach_cf_clock(REACH_CF_CLOCK_MONOTONIC);
    int timeout = wait.ready || left <= 0 ? 0 : left >= INT_MAX / 1000 ? INT_MAX : (int)(left * 1000) + 1;
    eventfd_t ignored;
    size_t i;

    (void)poll(wait.polls, wait.poll_count, timeout);
    __atomic_store_n(&loop->waiting, false, __ATOMIC_SEQ_CST);
    if (wait.polls[0].revents != 0) {
        (void)eventfd_read(loop->wake, &ignored);
    }
    for (i = 0; i < wait.queue_count; i++) {
        /* Another loop may be in the queue already (EBUSY), which then does what is due. */
        if (wait.polls[i + 1].revents != 0) {
            (void)reach_queue_dispatch(wait.queues[i], 0);
        }
        reach_queue_release(wait.queues[i]);
    }
#ifndef REACH_NO_DISPATCH
    if (wait.main_queue >= 0 && wait.polls[wait.poll_count - 1].revents != 0 &&
        eventfd_read(wait.main_queue, &ignored) == 0) {
        loop->draining = true;
        reach_cf_main_queue_drain(NULL);
        loop->draining = false;
    }
#endif
    free(wait.polls);
    free(wait.queues);
}

static inline CFRunLoopRunResult CFRunLoopRunInMode(CFRunLoopMode mode, CFTimeInterval seconds,
                                                    Boolean return_after_source_handled)
{
    CFRunLoopRef loop = CFRunLoopGetCurrent();
    double until = reach_cf_clock(REACH_CF_CLOCK_MONOTONIC) + seconds;
    CFRunLoopRunResult result = 0;
    CFRunLoopMode outer_mode;
    bool outer_stopped;

    if (loop == NULL || mode == NULL || CFEqual(mode, kCFRunLoopCommonModes)) {
        return kCFRunLoopRunFinished;
    }
    CFRetain(loop);
    CFRetain(mode);
    outer_stopped = __atomic_exchange_n(&loop->stopped, false, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&loop->lock);
    outer_mode = loop->mode;
    loop->mode = mode;
    pthread_mutex_unlock(&loop->lock);

    while (result == 0) {
        struct reach_cf_members members = reach_cf_members_copy(loop, mode);
        int main_queue = reach_cf_run_loop_main_queue(loop, mode);
        struct reach_cf_wait wait;
        bool handled;

        if (members.count == 0 && main_queue < 0) {
            reach_cf_members_release(members);
            result = kCFRunLoopRunFinished;
            break;
        }
        /* The queues are looked at before anything is performed, so that what can come as one change does. */
        wait = reach_cf_wait_prepare(loop, members, main_queue, until);
        wait.ready = wait.ready || __atomic_load_n(&loop->stopped, __ATOMIC_SEQ_CST);
        reach_cf_members_release(members);
        reach_cf_wait_end(loop, wait);
        members = reach_cf_members_copy(loop, mode);
        handled = reach_cf_run_loop_perform(loop, mode, members);
        reach_cf_members_release(members);

        if (handled && return_after_source_handled) {
            result = kCFRunLoopRunHandledSource;
        } else if (reach_cf_clock(REACH_CF_CLOCK_MONOTONIC) >= until) {
            result = kCFRunLoopRunTimedOut;
        } else if (__atomic_exchange_n(&loop->stopped, false, __ATOMIC_SEQ_CST)) {
            result = kCFRunLoopRunStopped;
        }
    }

    pthread_mutex_lock(&loop->lock);
    loop->mode = outer_mode;
    pthread_mutex_unlock(&loop->lock);
    __atomic_store_n(&loop->stopped, outer_stopped, __ATOMIC_SEQ_CST);
    CFRelease(mode);
    CFRelease(loop);
    return result;
}

static inline void CFRunLoopRun(void)
{
    CFRunLoopRunResult result;

    do {
        result = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1.0e10, FALSE);
    } while (result != kCFRunLoopRunStopped && result != kCFRunLoopRunFinished);
}

CF_EXTERN_C_END

#endif
