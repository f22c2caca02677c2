/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Text, as far as host names, run loop modes and error descriptions need it: UTF-8 in, UTF-8 out. See CFBase.h.
 */
#include <CoreFoundation/CFBase.h>

#ifdef REACH_USE_COREFOUNDATION
#pragma GCC system_header
#include_next <CoreFoundation/CFString.h>
#elif !defined(REACH_CF_STRING_H)
#define REACH_CF_STRING_H

CF_EXTERN_C_BEGIN

typedef UInt32 CFStringEncoding;
enum {
    kCFStringEncodingMacRoman = 0,
    kCFStringEncodingISOLatin1 = 0x0201,
    kCFStringEncodingASCII = 0x0600,
    kCFStringEncodingUTF8 = 0x08000100
};

/* Constant text. It is an address constant in C and C++, so it may initialise variables with static storage. */
#define CFSTR(text) ((CFStringRef)(const void *)(REACH_CF_CONSTANT_MARK "" text ""))

struct reach_cf_string {
    struct reach_cf_object object;
    char *bytes;
};

static inline CFTypeID CFStringGetTypeID(void)
{
    return REACH_CF_TYPE_STRING;
}

static inline const char *reach_cf_string_bytes(CFStringRef string)
{
    const void *pointer = string;

    if (reach_cf_has_mark(pointer, REACH_CF_CONSTANT_MARK)) {
        return (const char *)pointer + REACH_CF_MARK_SIZE;
    }
    return reach_cf_is(string, REACH_CF_TYPE_STRING) ? ((const struct reach_cf_string *)pointer)->bytes : NULL;
}

static inline void reach_cf_string_destroy(struct reach_cf_object *object)
{
    free(((struct reach_cf_string *)(void *)object)->bytes);
}

/* Takes bytes over, which come from malloc. */
static inline CFStringRef reach_cf_string_adopt(char *bytes)
{
    struct reach_cf_string *string = (struct reach_cf_string *)reach_cf_create(sizeof *string, REACH_CF_TYPE_STRING,
                                                                               reach_cf_string_destroy, NULL);

    string->bytes = bytes;
    return (CFStringRef)(const void *)string;
}

static inline bool reach_cf_encoding_holds(CFStringEncoding encoding, const char *bytes)
{
    if (encoding == (CFStringEncoding)kCFStringEncodingUTF8) {
        return true;
    }
    for (; *bytes != '\0'; bytes++) {
        if ((unsigned char)*bytes >= 0x80) {
            return false;
        }
    }
    return true;
}

/* ASCII is the common part of the encodings that are named above; text outside it must be UTF-8. */
static inline CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text,
                                                    CFStringEncoding encoding)
{
    (void)allocator;
    return text == NULL || !reach_cf_encoding_holds(encoding, text) ? NULL
                                                                    : reach_cf_string_adopt(reach_cf_print("%s", text));
}

static inline CFStringRef CFStringCreateCopy(CFAllocatorRef allocator, CFStringRef string)
{
    (void)allocator;
    return (CFStringRef)CFRetain(string);
}

/* NULL when the text cannot be had without conversion: Apple's callers must be ready for that, and for this. */
static inline const char *CFStringGetCStringPtr(CFStringRef string, CFStringEncoding encoding)
{
    const char *bytes = reach_cf_string_bytes(string);

    return bytes != NULL && reach_cf_encoding_holds(encoding, bytes) ? bytes : NULL;
}

static inline Boolean CFStringGetCString(CFStringRef string, char *buffer, CFIndex size, CFStringEncoding encoding)
{
    const char *bytes = CFStringGetCStringPtr(string, encoding);

    if (bytes == NULL || buffer == NULL || size <= 0 || strlen(bytes) >= (size_t)size) {
        return FALSE;
    }
    memcpy(buffer, bytes, strlen(bytes) + 1);
    return TRUE;
}

/* In UTF-16 units, as Apple counts: one for each lead byte, two for one of four bytes. */
static inline CFIndex CFStringGetLength(CFStringRef string)
{
    const char *bytes = reach_cf_string_bytes(string);
    CFIndex length = 0;

    for (; bytes != NULL && *bytes != '\0'; bytes++) {
        unsigned char byte = (unsigned char)*bytes;

        length += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
    }
    return length;
}

static inline CFIndex CFStringGetMaximumSizeForEncoding(CFIndex length, CFStringEncoding encoding)
{
    return encoding == (CFStringEncoding)kCFStringEncodingUTF8 ? length * 3 : length;
}

static inline Boolean CFEqual(CFTypeRef one, CFTypeRef other)
{
    const char *bytes = reach_cf_string_bytes((CFStringRef)one);
    const char *other_bytes = reach_cf_string_bytes((CFStringRef)other);

    return one == other || (bytes != NULL && other_bytes != NULL && strcmp(bytes, other_bytes) == 0);
}

static inline CFHashCode CFHash(CFTypeRef cf)
{
    const char *bytes = reach_cf_string_bytes((CFStringRef)cf);
    CFHashCode hash = 5381;

    if (bytes == NULL) {
        return (CFHashCode)(uintptr_t)cf;
    }
    for (; *bytes != '\0'; bytes++) {
        hash = hash * 33 ^ (unsigned char)*bytes;
    }
    return hash;
}

static inline CFStringRef CFCopyDescription(CFTypeRef cf)
{
    struct reach_cf_object *object = reach_cf_object_of(cf);
    const char *bytes = reach_cf_string_bytes((CFStringRef)cf);

    if (bytes != NULL) {
        return (CFStringRef)CFRetain(cf);
    }
    if (object != NULL && object->describe != NULL) {
        return reach_cf_string_adopt(object->describe(object));
    }
    return reach_cf_string_adopt(reach_cf_print("<CFType %p [0x0]>", cf));
}

/* One line on standard error. */
static inline void CFShow(CFTypeRef cf)
{
    CFStringRef text = cf == NULL ? NULL : CFCopyDescription(cf);
    const char *bytes = reach_cf_string_bytes(text);

    fprintf(stderr, "%s\n", bytes == NULL ? "(null)" : bytes);
    CFRelease(text);
}

CF_EXTERN_C_END

#endif
