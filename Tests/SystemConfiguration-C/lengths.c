/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The lengths that BSD addresses have and Linux ones have not: they can be assigned to, before the rest of the address
 * or after it, and nothing of the address is another for it.
 */
#define REACH_SIN_LEN 1
#define REACH_SA_LEN 1
#include "client.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>

static void require_local(const struct sockaddr *address)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithAddress(NULL, address);

    require(target != NULL);
    require_int(ask(target), ONLINE | kSCNetworkReachabilityFlagsIsLocalAddress | kSCNetworkReachabilityFlagsIsDirect);
    CFRelease(target);
}

static void lengths_land_where_nobody_looks(void *argument)
{
    struct sockaddr_in four = { 0 };
    struct sockaddr_in6 six = { 0 };
    struct sockaddr_storage storage = { 0 };
    struct sockaddr *generic = (struct sockaddr *)&storage;

    (void)argument;
    ip("link set lo up");
    four.sin_len = sizeof four;
    four.sin_family = AF_INET;
    four.sin_port = htons(80);
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require_local((struct sockaddr *)&four);
    four.sin_len = 0xff;
    require_int(four.sin_family, AF_INET);
    require_int(four.sin_port, htons(80));
    require_int(four.sin_addr.s_addr, htonl(INADDR_LOOPBACK));

    six.sin6_len = sizeof six;
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    six.sin6_scope_id = 1;
    require_local((struct sockaddr *)&six);
    six.sin6_len = 0xff;
    require_int(six.sin6_family, AF_INET6);
    require(memcmp(&six.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback) == 0);
    require_int(six.sin6_scope_id, 1);

    memcpy(&storage, &four, sizeof four);
    storage.ss_len = sizeof four;
    generic->sa_len = sizeof four;
    require_int(generic->sa_family, AF_INET);
    require_int(((struct sockaddr_in *)generic)->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    require_local(generic);
    memcpy(&storage, &six, sizeof six);
    storage.ss_len = sizeof six;
    require(memcmp(&((struct sockaddr_in6 *)&storage)->sin6_addr, &in6addr_loopback, sizeof in6addr_loopback) == 0);
    require_local(generic);
}

/* What "local Wi-Fi" checks ask about. */
static void the_local_link_can_be_asked_about(void *argument)
{
    struct sockaddr_in link_local = { 0 };

    (void)argument;
    one_cable();
    ip("route add 169.254.0.0/16 dev wan0 scope link");
    link_local.sin_len = sizeof link_local;
    link_local.sin_family = AF_INET;
    link_local.sin_addr.s_addr = htonl(IN_LINKLOCALNETNUM);
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithAddress(NULL, (struct sockaddr *)&link_local);
    require(target != NULL);
    require_int(ask(target), ONLINE | kSCNetworkReachabilityFlagsIsDirect);
    ip("route del 169.254.0.0/16 dev wan0");
    require_int(ask(target), 0);
    CFRelease(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(lengths_land_where_nobody_looks),
        namespace_test(the_local_link_can_be_asked_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
