/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The limit written by hand: a thread that blocks in recv on a netlink socket, looks for a message about a default
 * route, and asks the kernel once. Nothing that listens to rtnetlink can be faster, and it does far less than is
 * needed: it knows one family, no links, no rules, no other routes.
 *
 * With RAW_FILTERED the kernel is given the program that drops every route message but those about a default route.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../peer.h"

static int events = -1;
static int questions = -1;
static peer_changed report;
static unsigned long lost;
static int last = -1;

static int netlink(unsigned groups)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int lookup(uint32_t address)
{
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr attribute;
        uint32_t address;
    } ask = {
        .head = {.nlmsg_len = sizeof ask, .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
        .route = {.rtm_family = AF_INET, .rtm_dst_len = 32},
        .attribute = {.rta_len = RTA_LENGTH(4), .rta_type = RTA_DST},
        .address = address,
    };
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct nlmsghdr head;
    unsigned char answer[1024];
    if (sendto(questions, &ask, sizeof ask, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0)
        return -1;
    if (recv(questions, answer, sizeof answer, 0) < (ssize_t)sizeof head)
        return -1;
    memcpy(&head, answer, sizeof head);
    return head.nlmsg_type != NLMSG_ERROR;
}

static int check(void)
{
    struct in_addr address;
    inet_pton(AF_INET, PEER_ADDRESS, &address);
    return lookup(address.s_addr);
}

static bool start(void)
{
    questions = netlink(0);
    return questions >= 0;
}

static bool filter(void)
{
#ifdef RAW_FILTERED
    /* Loads are big-endian, the header's type is in the byte order of the machine: the constants are turned round. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(struct nlmsghdr, nlmsg_type)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), 0, 2),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_dst_len)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return setsockopt(events, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
#else
    return true;
#endif
}

static void ask_again(void)
{
    int online = check();
    if (online != last) {
        last = online;
        report(1, online);
    }
}

static void *loop(void *unused)
{
    static unsigned char buffer[32768];
    (void)unused;
    for (;;) {
        ssize_t got = recv(events, buffer, sizeof buffer, 0);
        if (got < 0 && errno == ENOBUFS) {
            lost++;
            ask_again();
            continue;
        }
        if (got < 0)
            return NULL;
        bool matters = false;
        int default_route = -1;
        for (struct nlmsghdr *head = (struct nlmsghdr *)buffer; NLMSG_OK(head, got); head = NLMSG_NEXT(head, got)) {
            if (head->nlmsg_type != RTM_NEWROUTE && head->nlmsg_type != RTM_DELROUTE)
                continue;
            const struct rtmsg *route = NLMSG_DATA(head);
            if (route->rtm_dst_len == 0) {
                matters = true;
                default_route = head->nlmsg_type == RTM_NEWROUTE;
            }
        }
        if (matters) {
            report(0, default_route);
            ask_again();
        }
    }
}

static bool watch(unsigned targets, peer_changed changed)
{
    pthread_t thread;
    (void)targets;
    report = changed;
    if (!start())
        return false;
    events = netlink(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_RULE);
    if (events < 0 || !filter())
        return false;
    last = check();
    return pthread_create(&thread, NULL, loop, NULL) == 0;
}

static unsigned long overflows(void)
{
    return lost;
}

static const char *version(void)
{
    static struct utsname system;
    return uname(&system) == 0 ? system.release : "";
}

const struct peer peer = {
#ifdef RAW_FILTERED
    .name = "raw recv thread, filtered",
#else
    .name = "raw recv thread",
#endif
    .version = version,
    .stages = 2,
    .start = start,
    .check = check,
    .check_address = lookup,
    .watch = watch,
    .overflows = overflows,
};
