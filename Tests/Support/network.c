/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int second_namespace = -1;

static void make_second_namespace(void)
{
    if (second_namespace >= 0) {
        return;
    }
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    require_message(own >= 0, "this thread's network namespace: %s", strerror(errno));
    require_message(unshare(CLONE_NEWNET) == 0, "a second network namespace: %s", strerror(errno));
    second_namespace = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    require_message(second_namespace >= 0, "the second network namespace: %s", strerror(errno));
    require_message(setns(own, CLONE_NEWNET) == 0, "back to the first network namespace: %s", strerror(errno));
    close(own);
}

const char *peer_netns(void)
{
    static char path[64];
    make_second_namespace();
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), second_namespace);
    return path;
}

/* ---------------------------------------------------------------------------------------------------- ip(8) --- */

static void write_all(int descriptor, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            /* ip stops reading at its first error, which its exit status tells. */
            return;
        }
        text += written;
        length -= (size_t)written;
    }
}

static bool run_ip(const char *family, const char *text, size_t length, int namespace_descriptor, bool quiet)
{
    /* A pipe would need a writer beside the reader, and a signal for a reader that stopped; a file needs neither. */
    int input = memfd_create("ip", MFD_CLOEXEC);
    require_message(input >= 0, "memfd_create: %s", strerror(errno));
    write_all(input, text, length);
    lseek(input, 0, SEEK_SET);

    /* Between fork and exec only what is safe when other threads hold locks. */
    pid_t child = fork();
    require_message(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
        if (namespace_descriptor >= 0 && setns(namespace_descriptor, CLONE_NEWNET) != 0) {
            _exit(126);
        }
        dup2(input, STDIN_FILENO);
        if (quiet) {
            int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
            dup2(nowhere, STDERR_FILENO);
        }
        execlp("ip", "ip", "-batch", "-", family, (char *)NULL);
        _exit(127);
    }
    close(input);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        require_int(errno, EINTR);
    }
    require_message(!WIFEXITED(status) || WEXITSTATUS(status) != 127,
        "the program ip (package iproute2) was not found");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The options -4 and -6 hold for a whole run of ip, so lines with and without them go to several runs. */
static const char *family_of(const char *line)
{
    if (strncmp(line, "-4 ", 3) == 0) {
        return "-4";
    }
    return strncmp(line, "-6 ", 3) == 0 ? "-6" : NULL;
}

static bool run_ip_lines(const char *text, int namespace_descriptor, bool quiet)
{
    char *lines = malloc(strlen(text) + 2);
    require(lines != NULL);
    bool worked = true;
    while (worked && *text != '\0') {
        const char *family = family_of(text);
        size_t length = 0;
        while (*text != '\0' && family_of(text) == family) {
            const char *line = text + (family == NULL ? 0 : 3);
            size_t count = strcspn(line, "\n");
            memcpy(lines + length, line, count);
            lines[length + count] = '\n';
            length += count + 1;
            text = line + count + (line[count] == '\n');
        }
        worked = run_ip(family, lines, length, namespace_descriptor, quiet);
    }
    free(lines);
    return worked;
}

static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    require(vasprintf(&text, format, arguments) >= 0);
    return text;
}

void ip_text(const char *text)
{
    require_message(run_ip_lines(text, -1, false), "ip failed in:\n%.2000s", text);
}

void ip(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    ip_text(text);
    free(text);
}

bool ip_try(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    bool worked = run_ip_lines(text, -1, true);
    free(text);
    return worked;
}

void ip_peer(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    make_second_namespace();
    require_message(run_ip_lines(text, second_namespace, false), "ip failed in the second namespace, in:\n%s", text);
    free(text);
}

/* ---------------------------------------------------------------------------------------------------- waiting --- */

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool is_readable(int descriptor, int timeout_ms)
{
    int64_t end = now_ms() + timeout_ms;
    struct pollfd entry = { .fd = descriptor, .events = POLLIN };
    for (;;) {
        int64_t left = end - now_ms();
        int count = poll(&entry, 1, left < 0 ? 0 : (int)left);
        if (count >= 0) {
            return count == 1 && (entry.revents & POLLIN) != 0;
        }
        require_int(errno, EINTR);
    }
}

