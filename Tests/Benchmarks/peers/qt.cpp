/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Qt's QNetworkInformation. On Linux without NetworkManager its only usable backend is the one on top of
 * GNetworkMonitor.
 */
#include <QCoreApplication>
#include <QNetworkInformation>
#include <cstdlib>
#include <pthread.h>
#include <semaphore.h>

#include "../peer.h"

static QCoreApplication *application;
static QNetworkInformation *information;
static peer_changed report;
static sem_t watching;

static bool start()
{
    static int count = 1;
    static char name[] = "bench";
    static char *arguments[] = {name, nullptr};
    /* The backend asks GLib, which is to use netlink here, as in the other peers. */
    setenv("GIO_USE_NETWORK_MONITOR", "netlink", 1);
    application = new QCoreApplication(count, arguments);
#if QT_VERSION >= QT_VERSION_CHECK(6, 3, 0)
    bool loaded = QNetworkInformation::loadBackendByName(u"glib");
#else
    bool loaded = QNetworkInformation::load(u"glib");
#endif
    information = loaded ? QNetworkInformation::instance() : nullptr;
    return information != nullptr;
}

static int remembered()
{
    return information->reachability() == QNetworkInformation::Reachability::Online ||
           information->reachability() == QNetworkInformation::Reachability::Site;
}

static int check()
{
    QCoreApplication::processEvents();
    return remembered();
}

static void *loop(void *)
{
    bool usable = start();
    if (usable)
        QObject::connect(information, &QNetworkInformation::reachabilityChanged, information,
                         [](QNetworkInformation::Reachability) { report(0, remembered()); });
    sem_post(&watching);
    if (usable)
        QCoreApplication::exec();
    return nullptr;
}

static bool watch(unsigned, peer_changed told)
{
    pthread_t thread;
    report = told;
    sem_init(&watching, 0, 0);
    if (pthread_create(&thread, nullptr, loop, nullptr) != 0)
        return false;
    while (sem_wait(&watching) != 0)
        continue;
    return information != nullptr;
}

extern "C" const struct peer peer;

static const char *version()
{
    return qVersion();
}

extern "C" const struct peer peer = {
    "Qt QNetworkInformation", version, 1, start, check, nullptr, remembered, watch, nullptr,
};
