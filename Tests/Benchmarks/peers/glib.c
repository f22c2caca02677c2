/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * GLib's GNetworkMonitor with its netlink backend, used as its documentation says.
 */
#include <arpa/inet.h>
#include <gio/gio.h>
#include <semaphore.h>
#include <stdio.h>

#include "../peer.h"

static GNetworkMonitor *monitor;
static GSocketConnectable *address;
static peer_changed report;
static sem_t watching;

static bool start(void)
{
    /* Without this, a running NetworkManager or a sandbox portal would be asked over D-Bus: another kind of work. */
    g_setenv("GIO_USE_NETWORK_MONITOR", "netlink", TRUE);
    monitor = g_network_monitor_get_default();
    GInetAddress *host = g_inet_address_new_from_string(PEER_ADDRESS);
    address = G_SOCKET_CONNECTABLE(g_inet_socket_address_new(host, 443));
    g_object_unref(host);
    return g_strcmp0(G_OBJECT_TYPE_NAME(monitor), "GNetworkMonitorNetlink") == 0;
}

/* The monitor knows what its loop has been allowed to read. */
static void handle_what_arrived(void)
{
    while (g_main_context_iteration(NULL, FALSE))
        continue;
}

static int check(void)
{
    handle_what_arrived();
    return g_network_monitor_can_reach(monitor, address, NULL, NULL);
}

static int check_address(uint32_t destination)
{
    GInetAddress *host = g_inet_address_new_from_bytes((const guint8 *)&destination, G_SOCKET_FAMILY_IPV4);
    GSocketConnectable *target = G_SOCKET_CONNECTABLE(g_inet_socket_address_new(host, 443));
    int online = g_network_monitor_can_reach(monitor, target, NULL, NULL);
    g_object_unref(target);
    g_object_unref(host);
    return online;
}

static int remembered(void)
{
    return g_network_monitor_get_network_available(monitor);
}

static void changed(GNetworkMonitor *source, gboolean available, gpointer unused)
{
    (void)source;
    (void)unused;
    report(0, available);
}

static gpointer loop(gpointer unused)
{
    GMainContext *context = g_main_context_new();
    (void)unused;
    g_main_context_push_thread_default(context);
    bool usable = start();
    if (usable)
        g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);
    else
        monitor = NULL;
    sem_post(&watching);
    if (usable)
        g_main_loop_run(g_main_loop_new(context, FALSE));
    return NULL;
}

static bool watch(unsigned targets, peer_changed told)
{
    (void)targets;
    report = told;
    sem_init(&watching, 0, 0);
    g_thread_new("glib", loop, NULL);
    while (sem_wait(&watching) != 0)
        continue;
    return monitor != NULL;
}

static const char *version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", glib_major_version, glib_minor_version, glib_micro_version);
    return text;
}

const struct peer peer = {
    .name = "GLib GNetworkMonitor",
    .version = version,
    .stages = 1,
    .start = start,
    .check = check,
    .check_address = check_address,
    .remembered = remembered,
    .watch = watch,
};
