/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * libreach, through the shipped library and its public header.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <reach.h>
#include <stdio.h>
#include <string.h>

#include "../peer.h"

static reach_target *internet;
static peer_changed report;

static reach_target *address_target(uint32_t address)
{
    struct sockaddr_in socket_address = {.sin_family = AF_INET, .sin_addr.s_addr = address};
    return reach_create_with_address((const struct sockaddr *)&socket_address, sizeof socket_address);
}

static int online(reach_target *target)
{
    reach_flags flags;
    return reach_get_flags(target, &flags) ? reach_flags_is_online(flags) : -1;
}

static bool start(void)
{
    internet = address_target(INADDR_ANY);
    return internet != NULL;
}

static int check(void)
{
    return online(internet);
}

/*
 * The target that reports: the internet, or with REACH_ADDRESS an address, which takes one look-up instead of several.
 */
static reach_target *reporter(uint32_t address)
{
#ifdef REACH_ADDRESS
    return address_target(address);
#else
    (void)address;
    return reach_retain(internet);
#endif
}

static int check_address(uint32_t address)
{
    reach_target *target = address_target(address);
    int answer = online(target);
    reach_release(target);
    return answer;
}

static void changed(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)info;
    report(0, reach_flags_is_online(flags));
}

/* Targets beyond the first are there to be watched; only the first one reports, so that a change is one report. */
static void ignored(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
}

static bool watch(unsigned targets, peer_changed told)
{
    reach_queue *queue = reach_queue_create("reach");
    struct in_addr address;
    inet_pton(AF_INET, PEER_ADDRESS, &address);
    report = told;
    if (queue == NULL || !start())
        return false;
    for (unsigned i = 0; i < (targets == 0 ? 1 : targets); i++) {
        reach_target *target = i == 0 ? reporter(address.s_addr) : address_target(htonl(ntohl(address.s_addr) + i));
        if (target == NULL || !reach_set_callback(target, i == 0 ? changed : ignored, NULL, NULL) ||
            !reach_set_queue(target, queue))
            return false;
        reach_release(target);
    }
    reach_queue_release(queue);
    return true;
}

const struct peer peer = {
#ifdef REACH_ADDRESS
    .name = "libreach, address",
#else
    .name = "libreach",
#endif
    .version = reach_version_string,
    .stages = 1,
    .start = start,
    .check = check,
    .check_address = check_address,
    .watch = watch,
};
