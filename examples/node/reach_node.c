/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * libreach for Node, as a Node-API addon: the part in C, which reach.js makes pleasant. node -p process.execPath tells
 * where Node is; its headers are in include/node beside its bin, or come with the package libnode-dev.
 *
 *     cc -shared -fPIC -I/usr/include/node reach_node.c $(pkg-config --cflags --libs libreach) -o reach_node.node
 */
#define NAPI_VERSION 8
#include <errno.h>
#include <node_api.h>
#include <reach.h>
#include <stdlib.h>
#include <uv.h>

/* A watch is a manual queue whose descriptor the loop of its environment (the main thread or a worker) polls. Its
 * changes are read as data, so that JavaScript never runs inside a call of the library's. */
struct watch {
    uv_poll_t poll;
    napi_env env;
    napi_ref listener;
    napi_async_context context;
    napi_async_cleanup_hook_handle cleanup;
    reach_target *target;
    reach_queue *queue;
    int users; /* the open descriptor, and the object that JavaScript has */
};

/* Throws the error that errno stands for, in the form of Node's own system errors, and returns NULL. */
static napi_value throw_errno(napi_env env, const char *what)
{
    int number = errno;
    napi_value code, message, error, value;
    char text[256];

    snprintf(text, sizeof text, "%s: %s, %s", uv_err_name(-number), uv_strerror(-number), what);
    napi_create_string_utf8(env, uv_err_name(-number), NAPI_AUTO_LENGTH, &code);
    napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &message);
    napi_create_error(env, code, message, &error);
    napi_create_int32(env, -number, &value);
    napi_set_named_property(env, error, "errno", value);
    napi_create_string_utf8(env, what, NAPI_AUTO_LENGTH, &value);
    napi_set_named_property(env, error, "syscall", value);
    napi_throw(env, error);
    return NULL;
}

static void drop(struct watch *watch)
{
    if (--watch->users == 0)
        free(watch);
}

static void on_closed(uv_handle_t *poll)
{
    struct watch *watch = poll->data;

    /* Only now may the loop be torn down. */
    napi_remove_async_cleanup_hook(watch->cleanup);
    drop(watch);
}

/* Ends a watch, once: it is called by close(), or when the environment ends. */
static void end(struct watch *watch)
{
    if (watch->queue == NULL)
        return;
    uv_close((uv_handle_t *)&watch->poll, on_closed); /* stops polling now, before the descriptor goes */
    reach_set_queue(watch->target, NULL);
    reach_release(watch->target);
    reach_queue_release(watch->queue);
    watch->queue = NULL;
    napi_async_destroy(watch->env, watch->context);
    napi_delete_reference(watch->env, watch->listener);
}

static void on_cleanup(napi_async_cleanup_hook_handle cleanup, void *watch)
{
    (void)cleanup;
    end(watch);
}

static void on_collected(napi_env env, void *watch, void *hint)
{
    (void)env, (void)hint;
    drop(watch);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    reach_target *target;
    reach_flags flags;

    (void)status, (void)events;
    /* The listener may have closed the watch. */
    while (watch->queue != NULL && reach_queue_next(watch->queue, 0, &target, &flags) == 1) {
        napi_handle_scope scope;
        napi_value receiver, listener, argument, result, exception;

        napi_open_handle_scope(watch->env, &scope);
        napi_get_global(watch->env, &receiver);
        napi_get_reference_value(watch->env, watch->listener, &listener);
        napi_create_uint32(watch->env, flags, &argument);
        if (napi_make_callback(watch->env, watch->context, receiver, listener, 1, &argument, &result) ==
            napi_pending_exception) {
            napi_get_and_clear_last_exception(watch->env, &exception);
            napi_fatal_exception(watch->env, exception);
        }
        napi_close_handle_scope(watch->env, scope);
    }
}

/* The target for a name in JavaScript; NULL with an exception thrown. */
static reach_target *target_for(napi_env env, napi_value value)
{
    reach_target *target = NULL;
    size_t length;
    char *name;

    if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) {
        napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "The name must be a string");
        return NULL;
    }
    name = malloc(length + 1);
    if (name != NULL) {
        napi_get_value_string_utf8(env, value, name, length + 1, &length);
        target = reach_create_with_name(name);
    }
    if (target == NULL)
        throw_errno(env, "reach_create_with_name");
    free(name);
    return target;
}

