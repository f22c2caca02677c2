/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The part in C of Reach.java, which tells how it is used. With JDK the folder of the JDK:
 *
 *     javac -h . Reach.java
 *     cc -shared -fPIC -I$JDK/include -I$JDK/include/linux -I. reach_jni.c \
 *         $(pkg-config --cflags --libs libreach) -o libreach_jni.so
 */
#include "Reach.h"

#include <errno.h>
#include <pthread.h>
#include <reach.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static JavaVM *machine;
static jclass reach_class;
static jmethodID deliver;
static pthread_key_t attached; /* of threads that were attached here: its destructor detaches them at their end */

static void detach(void *unused)
{
    (void)unused;
    (*machine)->DetachCurrentThread(machine);
}

jint JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;

    (void)reserved;
    machine = vm;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK || pthread_key_create(&attached, detach) != 0)
        return JNI_ERR;
    /* Here the class is found by the loader that loads it; on a thread of the library's it would not be. */
    jclass found = (*env)->FindClass(env, "Reach");
    if (found == NULL)
        return JNI_ERR;
    reach_class = (*env)->NewGlobalRef(env, found);
    deliver = (*env)->GetStaticMethodID(env, found, "deliver", "(Ljava/util/function/Consumer;I)V");
    return deliver == NULL ? JNI_ERR : JNI_VERSION_1_8;
}

/* The environment of this thread, which is the library's when it runs callbacks. A daemon does not keep Java alive. */
static JNIEnv *environment(void)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs arguments = {JNI_VERSION_1_8, (char *)"reach", NULL};

    if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_1_8) == JNI_OK)
        return env;
    if ((*machine)->AttachCurrentThreadAsDaemon(machine, (void **)&env, &arguments) != JNI_OK)
        return NULL;
    pthread_setspecific(attached, env);
    return env;
}

static void throw_errno(JNIEnv *env, const char *what)
{
    int number = errno;
    char message[256];

    snprintf(message, sizeof message, "%s: %s", what, strerror(number));
    const char *name = number == EINVAL ? "java/lang/IllegalArgumentException" : "java/io/IOException";
    jclass class = (*env)->FindClass(env, name);
    if (class != NULL)
        (*env)->ThrowNew(env, class, message);
}

/* info is a global reference to the listener, which keeps it from being collected until the library lets go of it. */
static void changed(reach_target *target, reach_flags flags, void *info)
{
    JNIEnv *env = environment();

    (void)target;
    if (env == NULL)
        return;
    (*env)->CallStaticVoidMethod(env, reach_class, deliver, (jobject)info, (jint)flags);
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionDescribe(env); /* prints and clears it: deliver itself could not be run */
}

static void released(void *info)
{
    JNIEnv *env = environment();

    if (env != NULL)
        (*env)->DeleteGlobalRef(env, info);
}

JNIEXPORT jboolean JNICALL Java_Reach_online(JNIEnv *env, jclass class)
{
    bool online = reach_is_online();

    (void)class;
    if (!online && errno != 0)
        throw_errno(env, "reach_is_online");
    return online;
}

JNIEXPORT jboolean JNICALL Java_Reach_isOnline(JNIEnv *env, jclass class, jint flags)
{
    (void)env, (void)class;
    return reach_flags_is_online((reach_flags)flags);
}

JNIEXPORT jstring JNICALL Java_Reach_describe(JNIEnv *env, jclass class, jint flags)
{
    char text[256];

    (void)class;
    reach_flags_describe((reach_flags)flags, text, sizeof text);
    return (*env)->NewStringUTF(env, text);
}

JNIEXPORT jlong JNICALL Java_Reach_createTarget(JNIEnv *env, jclass class, jstring name)
{
    const char *text = (*env)->GetStringUTFChars(env, name, NULL);

    (void)class;
    if (text == NULL)
        return 0;
    reach_target *target = reach_create_with_name(text);
    if (target == NULL)
        throw_errno(env, "reach_create_with_name");
    (*env)->ReleaseStringUTFChars(env, name, text);
    return (jlong)(intptr_t)target;
}

JNIEXPORT jint JNICALL Java_Reach_getFlags(JNIEnv *env, jclass class, jlong target)
{
    reach_flags flags = 0;

    (void)class;
    if (!reach_get_flags((reach_target *)(intptr_t)target, &flags))
        throw_errno(env, "reach_get_flags");
    return (jint)flags;
}

JNIEXPORT void JNICALL Java_Reach_releaseTarget(JNIEnv *env, jclass class, jlong target)
{
    (void)env, (void)class;
    reach_release((reach_target *)(intptr_t)target);
}

JNIEXPORT jlong JNICALL Java_Reach_startWatch(JNIEnv *env, jclass class, jlong pointer, jobject listener)
{
    reach_target *target = (reach_target *)(intptr_t)pointer;
    reach_queue *queue = reach_queue_create("reach");

    (void)class;
    if (queue == NULL) {
        throw_errno(env, "reach_queue_create");
        return 0;
    }
    if (!reach_set_callback(target, changed, (*env)->NewGlobalRef(env, listener), released) ||
        !reach_set_queue(target, queue)) {
        throw_errno(env, "reach_set_queue");
        reach_queue_release(queue);
        return 0;
    }
    return (jlong)(intptr_t)queue;
}

JNIEXPORT void JNICALL Java_Reach_endWatch(JNIEnv *env, jclass class, jlong target, jlong queue)
{
    (void)env, (void)class;
    reach_set_queue((reach_target *)(intptr_t)target, NULL);
    reach_queue_flush((reach_queue *)(intptr_t)queue);
    reach_release((reach_target *)(intptr_t)target);
    reach_queue_release((reach_queue *)(intptr_t)queue);
}
