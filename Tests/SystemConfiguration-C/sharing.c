/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The drop-in is header only, yet a program has one error a thread, one loop a thread, and objects that every part of
 * it can use, whatever the parts were compiled with. See parts/part.h.
 */
#include "client.h"
#include "parts/part.h"

#include <pthread.h>

static const struct part *const parts[] = {
    &part_c,
    &part_cxx,
    &part_library,
#ifdef HAVE_OBJC
    &part_objc,
#endif
};
enum { part_count = sizeof parts / sizeof *parts };

static void the_error_is_shared(void *argument)
{
    (void)argument;
    for (int i = 0; i < part_count; i++) {
        reach_sc_error_1 = 0;
        require_int(parts[i]->error(), 0);
        parts[i]->refuse();
        require_int(SCError(), kSCStatusInvalidArgument);
        for (int j = 0; j < part_count; j++) {
            require_message(parts[j]->error() == kSCStatusInvalidArgument, "%s does not see the error of %s",
                            parts[j]->name, parts[i]->name);
        }
    }
}

static void *loops_of_another_thread(void *argument)
{
    (void)argument;
    for (int i = 0; i < part_count; i++) {
        require(parts[i]->current_loop() == CFRunLoopGetCurrent());
        require(parts[i]->main_loop() == CFRunLoopGetMain());
        require(parts[i]->current_loop() != parts[i]->main_loop());
    }
    return NULL;
}

static void loops_are_shared(void *argument)
{
    pthread_t thread;

    (void)argument;
    for (int i = 0; i < part_count; i++) {
        require(parts[i]->current_loop() == CFRunLoopGetMain());
    }
    require_int(pthread_create(&thread, NULL, loops_of_another_thread, NULL), 0);
    require_int(pthread_join(thread, NULL), 0);
}

static int told;
static unsigned told_flags;

static void tell(unsigned flags)
{
    told++;
    told_flags = flags;
}

/* Each part uses what every other part has made. */
static void objects_are_shared(void *argument)
{
    (void)argument;
    one_cable();
    for (int i = 0; i < part_count; i++) {
        for (int j = 0; j < part_count; j++) {
            const struct part *maker = parts[i], *user = parts[j];
            unsigned flags = 1;
            const void *text = maker->text("\u00fcn\u00efcode");
            require(user->texts_equal(text, "\u00fcn\u00efcode"));
            user->release(text);

            const void *target = maker->target();
            require(user->ask(target, &flags));
            require_int(flags, 0);
            require(maker->schedule(target, user->current_loop(), tell));
            ip(ROUTE_ADD);
            user->run();
            require_int(told, 1);
            require_int(told_flags, ONLINE);
            require(user->unschedule(target, maker->current_loop()));
            user->release(target);
            ip(ROUTE_DEL);
            told = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        process_test(the_error_is_shared),
        process_test(loops_are_shared),
        namespace_test(objects_are_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
