/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Is this machine connected to a network? The zero address stands for the internet at large, over IPv4 or IPv6:
 * connected means that it is reachable, and that no connection has to be made first. Nothing is sent to find out.
 *
 *     cc zero_check.c $(pkg-config --cflags --libs libreach) -o zero_check
 *     ./zero_check && echo go ahead
 */
#include <netinet/in.h>
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool connected_to_network(void)
{
    struct sockaddr_in zero_address;
    reach_target *default_path;
    reach_flags flags = 0;
    bool asked, reachable, needs_connection;

    memset(&zero_address, 0, sizeof zero_address);
    zero_address.sin_family = AF_INET;

    default_path = reach_create_with_address((const struct sockaddr *)&zero_address, sizeof zero_address);
    asked = reach_get_flags(default_path, &flags);
    reach_release(default_path);
    if (!asked) {
        perror("reach_get_flags");
        exit(2);
    }

    reachable = (flags & REACH_FLAG_REACHABLE) != 0;
    needs_connection = (flags & REACH_FLAG_CONNECTION_REQUIRED) != 0;
    return reachable && !needs_connection;
}

int main(void)
{
    /* reach_is_online() is all of the above in one call. */
    bool connected = connected_to_network();

    puts(connected ? "connected" : "not connected");
    return connected ? EXIT_SUCCESS : EXIT_FAILURE;
}
