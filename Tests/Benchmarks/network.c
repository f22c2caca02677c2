/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define GATEWAY "192.0.2.2"

/* The socket by which this process changes a network belongs to that network, wherever the thread is by then. */
static struct network current = {.control = -1};

void network_must_be_empty(void)
{
    struct if_nameindex *links = if_nameindex();
    if (links == NULL)
        bench_fail("the links cannot be listed: %s", strerror(errno));
    for (struct if_nameindex *link = links; link->if_index != 0; link++)
        if (strcmp(link->if_name, "lo") != 0)
            bench_fail("this network has a link %s: run the benchmarks by `make bench`, in a namespace of their own",
                       link->if_name);
    if_freenameindex(links);
}

static void command(const char *line)
{
    if (system(line) != 0)
        bench_fail("failed: %s", line);
}

static void setting(const char *path, const char *value)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    /* A kernel without IPv6 has no such setting and nothing to be turned off. */
    if (file < 0 && errno == ENOENT)
        return;
    if (file < 0 || write(file, value, strlen(value)) < 0)
        bench_fail("%s: %s", path, strerror(errno));
    close(file);
}

void network_new(void)
{
    if (unshare(CLONE_NEWNET) != 0)
        bench_fail("no network namespace: %s", strerror(errno));
    network_must_be_empty();
    current = (struct network){.control = network_socket()};
    command("ip link set lo up");
}

struct network network_current(void)
{
    return current;
}

void network_use(struct network network)
{
    current = network;
}

void network_scene(void)
{
    command("ip link add w0 type veth peer name w1");
    setting("/proc/sys/net/ipv6/conf/w0/disable_ipv6", "1");
    setting("/proc/sys/net/ipv6/conf/w1/disable_ipv6", "1");
    command("ip address add 192.0.2.1/24 dev w0");
    command("ip link set w1 up");
    command("ip link set w0 up");
    current.link = if_nametoindex("w0");
    network_default(true);
}

int network_socket(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        bench_fail("no netlink socket: %s", strerror(errno));
    return fd;
}

int network_event_socket(void)
{
    static const int groups[] = {RTNLGRP_LINK,      RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                                 RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_RULE,   RTNLGRP_NEXTHOP};
    int fd = network_socket();
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]) != 0)
            bench_fail("netlink group %d: %s", groups[i], strerror(errno));
    return fd;
}

/* Adds an attribute to the message that begins at `message`, and returns the new length of the message. */
static size_t attribute(unsigned char *message, size_t length, unsigned short type, const void *value, size_t size)
{
    struct rtattr head = {.rta_len = (unsigned short)RTA_LENGTH(size), .rta_type = type};
    memcpy(message + length, &head, sizeof head);
    memcpy(message + length + RTA_LENGTH(0), value, size);
    return length + RTA_SPACE(size);
}

static size_t route_request(unsigned char *message, uint32_t destination, unsigned bits, const void *gateway,
                            uint32_t link, bool present, unsigned flags)
{
    struct nlmsghdr head = {.nlmsg_type = present ? RTM_NEWROUTE : RTM_DELROUTE,
                            .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags | (present ? NLM_F_CREATE : 0))};
    struct rtmsg route = {.rtm_family = AF_INET,
                          .rtm_dst_len = (unsigned char)bits,
                          .rtm_table = RT_TABLE_MAIN,
                          .rtm_protocol = present ? RTPROT_STATIC : RTPROT_UNSPEC,
                          .rtm_scope = gateway == NULL ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE,
                          .rtm_type = present ? RTN_UNICAST : RTN_UNSPEC};
    uint32_t network_order = htonl(destination);
    size_t length = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof route);
    memcpy(message + NLMSG_HDRLEN, &route, sizeof route);
    if (bits > 0)
        length = attribute(message, length, RTA_DST, &network_order, sizeof network_order);
    if (gateway != NULL)
        length = attribute(message, length, RTA_GATEWAY, gateway, 4);
    length = attribute(message, length, RTA_OIF, &link, sizeof link);
    head.nlmsg_len = (uint32_t)length;
    memcpy(message, &head, sizeof head);
    return length;
}

static void send_all(int socket, const void *bytes, size_t length)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do
        sent = sendto(socket, bytes, length, 0, (struct sockaddr *)&kernel, sizeof kernel);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)length)
        bench_fail("netlink send: %s", strerror(errno));
}

/* Sends a request that is acknowledged, and ends the program if the kernel says no. */
static void request(const void *bytes, size_t length, const char *what)
{
    unsigned char answer[1024];
    struct nlmsgerr error;
    send_all(current.control, bytes, length);
    ssize_t got;
    do
        got = recv(current.control, answer, sizeof answer, 0);
    while (got < 0 && errno == EINTR);
    if (got < (ssize_t)(NLMSG_HDRLEN + sizeof error))
        bench_fail("%s: no acknowledgement", what);
    memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
    if (error.error != 0)
        bench_fail("%s: %s", what, strerror(-error.error));
}

