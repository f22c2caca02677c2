/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Adds and deletes the IPv4 default route, in some ten microseconds; starting ip(8) would take a hundred times that.
 */
#ifndef REACH_TESTS_DEFAULT_ROUTE_H
#define REACH_TESTS_DEFAULT_ROUTE_H

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

struct default_route {
    int socket;
    uint32_t link;
    struct in_addr gateway;
};

/* False with errno when the link does not exist or no socket can be had. */
static inline bool default_route_open(struct default_route *route, const char *link, const char *gateway)
{
    route->link = if_nametoindex(link);
    route->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return route->link != 0 && route->socket >= 0 && inet_pton(AF_INET, gateway, &route->gateway) == 1;
}

/* Returns 0 when the kernel has done it, or its error number. */
static inline int default_route_set(const struct default_route *route, bool present)
{
    struct {
        struct nlmsghdr header;
        struct rtmsg route;
        struct rtattr gateway_attribute;
        struct in_addr gateway;
        struct rtattr link_attribute;
        uint32_t link;
    } request = {
        .header = { .nlmsg_len = sizeof request,
                    .nlmsg_type = present ? RTM_NEWROUTE : RTM_DELROUTE,
                    .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK |
                                              (present ? NLM_F_CREATE | NLM_F_REPLACE : 0)) },
        .route = { .rtm_family = AF_INET,
                   .rtm_table = RT_TABLE_MAIN,
                   .rtm_protocol = RTPROT_STATIC,
                   .rtm_scope = RT_SCOPE_UNIVERSE,
                   .rtm_type = RTN_UNICAST },
        .gateway_attribute = { .rta_len = RTA_LENGTH(4), .rta_type = RTA_GATEWAY },
        .gateway = route->gateway,
        .link_attribute = { .rta_len = RTA_LENGTH(4), .rta_type = RTA_OIF },
        .link = route->link,
    };
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[256];
    } reply;
    if (send(route->socket, &request, sizeof request, 0) < 0) {
        return errno;
    }
    ssize_t length = recv(route->socket, &reply, sizeof reply, 0);
    if (length < 0) {
        return errno;
    }
    return length < (ssize_t)(sizeof reply.header + sizeof reply.error) ? EBADMSG : -reply.error.error;
}

#endif
