/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "dns.h"
#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_to(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    require_message(file != NULL, "%s: %s", path, strerror(errno));
    require(fputs(content, file) >= 0);
    require(fclose(file) == 0);
}

void etc_own(void)
{
    char folder[] = "/tmp/reach-etc-XXXXXX";
    require(mkdtemp(folder) != NULL);
    require(mount("tmpfs", folder, "tmpfs", 0, "mode=755") == 0);
    char command[256];
    snprintf(command, sizeof command,
             "cp -L /etc/passwd /etc/group /etc/services /etc/protocols /etc/ld.so.cache %s/", folder);
    require(system(command) == 0);
    require(mount(folder, "/etc", NULL, MS_BIND, NULL) == 0);
    write_to("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
    write_to("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n");
    write_to("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
}

void etc_replace(const char *name, const char *content)
{
    char path[128];
    char fresh[160];
    snprintf(path, sizeof path, "/etc/%s", name);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    write_to(fresh, content);
    require(rename(fresh, path) == 0);
}

void etc_name_server(int server)
{
    char content[96];
    snprintf(content, sizeof content, "nameserver 127.0.0.%d\noptions timeout:1 attempts:1\n", server);
    etc_replace("resolv.conf", content);
}

/* ----------------------------------------------------------------------------------------------------- queries --- */

static struct sockaddr_in server_address(int server)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(0x7f000000u + (unsigned)server)
    };
}

/* Asks for the address of "up.test" until somebody answers. */
static void wait_until_it_answers(int server)
{
    static const unsigned char query[] = { 0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 'u', 'p',
                                           4, 't', 'e', 's', 't', 0, 0, 1, 0, 1 };
    struct sockaddr_in address = server_address(server);
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    require(descriptor >= 0);
    require(connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0);
    int64_t end = now_ms() + deadline_ms();
    unsigned char answer[512];
    for (;;) {
        require_message(now_ms() < end, "the name server does not answer");
        if (send(descriptor, query, sizeof query, 0) < 0) {
            continue; /* the port was not open the last time, says the kernel */
        }
        struct pollfd wait = { .fd = descriptor, .events = POLLIN };
        if (poll(&wait, 1, 20) == 1 && recv(descriptor, answer, sizeof answer, 0) > 0) {
            break;
        }
    }
    close(descriptor);
}

pid_t dns_start(int server, ...)
{
    char address[64];
    snprintf(address, sizeof address, "--listen-address=127.0.0.%d", server);
    /* --no-daemon is also what keeps it from changing its group, which a user namespace forbids. */
    char *arguments[64] = { "dnsmasq",   "--no-daemon",       "--conf-file=/dev/null", "--no-resolv",
                            "--no-hosts", "--bind-interfaces", "--local=/test/",        "--log-facility=/dev/null",
                            address };
    size_t count = 9;
    va_list list;
    va_start(list, server);
    for (char *argument; (argument = va_arg(list, char *)) != NULL && count < 63;) {
        arguments[count++] = argument;
    }
    va_end(list);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp("dnsmasq", arguments);
        fprintf(stderr, "dnsmasq: %s\n", strerror(errno));
        _exit(127);
    }
    wait_until_it_answers(server);
    require_message(waitpid(child, NULL, WNOHANG) == 0, "dnsmasq has ended");
    return child;
}

void dns_stop(pid_t server)
{
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

/* -------------------------------------------------------------------------------------------- a server that fails ---
 * */

enum { most_names = 2048, longest_name = 256 };

struct dns_fake {
    int descriptor;
    enum dns_manner manner;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    size_t all;
    size_t count;
    struct {
        char name[longest_name];
        size_t queries;
    } names[most_names];
};

/* The name in a query, with dots. */
static void read_name(const unsigned char *query, size_t size, char *name)
{
    size_t at = 12;
    size_t length = 0;
    while (at < size && query[at] != 0 && at + query[at] < size && length + query[at] + 2 < longest_name) {
        memcpy(name + length, query + at + 1, query[at]);
        length += query[at];
        name[length++] = '.';
        at += query[at] + 1u;
    }
    name[length == 0 ? 0 : length - 1] = 0;
}

static size_t note(struct dns_fake *fake, const char *name)
{
    size_t index = 0;
    while (index < fake->count && strcasecmp(fake->names[index].name, name) != 0) {
        index++;
    }
    if (index == fake->count && index < most_names) {
        snprintf(fake->names[index].name, longest_name, "%s", name);
        fake->count++;
    }
    return index < most_names ? ++fake->names[index].queries : 0;
}

static void *serve(void *argument)
{
    struct dns_fake *fake = argument;
    for (;;) {
        unsigned char query[512];
        struct sockaddr_storage from;
        socklen_t length = sizeof from;
        ssize_t size = recvfrom(fake->descriptor, query, sizeof query, 0, (struct sockaddr *)&from, &length);
        if (size < 17) {
            continue;
        }
        char name[longest_name];
        read_name(query, (size_t)size, name);
        pthread_mutex_lock(&fake->lock);
        fake->all++;
        note(fake, name);
        bool answers = fake->manner == dns_failing || (fake->manner == dns_dropping_half && fake->all % 2 == 0);
        pthread_cond_broadcast(&fake->arrived);
        pthread_mutex_unlock(&fake->lock);
        if (answers) {
            query[2] |= 0x80;
            query[3] = (unsigned char)((query[3] & 0xf0) | (fake->manner == dns_failing ? 2 : 3));
            sendto(fake->descriptor, query, (size_t)size, 0, (struct sockaddr *)&from, length);
        }
    }
    return NULL;
}

struct dns_fake *dns_fake_start(int server, enum dns_manner manner)
{
    struct dns_fake *fake = calloc(1, sizeof *fake);
    require(fake != NULL);
    fake->manner = manner;
    pthread_mutex_init(&fake->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&fake->arrived, &attributes);
    pthread_condattr_destroy(&attributes);
    fake->descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    require(fake->descriptor >= 0);
    struct sockaddr_in address = server_address(server);
    require(bind(fake->descriptor, (struct sockaddr *)&address, sizeof address) == 0);
    pthread_t thread;
    require(pthread_create(&thread, NULL, serve, fake) == 0);
    pthread_detach(thread);
    return fake;
}

static size_t queries_under_lock(struct dns_fake *fake, const char *name)
{
    if (name == NULL) {
        return fake->all;
    }
    for (size_t index = 0; index < fake->count; index++) {
        if (strcasecmp(fake->names[index].name, name) == 0) {
            return fake->names[index].queries;
        }
    }
    return 0;
}

size_t dns_fake_queries(struct dns_fake *fake, const char *name)
{
    pthread_mutex_lock(&fake->lock);
    size_t count = queries_under_lock(fake, name);
    pthread_mutex_unlock(&fake->lock);
    return count;
}

void dns_fake_wait(struct dns_fake *fake, const char *name, size_t count)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += deadline_ms() / 1000;
    pthread_mutex_lock(&fake->lock);
    int error = 0;
    while (queries_under_lock(fake, name) < count && error == 0) {
        error = pthread_cond_timedwait(&fake->arrived, &fake->lock, &end);
    }
    size_t seen = queries_under_lock(fake, name);
    pthread_mutex_unlock(&fake->lock);
    require_message(seen >= count, "only %zu queries for %s", seen, name == NULL ? "any name" : name);
}
