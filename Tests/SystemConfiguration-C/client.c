/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "client.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif

#ifdef UNDER_THREAD_SANITIZER
#include <sanitizer/common_interface_defs.h>

/* The thread sanitizer has a thread of its own, but only a process with a single one may enter a user namespace. So the
 * harness's call is met here, and has the sanitizer end its thread first. The sanitizer offers that from the time on at
 * which the program has made a thread. */
static void *nothing(void *argument)
{
    return argument;
}

static __attribute__((constructor)) void make_a_thread(void)
{
    pthread_t thread;

    require_int(pthread_create(&thread, NULL, nothing, NULL), 0);
    require_int(pthread_join(thread, NULL), 0);
}

int unshare(int flags)
{
    __sanitizer_sandbox_on_notify(NULL);
    wait_threads(1);
    return (int)syscall(SYS_unshare, flags);
}
#endif

/* A look-up's thread may be just starting when a scenario ends. It is inside the address sanitizer then, with memory at
 * hand that the sanitizer would take for lost. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:pthread_getattr_np";
}

void client_begin(struct client *client)
{
    memset(client, 0, sizeof *client);
    client->events = recorder_create();
    require_int(pthread_mutex_init(&client->lock, NULL), 0);
}

void client_end(struct client *client)
{
    recorder_free(client->events);
    pthread_mutex_destroy(&client->lock);
}

static void client_write(struct client *client, char letter)
{
    pthread_mutex_lock(&client->lock);
    require(client->length + 1 < sizeof client->log);
    client->log[client->length++] = letter;
    client->retained += letter == '+';
    client->released += letter == '-';
    pthread_mutex_unlock(&client->lock);
}

void client_clear_log(struct client *client)
{
    pthread_mutex_lock(&client->lock);
    memset(client->log, 0, sizeof client->log);
    client->length = 0;
    pthread_mutex_unlock(&client->lock);
}

void client_wait_released(struct client *client, int times)
{
    int64_t end = now_ms() + deadline_ms();
    int released;

    do {
        pthread_mutex_lock(&client->lock);
        released = client->released;
        pthread_mutex_unlock(&client->lock);
        require_message(now_ms() < end, "the context was released %d times, not %d", released, times);
        sched_yield();
    } while (released != times);
}

static const void *client_retain(const void *client)
{
    client_write((struct client *)client, '+');
    return client;
}

static void client_release(const void *client)
{
    client_write((struct client *)client, '-');
}

SCNetworkReachabilityContext client_context(struct client *client)
{
    return (SCNetworkReachabilityContext){ 0, client, client_retain, client_release, NULL };
}

void client_callout(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct client *client = info;

    client_write(client, 'C');
    client->info = info;
    if (client->in_callout != NULL) {
        client->in_callout(target, client);
    }
    record(client->events, (reach_target *)(void *)target, flags);
}

void client_attach(struct client *client, SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityContext context = client_context(client);

    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
}

void client_detach(SCNetworkReachabilityRef target)
{
    require(SCNetworkReachabilitySetCallback(target, NULL, NULL));
}

SCNetworkReachabilityRef address_target(const char *address)
{
    struct sockaddr_storage storage;

    parse_address(address, &storage);
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault,
                                                                             (struct sockaddr *)&storage);
    require(target != NULL);
    return target;
}

SCNetworkReachabilityFlags ask(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags = 0xffffffff;

    require(SCNetworkReachabilityGetFlags(target, &flags));
    return flags;
}

void run_until(struct client *client, size_t count)
{
    int64_t end = now_ms() + deadline_ms();

    while (recorder_count(client->events) < count) {
        require_message(now_ms() < end, "%zu callouts came, not %zu", recorder_count(client->events), count);
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, (double)deadline_ms() / 1000, TRUE);
    }
    require_int(recorder_count(client->events), count);
}

void run_due(void)
{
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, FALSE);
}

struct event next_callout(struct client *client)
{
    return next_event(client->events, NULL);
}

struct loop_thread {
    pthread_t thread;
    pthread_barrier_t started;
    CFStringRef mode;
    CFRunLoopRef loop;
    CFRunLoopSourceRef idle;
    uint64_t id;
    int stopping;
};

static void *loop_thread_run(void *argument)
{
    struct loop_thread *self = argument;
    CFRunLoopSourceContext context = { 0 };

    /* A loop without anything in its mode ends at once. */
    self->idle = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context);
    self->loop = CFRunLoopGetCurrent();
    self->id = (uint64_t)gettid();
    CFRunLoopAddSource(self->loop, self->idle, self->mode);
    pthread_barrier_wait(&self->started);
    while (!__atomic_load_n(&self->stopping, __ATOMIC_ACQUIRE)) {
        CFRunLoopRunInMode(self->mode, 1.0e10, TRUE);
    }
    CFRunLoopRemoveSource(self->loop, self->idle, self->mode);
    CFRelease(self->idle);
    return NULL;
}

struct loop_thread *loop_thread_start(CFStringRef mode)
{
    struct loop_thread *self = calloc(1, sizeof *self);

    require(self != NULL);
    self->mode = mode;
    require_int(pthread_barrier_init(&self->started, NULL, 2), 0);
    require_int(pthread_create(&self->thread, NULL, loop_thread_run, self), 0);
    pthread_barrier_wait(&self->started);
    return self;
}

CFRunLoopRef loop_thread_loop(struct loop_thread *self)
{
    return self->loop;
}

uint64_t loop_thread_id(struct loop_thread *self)
{
    return self->id;
}

void loop_thread_stop(struct loop_thread *self)
{
    __atomic_store_n(&self->stopping, 1, __ATOMIC_RELEASE);
    CFRunLoopSourceSignal(self->idle);
    CFRunLoopWakeUp(self->loop);
    pthread_join(self->thread, NULL);
    pthread_barrier_destroy(&self->started);
    free(self);
}

void one_cable(void)
{
    ip("link set lo up");
    veth("wan0", "10.1.0.2/24");
}
