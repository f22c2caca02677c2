/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The part of CoreFoundation that code around SCNetworkReachability touches: basic types, reference counts, text,
 * errors and run loops. It is no CoreFoundation, and steps aside for a real one: with REACH_USE_COREFOUNDATION defined,
 * or when the real <CoreFoundation/CFBase.h> was included before, these headers hand over to the next ones on the
 * include path.
 *
 * Everything is static, but for a few weak variables named reach_cf_, which the files and shared libraries of a program
 * have in common. So it does not matter how many files include it, nor whether another part of the program is linked
 * with a CoreFoundation; only objects of the two must not be mixed.
 *
 * Where Apple's functions crash on NULL, these do nothing.
 */
#if defined(REACH_USE_COREFOUNDATION) || \
    (!defined(REACH_CF_BASE_H) && (defined(__COREFOUNDATION_CFBASE__) || defined(__COREFOUNDATION_CFBASE_H__)))
#pragma GCC system_header
#ifndef REACH_USE_COREFOUNDATION
#define REACH_USE_COREFOUNDATION 1
#endif
#include_next <CoreFoundation/CFBase.h>
#elif !defined(REACH_CF_BASE_H)
#define REACH_CF_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <CoreFoundation/ReachShared.h>

#ifdef __cplusplus
#define CF_EXTERN_C_BEGIN extern "C" {
#define CF_EXTERN_C_END   }
#else
#define CF_EXTERN_C_BEGIN
#define CF_EXTERN_C_END
#endif

#define CF_EXPORT extern
#define CF_INLINE static __inline__ __attribute__((always_inline))
#define CF_ENUM(type, name)    type name; enum
#define CF_OPTIONS(type, name) type name; enum
#define CF_ASSUME_NONNULL_BEGIN
#define CF_ASSUME_NONNULL_END
#define CF_IMPLICIT_BRIDGING_ENABLED
#define CF_IMPLICIT_BRIDGING_DISABLED
#define CF_RETURNS_RETAINED
#define CF_RETURNS_NOT_RETAINED

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

CF_EXTERN_C_BEGIN

typedef unsigned char  Boolean;
typedef unsigned char  UInt8;
typedef signed char    SInt8;
typedef unsigned short UInt16;
typedef signed short   SInt16;
typedef unsigned int   UInt32;
typedef signed int     SInt32;
typedef uint64_t       UInt64;
typedef int64_t        SInt64;
typedef float          Float32;
typedef double         Float64;
typedef unsigned short UniChar;
typedef SInt32         OSStatus;

typedef unsigned long CFTypeID;
typedef unsigned long CFOptionFlags;
typedef unsigned long CFHashCode;
typedef signed long   CFIndex;

typedef const void *CFTypeRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFAllocator *CFAllocatorRef;

typedef CFIndex CFComparisonResult;
enum { kCFCompareLessThan = -1, kCFCompareEqualTo = 0, kCFCompareGreaterThan = 1 };

typedef struct {
    CFIndex location;
    CFIndex length;
} CFRange;

enum { kCFNotFound = -1 };

/* Memory always comes from malloc, so all allocators are the default one. */
#define kCFAllocatorDefault       ((CFAllocatorRef)0)
#define kCFAllocatorSystemDefault ((CFAllocatorRef)0)
#define kCFAllocatorMalloc        ((CFAllocatorRef)0)

/* What every object begins with. Constant text (CFSTR) has another mark, and no more than its mark and its bytes. */
#define REACH_CF_MARK_SIZE     8
#define REACH_CF_OBJECT_MARK   "\177CFobj\001\001"
#define REACH_CF_CONSTANT_MARK "\177CFstr\001\001"

struct reach_cf_object {
    char mark[REACH_CF_MARK_SIZE];
    CFTypeID type;
    long references;
    void (*destroy)(struct reach_cf_object *object);          /* frees what the object has, not the object */
    char *(*describe)(const struct reach_cf_object *object);  /* text for CFShow, from malloc */
};

enum {
    REACH_CF_TYPE_STRING = 7,
    REACH_CF_TYPE_ERROR = 27,
    REACH_CF_TYPE_RUN_LOOP = 40,
    REACH_CF_TYPE_RUN_LOOP_SOURCE = 41,
    REACH_CF_TYPE_RUN_LOOP_TIMER = 42,
    REACH_CF_TYPE_NETWORK_REACHABILITY = 60
};

static inline bool reach_cf_has_mark(const void *pointer, const char *mark)
{
    return pointer != NULL && memcmp(pointer, mark, REACH_CF_MARK_SIZE) == 0;
}

/* The object behind a reference; NULL for NULL, for constant text and for what is no object. */
static inline struct reach_cf_object *reach_cf_object_of(CFTypeRef cf)
{
    return reach_cf_has_mark(cf, REACH_CF_OBJECT_MARK) ? (struct reach_cf_object *)cf : NULL;
}

static inline bool reach_cf_is(CFTypeRef cf, CFTypeID type)
{
    struct reach_cf_object *object = reach_cf_object_of(cf);

    return object != NULL && object->type == type;
}

/* An object with one reference and zeros after its head. */
static inline void *reach_cf_create(size_t size, CFTypeID type, void (*destroy)(struct reach_cf_object *object),
                                    char *(*describe)(const struct reach_cf_object *object))
{
    struct reach_cf_object *object = (struct reach_cf_object *)reach_cf_allocate(NULL, size);

    memset(object, 0, size);
    memcpy(object->mark, REACH_CF_OBJECT_MARK, REACH_CF_MARK_SIZE);
    object->type = type;
    object->references = 1;
    object->destroy = destroy;
    object->describe = describe;
    return object;
}

static inline CFTypeRef CFRetain(CFTypeRef cf)
{
    struct reach_cf_object *object = reach_cf_object_of(cf);

    if (object != NULL) {
        (void)__atomic_add_fetch(&object->references, 1, __ATOMIC_RELAXED);
    }
    return cf;
}

static inline void CFRelease(CFTypeRef cf)
{
    struct reach_cf_object *object = reach_cf_object_of(cf);

    if (object != NULL && __atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL) == 0) {
        if (object->destroy != NULL) {
            object->destroy(object);
        }
        memset(object->mark, 0, sizeof object->mark);
        free(object);
    }
}

static inline CFIndex CFGetRetainCount(CFTypeRef cf)
{
    struct reach_cf_object *object = reach_cf_object_of(cf);

    return object == NULL ? 1 : (CFIndex)__atomic_load_n(&object->references, __ATOMIC_RELAXED);
}

static inline CFTypeID CFGetTypeID(CFTypeRef cf)
{
    struct reach_cf_object *object = reach_cf_object_of(cf);

    if (object != NULL) {
        return object->type;
    }
    return reach_cf_has_mark(cf, REACH_CF_CONSTANT_MARK) ? (CFTypeID)REACH_CF_TYPE_STRING : 0;
}

static inline CFAllocatorRef CFGetAllocator(CFTypeRef cf)
{
    (void)cf;
    return kCFAllocatorDefault;
}

CF_EXTERN_C_END

#endif
