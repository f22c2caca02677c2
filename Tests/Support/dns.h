/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Name service for scenarios: an /etc of the scenario's own, dnsmasq as the server that works, and a small one inside
 * the test for servers that don't. Everything is on the loopback link of the scenario's namespace, which must be up.
 */
#ifndef REACH_TESTS_DNS_H
#define REACH_TESTS_DNS_H

#include <stddef.h>
#include <sys/types.h>

/* Gives the scenario an /etc that it may write to: hosts files first, then DNS; no name server yet. */
void etc_own(void);

/* Puts another file in the place of /etc/NAME by renaming, as programs that manage resolv.conf do. */
void etc_replace(const char *name, const char *content);

/* Makes 127.0.0.SERVER the name server, with a second's patience and one try. */
void etc_name_server(int server);

/*
 * dnsmasq on 127.0.0.SERVER, with further arguments (NULL ends them), such as "--host-record=a.test,192.0.2.1". Names
 * below .test that are not given do not exist. Returns when it answers. Ended by dns_stop, or with the scenario.
 */
pid_t dns_start(int server, ...);
void dns_stop(pid_t server);

/* A server inside the test on 127.0.0.SERVER that gives each query one of these answers. */
enum dns_manner { dns_silent, dns_failing, dns_dropping_half };
struct dns_fake;
struct dns_fake *dns_fake_start(int server, enum dns_manner manner);
/* How many queries for a name came in, of any type; NULL for all. */
size_t dns_fake_queries(struct dns_fake *fake, const char *name);
/* Waits until there were so many. */
void dns_fake_wait(struct dns_fake *fake, const char *name, size_t count);

#endif
