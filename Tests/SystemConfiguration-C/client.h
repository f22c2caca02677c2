/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What the tests of the drop-in share: a client that writes down what is done with its context, and ways to drive
 * loops.
 */
#ifndef REACH_TESTS_SC_CLIENT_H
#define REACH_TESTS_SC_CLIENT_H

#include "support.h"

#include <SystemConfiguration/SystemConfiguration.h>

/*
 * A client of a target, in the manner of the wrappers that people write: its info is counted by the context's
 * functions. log has a letter for each thing that happened, in order: + retain, - release, C callout.
 */
struct client {
    struct recorder *events;
    pthread_mutex_t lock;
    char log[1024];
    size_t length;
    int retained, released;
    void *info;                                            /* as the last callout got it */
    void (*in_callout)(SCNetworkReachabilityRef, struct client *); /* called by the callout at its end, or NULL */
};

void client_begin(struct client *client);
void client_end(struct client *client);
void client_clear_log(struct client *client);

/* Waits until the context has been released so many times. There is no event after it that could be waited for. */
void client_wait_released(struct client *client, int times);

SCNetworkReachabilityContext client_context(struct client *client);
void client_callout(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *client);

/* Sets client_callout with the client's context. */
void client_attach(struct client *client, SCNetworkReachabilityRef target);
void client_detach(SCNetworkReachabilityRef target);

/* An address target. */
SCNetworkReachabilityRef address_target(const char *address);

/* Flags, asked; the call must succeed. */
SCNetworkReachabilityFlags ask(SCNetworkReachabilityRef target);

/* The call fails with 1002, whatever the error was before. */
#define require_invalid(call) \
    do { \
        reach_sc_error_1 = 0; \
        require(!(call)); \
        require_int(SCError(), kSCStatusInvalidArgument); \
    } while (0)

/* Runs this thread's loop in the default mode until the client has had so many callouts in all. */
void run_until(struct client *client, size_t count);

/* Runs this thread's loop in the default mode for what is due now. */
void run_due(void);

/* The next callout, on whichever thread; waits for it, without driving any loop. */
struct event next_callout(struct client *client);

/* A thread that runs its loop in a mode until it is stopped. */
struct loop_thread;

struct loop_thread *loop_thread_start(CFStringRef mode);
CFRunLoopRef loop_thread_loop(struct loop_thread *thread);
uint64_t loop_thread_id(struct loop_thread *thread);
void loop_thread_stop(struct loop_thread *thread);

/* A host with an address and a gateway, 10.1.0.2 and 10.1.0.1 on wan0, and no default route yet. */
void one_cable(void);
#define ROUTE_ADD "route add default via 10.1.0.1 dev wan0"
#define ROUTE_DEL "route del default via 10.1.0.1 dev wan0"
#define ONLINE    kSCNetworkReachabilityFlagsReachable

#endif