/* online(): is there a path to the internet at large? */
static napi_value online(napi_env env, napi_callback_info call)
{
    napi_value result;
    bool answer = reach_is_online();

    (void)call;
    if (!answer && errno != 0)
        return throw_errno(env, "reach_is_online");
    napi_get_boolean(env, answer, &result);
    return result;
}

/* flags(name): the answer now. */
static napi_value flags_of(napi_env env, napi_callback_info call)
{
    size_t count = 1;
    napi_value argument, result = NULL;
    reach_flags flags;

    napi_get_cb_info(env, call, &count, &argument, NULL, NULL);
    reach_target *target = target_for(env, argument);
    if (target == NULL)
        return NULL;
    if (reach_get_flags(target, &flags))
        napi_create_uint32(env, flags, &result);
    else
        throw_errno(env, "reach_get_flags");
    reach_release(target);
    return result;
}

/* isOnline(flags) */
static napi_value is_online(napi_env env, napi_callback_info call)
{
    size_t count = 1;
    napi_value argument, result;
    uint32_t flags = 0;

    napi_get_cb_info(env, call, &count, &argument, NULL, NULL);
    napi_get_value_uint32(env, argument, &flags);
    napi_get_boolean(env, reach_flags_is_online(flags), &result);
    return result;
}

/* describe(flags): the flags in words. */
static napi_value describe(napi_env env, napi_callback_info call)
{
    size_t count = 1;
    napi_value argument, result;
    uint32_t flags = 0;
    char text[256];

    napi_get_cb_info(env, call, &count, &argument, NULL, NULL);
    napi_get_value_uint32(env, argument, &flags);
    reach_flags_describe(flags, text, sizeof text);
    napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &result);
    return result;
}

/* watch(name, listener): calls listener(flags) for every change, until close(watch). */
static napi_value watch_for(napi_env env, napi_callback_info call)
{
    size_t count = 2;
    napi_value arguments[2], name, result;
    napi_valuetype type;
    uv_loop_t *loop;

    napi_get_cb_info(env, call, &count, arguments, NULL, NULL);
    if (napi_typeof(env, arguments[1], &type) != napi_ok || type != napi_function) {
        napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "The listener must be a function");
        return NULL;
    }
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return throw_errno(env, "calloc");
    watch->env = env;
    watch->target = target_for(env, arguments[0]);
    watch->queue = watch->target == NULL ? NULL : reach_queue_create_manual();
    if (watch->queue == NULL || !reach_set_queue(watch->target, watch->queue)) {
        if (watch->target != NULL)
            throw_errno(env, "reach_queue");
        reach_queue_release(watch->queue);
        reach_release(watch->target);
        free(watch);
        return NULL;
    }

    napi_get_uv_event_loop(env, &loop);
    uv_poll_init(loop, &watch->poll, reach_queue_fd(watch->queue));
    uv_poll_start(&watch->poll, UV_READABLE, on_readable);
    watch->poll.data = watch;
    watch->users = 2;
    napi_create_string_utf8(env, "reach", NAPI_AUTO_LENGTH, &name);
    napi_async_init(env, NULL, name, &watch->context);
    napi_create_reference(env, arguments[1], 1, &watch->listener);
    napi_add_async_cleanup_hook(env, on_cleanup, watch, &watch->cleanup);
    napi_create_external(env, watch, on_collected, NULL, &result);
    return result;
}

/* close(watch): ends it. It may be called more than once, also by the listener. */
static napi_value close_watch(napi_env env, napi_callback_info call)
{
    size_t count = 1;
    napi_value argument;
    void *watch;

    napi_get_cb_info(env, call, &count, &argument, NULL, NULL);
    if (napi_get_value_external(env, argument, &watch) == napi_ok)
        end(watch);
    else
        napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "This is not a watch");
    return NULL;
}

NAPI_MODULE_INIT()
{
    const napi_property_descriptor functions[] = {
        {"online", NULL, online, NULL, NULL, NULL, napi_enumerable, NULL},
        {"flags", NULL, flags_of, NULL, NULL, NULL, napi_enumerable, NULL},
        {"isOnline", NULL, is_online, NULL, NULL, NULL, napi_enumerable, NULL},
        {"describe", NULL, describe, NULL, NULL, NULL, napi_enumerable, NULL},
        {"watch", NULL, watch_for, NULL, NULL, NULL, napi_enumerable, NULL},
        {"close", NULL, close_watch, NULL, NULL, NULL, napi_enumerable, NULL},
    };

    napi_define_properties(env, exports, sizeof functions / sizeof functions[0], functions);
    return exports;
}