void network_default(bool present)
{
    unsigned char message[128];
    struct in_addr gateway;
    inet_pton(AF_INET, GATEWAY, &gateway);
    size_t length = route_request(message, 0, 0, &gateway, current.link, present, NLM_F_ACK);
    request(message, length, present ? "adding the default route" : "removing the default route");
}

void network_host_route(uint32_t address, bool present)
{
    unsigned char message[128];
    size_t length = route_request(message, address, 32, NULL, current.link, present, NLM_F_ACK);
    request(message, length, present ? "adding a route" : "removing a route");
}

void network_touch_link(unsigned queue_length)
{
    unsigned char message[128];
    struct nlmsghdr head = {.nlmsg_type = RTM_NEWLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK};
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)current.link};
    uint32_t value = queue_length;
    size_t length = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof link);
    memcpy(message + NLMSG_HDRLEN, &link, sizeof link);
    length = attribute(message, length, IFLA_TXQLEN, &value, sizeof value);
    head.nlmsg_len = (uint32_t)length;
    memcpy(message, &head, sizeof head);
    request(message, length, "touching the link");
}

void network_bulk(uint32_t first, uint32_t count, bool present)
{
    static unsigned char batch[48 * 1024];
    unsigned char trouble[1024];
    size_t length = 0;
    uint32_t link = current.link;
    for (uint32_t i = 0; i < count; i++) {
        length += route_request(batch + length, first + i, 32, NULL, link, present, 0);
        if (length > sizeof batch - 128 || i + 1 == count) {
            send_all(current.control, batch, length);
            length = 0;
            /* Only what went wrong is answered, so anything to read is a failure. */
            if (recv(current.control, trouble, sizeof trouble, MSG_DONTWAIT) >= 0)
                bench_fail("a route in bulk was refused");
        }
    }
}

void batch_clear(struct network_batch *batch)
{
    batch->length = 0;
    batch->questions = 0;
}

static void batch_room(const struct network_batch *batch)
{
    if (batch->length + 128 > sizeof batch->bytes)
        bench_fail("a batch of questions is too long");
}

void batch_route(struct network_batch *batch, int family, const void *address, unsigned flags)
{
    size_t size = family == AF_INET ? 4 : 16;
    unsigned char *message = batch->bytes + batch->length;
    struct nlmsghdr head = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = ++batch->questions};
    struct rtmsg route = {
        .rtm_family = (unsigned char)family, .rtm_dst_len = (unsigned char)(size * 8), .rtm_flags = flags};
    batch_room(batch);
    memcpy(message + NLMSG_HDRLEN, &route, sizeof route);
    size_t length = attribute(message, NLMSG_HDRLEN + NLMSG_ALIGN(sizeof route), RTA_DST, address, size);
    head.nlmsg_len = (uint32_t)length;
    memcpy(message, &head, sizeof head);
    batch->length += length;
}

void batch_barrier(struct network_batch *batch)
{
    unsigned char *message = batch->bytes + batch->length;
    struct nlmsghdr head = {.nlmsg_len = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct ifinfomsg)),
                            .nlmsg_type = RTM_GETLINK,
                            .nlmsg_flags = NLM_F_REQUEST,
                            .nlmsg_seq = ++batch->questions};
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC, .ifi_index = INT_MAX};
    batch_room(batch);
    memcpy(message, &head, sizeof head);
    memcpy(message + NLMSG_HDRLEN, &link, sizeof link);
    batch->length += head.nlmsg_len;
}

unsigned batch_ask(struct network_batch *batch, int socket)
{
    unsigned char answer[16384];
    unsigned good = 0;
    send_all(socket, batch->bytes, batch->length);
    for (unsigned answered = 0; answered < batch->questions;) {
        ssize_t got = recv(socket, answer, sizeof answer, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < (ssize_t)NLMSG_HDRLEN)
            bench_fail("netlink receive: %s", strerror(errno));
        struct nlmsghdr head;
        memcpy(&head, answer, sizeof head);
        good += head.nlmsg_type != NLMSG_ERROR;
        answered++;
    }
    return good;
}

void network_dump(int socket)
{
    static unsigned char buffer[65536];
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
    } ask = {
        .head = {.nlmsg_len = sizeof ask, .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .route = {.rtm_family = AF_INET},
    };
    send_all(socket, &ask, sizeof ask);
    for (;;) {
        ssize_t got = recv(socket, buffer, sizeof buffer, 0);
        if (got < (ssize_t)NLMSG_HDRLEN)
            bench_fail("dump: %s", strerror(errno));
        for (struct nlmsghdr *head = (struct nlmsghdr *)buffer; NLMSG_OK(head, got); head = NLMSG_NEXT(head, got))
            if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR)
                return;
    }
}
