/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What a candidate of the benchmarks looks like. Each is a shared object with one exported variable named "peer", so
 * that the same programs measure them all, and so that one that cannot be built is simply not there.
 */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Told of a change. Stage 0 is the moment at which a candidate knows that something happened; a candidate with two
 * stages says in stage 1 what it comes to. online is 1, 0, or -1 when the candidate does not say.
 */
typedef void (*peer_changed)(int stage, int online);

struct peer {
    const char *name;
    const char *(*version)(void);
    int stages; /* how many stages a change has, 1 or 2 */

    /* What a program does before its first question, on the thread that is going to ask. */
    bool (*start)(void);
    /* Is the internet reachable? As right as the candidate can be at this moment: what has arrived is handled first. */
    int (*check)(void);
    /* Is this IPv4 address (in network byte order) reachable? May be NULL. */
    int (*check_address)(uint32_t address);
    /* The answer as it is remembered, without a look at what has arrived. May be NULL. */
    int (*remembered)(void);

    /*
     * Begins to report changes of the internet's reachability, from a thread of its own or of the candidate, and
     * returns when nothing that happens from now on can be missed. targets tells how many things to watch; candidates
     * that have one thing only ignore it. The first target, the internet, is the one whose changes are reported.
     */
    bool (*watch)(unsigned targets, peer_changed changed);
    /* How often events were lost so far. May be NULL. */
    unsigned long (*overflows)(void);
};

/*
 * The address that is asked about where a candidate needs one: TEST-NET-3, which no route but the default one covers.
 */
#define PEER_ADDRESS "203.0.113.9"

#ifdef __cplusplus
extern "C"
#else
extern
#endif
const struct peer peer;

#endif