void wait_readable(int descriptor)
{
    require_message(is_readable(descriptor, deadline_ms()), "descriptor %d did not become readable in time",
        descriptor);
}

void wait_for_network(bool (*condition)(const void *argument), const void *argument, const char *what)
{
    int events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    require_message(events >= 0, "an event socket: %s", strerror(errno));
    require_message(bind(events, (struct sockaddr *)&address, sizeof address) == 0, "its groups: %s", strerror(errno));
    int64_t end = now_ms() + deadline_ms();
    while (!condition(argument)) {
        int64_t left = end - now_ms();
        require_message(left > 0 && is_readable(events, (int)left), "waited in vain for %s", what);
        char buffer[16384];
        while (recv(events, buffer, sizeof buffer, 0) > 0 || errno == ENOBUFS) {
        }
    }
    close(events);
}

struct running {
    const char *name;
    bool running;
};

/*
 * Asks with RTM_GETLINK, not with an ioctl: newer kernels bring a link's state up to date before they answer this one,
 * while by themselves they do it up to a second late.
 */
static unsigned link_flags(unsigned index)
{
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    require_message(descriptor >= 0, "a netlink socket: %s", strerror(errno));
    struct {
        struct nlmsghdr header;
        struct ifinfomsg link;
    } request = {
        .header = { .nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST },
        .link = { .ifi_family = AF_UNSPEC, .ifi_index = (int)index },
    };
    require_message(send(descriptor, &request, sizeof request, 0) == sizeof request, "RTM_GETLINK: %s",
        strerror(errno));
    union {
        struct nlmsghdr header;
        char bytes[16384];
    } answer;
    ssize_t length = recv(descriptor, &answer, sizeof answer, 0);
    close(descriptor);
    require_message(length >= (ssize_t)NLMSG_LENGTH(sizeof(struct ifinfomsg)), "a short answer about link %u", index);
    require_message(answer.header.nlmsg_type == RTM_NEWLINK, "there is no link %u", index);
    const struct ifinfomsg *link = NLMSG_DATA(&answer.header);
    return link->ifi_flags;
}

static bool link_is(const void *argument)
{
    const struct running *wanted = argument;
    return ((link_flags(if_nametoindex(wanted->name)) & IFF_RUNNING) != 0) == wanted->running;
}

void wait_link_running(const char *name, bool running)
{
    struct running wanted = { name, running };
    char what[64];
    snprintf(what, sizeof what, "link %s to be %s", name, running ? "running" : "without a carrier");
    wait_for_network(link_is, &wanted, what);
}

struct address_state {
    const char *text;
    unsigned mask, value;
};

static bool address_is(const void *argument)
{
    const struct address_state *wanted = argument;
    struct in6_addr address;
    char hex[33];
    require_int(inet_pton(AF_INET6, wanted->text, &address), 1);
    for (int index = 0; index < 16; index++) {
        snprintf(hex + 2 * index, 3, "%02x", address.s6_addr[index]);
    }
    FILE *table = fopen("/proc/thread-self/net/if_inet6", "re");
    require(table != NULL);
    bool found = false;
    char row_hex[33];
    unsigned row_flags;
    while (fscanf(table, "%32s %*x %*x %*x %x %*s", row_hex, &row_flags) == 2) {
        found = found || (strcmp(hex, row_hex) == 0 && (row_flags & wanted->mask) == wanted->value);
    }
    fclose(table);
    return found;
}

/*
 * A new address has a local route only after a work queue has run, which also tells everybody of the address; the
 * command that added it has returned by then. Until then the kernel's tables are ahead of its messages.
 */
static bool has_local_route(const char *hex_address)
{
    static const unsigned route_is_local = 0x80000000u;
    FILE *table = fopen("/proc/thread-self/net/ipv6_route", "re");
    require(table != NULL);
    bool found = false;
    char destination[33];
    unsigned length, flags;
    while (fscanf(table, "%32s %x %*s %*s %*s %*s %*s %*s %x %*s", destination, &length, &flags) == 3) {
        found = found || (length == 128 && (flags & route_is_local) != 0 && strcmp(destination, hex_address) == 0);
    }
    fclose(table);
    return found;
}

