/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What the driver and the preloaded shim say to each other. The shim stands between libreach and libc: each libc
 * function that libreach imports and that can fail is defined by it, and fails when it is told to. Calls that come from
 * anywhere but libreach pass through, so that the driver can change the network and keep its books while libreach
 * suffers.
 */
#ifndef REACH_TESTS_FAULTS_H
#define REACH_TESTS_FAULTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FAULTS_FOR_EVER UINT_MAX

/* The table: fault by number, as the name of the function and what happens to it ("EMFILE", "garbage", ...). */
unsigned faults_count(void);
const char *faults_function(unsigned fault);
const char *faults_outcome(unsigned fault);
/* The error number of a fault, or 0 for one that is not an error number. */
int faults_errno(unsigned fault);
/* Whether the fault is one of memory, which the library may answer with a trap. */
bool faults_of_memory(unsigned fault);
/* Whether the shim stands before a libc function of this name. */
bool faults_covers(const char *function);

/* From now on, of the calls of the fault's function, count from number first on (0 is the next) fail. */
void faults_arm(unsigned fault, unsigned first, unsigned count);
/* From now on every call fails with a probability of per_mille in 1000, each time in one of its ways. */
void faults_arm_random(uint64_t seed, unsigned per_mille);
/* Only counts calls. */
void faults_watch(void);
void faults_disarm(void);

/* Since arming: calls of the function that the fault is about, and how many were made to fail, by any fault. */
unsigned faults_calls(unsigned fault);
unsigned faults_fired(void);

/* Between these two, a call that comes straight from the driver counts as the library's: where libreach ends a function
 * by jumping into libc, the return address is already its caller's. */
void faults_enter(void);
void faults_leave(void);

#endif
