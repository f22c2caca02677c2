// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
//
// Changes of the internet path in Qt's event loop, until standard input ends.
//
//     c++ -std=c++17 -fPIC qt_loop.cpp $(pkg-config --cflags --libs libreach Qt6Core) -o qt_loop
#include <QCoreApplication>
#include <QSocketNotifier>
#include <QTextStream>
#include <cstdio>
#include <cstdlib>
#include <reach.h>

static QTextStream out(stdout);

static void changed(reach_target *, reach_flags flags, void *)
{
    char text[128];

    reach_flags_describe(flags, text, sizeof text);
    out << "change: " << text << Qt::endl;
}

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = reach_create_with_name("0.0.0.0");

    if (!reach_set_callback(internet, changed, nullptr, nullptr) || !reach_set_queue(internet, queue)) {
        qErrnoWarning("reach");
        return EXIT_FAILURE;
    }
    out << "online: " << (reach_is_online() ? "yes" : "no") << Qt::endl;

    {
        // The notifiers end before the descriptor that they watch.
        QSocketNotifier changes(reach_queue_fd(queue), QSocketNotifier::Read);
        QSocketNotifier input(fileno(stdin), QSocketNotifier::Read);
        QObject::connect(&changes, &QSocketNotifier::activated, [queue] { reach_queue_dispatch(queue, 0); });
        QObject::connect(&input, &QSocketNotifier::activated, &application, &QCoreApplication::quit);
        application.exec();
    }

    reach_set_queue(internet, nullptr);
    reach_release(internet);
    reach_queue_release(queue);
    out << "bye" << Qt::endl;
    return EXIT_SUCCESS;
}