static bool addresses_are_settled(const void *argument)
{
    (void)argument;
    FILE *table = fopen("/proc/thread-self/net/if_inet6", "re");
    require(table != NULL);
    bool settled = true;
    char address[33];
    unsigned index, flags;
    while (fscanf(table, "%32s %x %*x %*x %x %*s", address, &index, &flags) == 3) {
        /* One that a link keeps while it is down has none. */
        bool expects_route = (flags & IFA_F_TENTATIVE) == 0 && (link_flags(index) & IFF_UP) != 0;
        settled = settled && (!expects_route || has_local_route(address));
    }
    fclose(table);
    return settled;
}

static void wait_addresses_settled(void)
{
    wait_for_network(addresses_are_settled, NULL, "new addresses to have their local routes");
}

void wait_address_usable(const char *ipv6_address)
{
    struct address_state wanted = { ipv6_address, IFA_F_TENTATIVE | IFA_F_DADFAILED, 0 };
    wait_for_network(address_is, &wanted, ipv6_address);
    wait_addresses_settled();
}

void wait_address_failed(const char *ipv6_address)
{
    struct address_state wanted = { ipv6_address, IFA_F_DADFAILED, IFA_F_DADFAILED };
    wait_for_network(address_is, &wanted, ipv6_address);
}

/* ------------------------------------------------------------------------------------------------------ links --- */

static void add_address(const char *name, const char *address)
{
    ip("address add %s dev %s %s\n", address, name, strchr(address, ':') == NULL ? "" : "nodad");
}

void veth_with_addresses(const char *name, ...)
{
    /*
     * The two first links of two fresh namespaces would have the same index, and a veth end with its peer's index looks
     * to the kernel like a link that stands on nothing, which it tells of differently.
     */
    static int far_index = 1000;
    far_index += 1;
    ip("link add name %s type veth peer name %s-far index %d netns %s\n"
       "link set dev %s addrgenmode none\n",
       name, name, far_index, peer_netns(), name);
    ip_peer("link set dev %s-far addrgenmode none\n"
            "link set dev %s-far up\n",
            name, name);
    ip("link set dev %s up\n", name);
    va_list addresses;
    va_start(addresses, name);
    for (const char *address; (address = va_arg(addresses, const char *)) != NULL;) {
        add_address(name, address);
    }
    va_end(addresses);
    wait_link_running(name, true);
    wait_addresses_settled();
}

void cable_pull(const char *name)
{
    ip_peer("link set dev %s-far down\n", name);
    wait_link_running(name, false);
}

void cable_plug(const char *name)
{
    ip_peer("link set dev %s-far up\n", name);
    wait_link_running(name, true);
}

static int open_tun(const char *name, int kind, int arphrd)
{
    int descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        skip_scenario("/dev/net/tun cannot be opened (%s); `modprobe tun`, or run as root", strerror(errno));
    }
    struct ifreq request;
    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_flags = (short)(kind | IFF_NO_PI);
    require_message(ioctl(descriptor, TUNSETIFF, &request) == 0, "TUNSETIFF %s: %s", name, strerror(errno));
    require_message(arphrd == 0 || ioctl(descriptor, TUNSETLINK, (unsigned long)arphrd) == 0, "TUNSETLINK %d: %s",
                    arphrd, strerror(errno));
    ip("link set dev %s addrgenmode none\n", name);
    return descriptor;
}

int tun(const char *name, int arphrd)
{
    return open_tun(name, IFF_TUN, arphrd);
}

int tap(const char *name)
{
    return open_tun(name, IFF_TAP, 0);
}

void sysctl_write(const char *path, const char *value)
{
    char full[256];
    snprintf(full, sizeof full, "/proc/sys/%s", path);
    int descriptor = open(full, O_WRONLY | O_CLOEXEC);
    require_message(descriptor >= 0, "%s: %s", full, strerror(errno));
    ssize_t length = (ssize_t)strlen(value);
    require_message(write(descriptor, value, (size_t)length) == length, "%s: %s", full, strerror(errno));
    close(descriptor);
}

/* ---------------------------------------------------------------------------------------------------- scripts --- */

/* The tun and tap links of scripts, which have a carrier as long as their descriptor is open. */
static struct {
    char name[IFNAMSIZ];
    int descriptor;
} tuns[16];

