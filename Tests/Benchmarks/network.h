/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The network the benchmarks run on: made by themselves in a namespace of their own, and changed through rtnetlink.
 */
#ifndef NETWORK_H
#define NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program unless this is a network namespace in which nobody has set up anything. */
void network_must_be_empty(void);
/*
 * Moves the calling thread into a new, empty network namespace. What is done to the network from then on is done there,
 * and processes that are started are started there.
 */
void network_new(void);
/* A handle for the current network, with which network_use makes changes go to it again. It ends with this process. */
struct network {
    int control;
    unsigned link;
};
struct network network_current(void);
void network_use(struct network network);
/*
 * Builds the scene: a pair of Ethernet links, w0 with 192.0.2.1/24 and its other end w1, both up, and a default route
 * over 192.0.2.2. IPv6 is off on them, so that no router solicitation or duplicate address detection adds events of its
 * own to those that are measured.
 */
void network_scene(void);
/* Adds or removes the IPv4 default route and returns when the kernel has done so. */
void network_default(bool present);
/* Adds or removes the route to one IPv4 address (host byte order) over w0. */
void network_host_route(uint32_t address, bool present);
/* Sets the link's transmit queue length: a link message without a meaning for anybody's reachability. */
void network_touch_link(unsigned length);

/* Sends host routes in bulk. first is in host byte order; many requests go in one system call. */
void network_bulk(uint32_t first, uint32_t count, bool present);

/* A socket on which requests are answered. */
int network_socket(void);
/* A socket that has joined the groups which matter for reachability, as candidates written by hand use it. */
int network_event_socket(void);

/* Asks for all routes and reads them, as a program does that wants a copy of the table. */
void network_dump(int socket);

/* Questions put together to be sent in one system call, and their answers read. */
struct network_batch {
    unsigned char bytes[1 << 16];
    size_t length;
    unsigned questions;
};
void batch_clear(struct network_batch *batch);
void batch_route(struct network_batch *batch, int family, const void *address, unsigned flags);
/*
 * Asks for a link that does not exist. The kernel takes its configuration lock to look for it, so that a change which
 * was announced and is still under way has been made when the next question is looked at. It is the cheapest question
 * that does.
 */
void batch_barrier(struct network_batch *batch);
/* Sends the questions and reads an answer for each. Returns how many were answered without an error. */
unsigned batch_ask(struct network_batch *batch, int socket);

#endif