static void keep_tun(const char *name, int descriptor)
{
    for (size_t index = 0; index < sizeof tuns / sizeof *tuns; index++) {
        if (tuns[index].name[0] == '\0') {
            snprintf(tuns[index].name, sizeof tuns[index].name, "%s", name);
            tuns[index].descriptor = descriptor;
            return;
        }
    }
    fail_scenario(__FILE__, __LINE__, "too many tun links");
}

static void close_tun(const char *name)
{
    for (size_t index = 0; index < sizeof tuns / sizeof *tuns; index++) {
        if (strcmp(tuns[index].name, name) == 0) {
            close(tuns[index].descriptor);
            tuns[index].name[0] = '\0';
            return;
        }
    }
    fail_scenario(__FILE__, __LINE__, "no tun link is called %s", name);
}

/* Cuts the next word off, or returns NULL at the end. */
static char *next_word(char **rest)
{
    char *word;
    do {
        word = strsep(rest, " ");
    } while (word != NULL && *word == '\0');
    return word;
}

static char *needed_word(char **rest, const char *line)
{
    char *word = next_word(rest);
    require_message(word != NULL, "a word is missing in: %s", line);
    return word;
}

static void run_veth(char *rest, const char *line)
{
    const char *name = needed_word(&rest, line);
    veth(name);
    for (const char *address; (address = next_word(&rest)) != NULL;) {
        add_address(name, address);
    }
}

static void run_tun(char *rest, const char *line)
{
    const char *name = needed_word(&rest, line);
    const char *type = next_word(&rest);
    keep_tun(name, tun(name, type == NULL ? 0 : atoi(type)));
}

static void run_tap(char *rest, const char *line)
{
    const char *name = needed_word(&rest, line);
    keep_tun(name, tap(name));
}

static void run_close(char *rest, const char *line)
{
    close_tun(needed_word(&rest, line));
}

static void run_pull(char *rest, const char *line)
{
    cable_pull(needed_word(&rest, line));
}

static void run_plug(char *rest, const char *line)
{
    cable_plug(needed_word(&rest, line));
}

static void run_running(char *rest, const char *line)
{
    wait_link_running(needed_word(&rest, line), true);
}

static void run_stopped(char *rest, const char *line)
{
    wait_link_running(needed_word(&rest, line), false);
}

static void run_usable(char *rest, const char *line)
{
    wait_address_usable(needed_word(&rest, line));
}

static void run_failed(char *rest, const char *line)
{
    wait_address_failed(needed_word(&rest, line));
}

static void run_sysctl(char *rest, const char *line)
{
    const char *path = needed_word(&rest, line);
    sysctl_write(path, needed_word(&rest, line));
}

static void run_peer(char *rest, const char *line)
{
    require_message(rest != NULL, "a command is missing in: %s", line);
    ip_peer("%s\n", rest);
}

static void run_for(char *rest, const char *line)
{
    long first = strtol(needed_word(&rest, line), NULL, 10);
    long last = strtol(needed_word(&rest, line), NULL, 10);
    require_message(rest != NULL, "a command is missing in: %s", line);
    char *text = NULL;
    size_t size = 0;
    FILE *commands = open_memstream(&text, &size);
    require(commands != NULL);
    for (long number = first; number <= last; number++) {
        for (const char *next = rest; *next != '\0'; next++) {
            if (*next == '#') {
                fprintf(commands, "%ld", number);
            } else {
                fputc(*next, commands);
            }
        }
        fputc('\n', commands);
    }
    fclose(commands);
    ip_text(text);
    free(text);
}

typedef void (*command_function)(char *rest, const char *line);

/* What runs a line, NULL when it is for ip. */
static command_function own_command(const char *line)
{
    static const struct {
        const char *word;
        command_function run;
    } commands[] = {
        { "veth", run_veth },       { "tun", run_tun },         { "tap", run_tap },       { "close", run_close },
        { "pull", run_pull },       { "plug", run_plug },       { "peer", run_peer },     { "sysctl", run_sysctl },
        { "running", run_running }, { "stopped", run_stopped }, { "usable", run_usable }, { "failed", run_failed },
        { "for", run_for },
    };
    size_t length = strcspn(line, " ");
    for (size_t index = 0; index < sizeof commands / sizeof *commands; index++) {
        if (strlen(commands[index].word) == length && memcmp(commands[index].word, line, length) == 0) {
            return commands[index].run;
        }
    }
    return NULL;
}

void network(const char *script)
{
    char *copy = strdup(script);
    char *for_ip = calloc(1, strlen(script) + 2);
    require(copy != NULL && for_ip != NULL);
    char *rest = copy;
    /* Commands for ip that stand together are handed over together. */
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        line += strspn(line, " ");
        if (*line == '\0' || *line == '#') {
            continue;
        }
        command_function run = own_command(line);
        if (run == NULL) {
            strcat(strcat(for_ip, line), "\n");
            continue;
        }
        ip_text(for_ip);
        *for_ip = '\0';
        char *whole = strdup(line);
        require(whole != NULL);
        char *words = line;
        next_word(&words);
        run(words, whole);
        free(whole);
    }
    ip_text(for_ip);
    wait_addresses_settled();
    free(for_ip);
    free(copy);
}

/* ---------------------------------------------------------------------------------------------------- targets --- */

socklen_t parse_address(const char *text, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof *address);
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)address;
    if (inet_pton(AF_INET, text, &ipv4->sin_addr) == 1) {
        ipv4->sin_family = AF_INET;
        return sizeof *ipv4;
    }
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)address;
    const char *scope = strchr(text, '%');
    char bare[INET6_ADDRSTRLEN];
    snprintf(bare, sizeof bare, "%.*s", scope == NULL ? (int)strlen(text) : (int)(scope - text), text);
    require_message(inet_pton(AF_INET6, bare, &ipv6->sin6_addr) == 1, "not an address: %s", text);
    ipv6->sin6_family = AF_INET6;
    if (scope != NULL) {
        ipv6->sin6_scope_id = if_nametoindex(scope + 1);
        if (ipv6->sin6_scope_id == 0) {
            ipv6->sin6_scope_id = (uint32_t)strtoul(scope + 1, NULL, 10);
        }
        require_message(ipv6->sin6_scope_id != 0, "no such link: %s", scope + 1);
    }
    return sizeof *ipv6;
}

reach_target *target(const char *address)
{
    struct sockaddr_storage storage;
    socklen_t length = parse_address(address, &storage);
    reach_target *result = reach_create_with_address((const struct sockaddr *)&storage, length);
    require_message(result != NULL, "reach_create_with_address %s: %s", address, errno_name(errno));
    return result;
}

reach_target *target_pair(const char *local, const char *remote)
{
    struct sockaddr_storage from, to;
    socklen_t from_length = local == NULL ? 0 : parse_address(local, &from);
    socklen_t to_length = remote == NULL ? 0 : parse_address(remote, &to);
    reach_target *result = reach_create_with_address_pair(
        local == NULL ? NULL : (const struct sockaddr *)&from, from_length,
        remote == NULL ? NULL : (const struct sockaddr *)&to, to_length);
    require_message(result != NULL, "reach_create_with_address_pair %s, %s: %s", local == NULL ? "NULL" : local,
                    remote == NULL ? "NULL" : remote, errno_name(errno));
    return result;
}

reach_target *target_name(const char *name)
{
    reach_target *result = reach_create_with_name(name);
    require_message(result != NULL, "reach_create_with_name \"%s\": %s", name, errno_name(errno));
    return result;
}

void require_flags_at(const char *file, int line, reach_target *target, const char *what, reach_flags expected)
{
    reach_flags flags = 0xdeadbeef;
    if (!reach_get_flags(target, &flags)) {
        fail_scenario(file, line, "reach_get_flags(%s): %s", what, errno_name(errno));
    }
    if (flags != expected) {
        char words[200], expected_words[200];
        reach_flags_describe(flags, words, sizeof words);
        reach_flags_describe(expected, expected_words, sizeof expected_words);
        fail_scenario(file, line, "the flags of %s are 0x%x (%s), not 0x%x (%s)", what, flags, words, expected,
                      expected_words);
    }
}

reach_path path_of(reach_target *target)
{
    reach_path path;
    memset(&path, 0xff, sizeof path);
    require_message(reach_get_path(target, &path, sizeof path), "reach_get_path: %s", errno_name(errno));
    return path;
}
