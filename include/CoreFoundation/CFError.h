/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Error objects, as SCCopyLastError returns them. See CFBase.h.
 */
#include <CoreFoundation/CFBase.h>

#ifdef REACH_USE_COREFOUNDATION
#pragma GCC system_header
#include_next <CoreFoundation/CFError.h>
#elif !defined(REACH_CF_ERROR_H)
#define REACH_CF_ERROR_H

#include <CoreFoundation/CFString.h>

CF_EXTERN_C_BEGIN

typedef struct __CFError *CFErrorRef;
typedef CFStringRef CFErrorDomain;

#define kCFErrorDomainPOSIX CFSTR("NSPOSIXErrorDomain")

struct reach_cf_error {
    struct reach_cf_object object;
    CFErrorDomain domain;
    CFIndex code;
    CFStringRef text;
};

static inline CFTypeID CFErrorGetTypeID(void)
{
    return REACH_CF_TYPE_ERROR;
}

static inline struct reach_cf_error *reach_cf_error_of(CFErrorRef error)
{
    return reach_cf_is(error, REACH_CF_TYPE_ERROR) ? (struct reach_cf_error *)(void *)error : NULL;
}

static inline CFIndex CFErrorGetCode(CFErrorRef error)
{
    return reach_cf_error_of(error) == NULL ? 0 : reach_cf_error_of(error)->code;
}

static inline CFErrorDomain CFErrorGetDomain(CFErrorRef error)
{
    return reach_cf_error_of(error) == NULL ? NULL : reach_cf_error_of(error)->domain;
}

static inline CFStringRef CFErrorCopyDescription(CFErrorRef error)
{
    return reach_cf_error_of(error) == NULL ? NULL : (CFStringRef)CFRetain(reach_cf_error_of(error)->text);
}

static inline void reach_cf_error_destroy(struct reach_cf_object *object)
{
    CFRelease(((struct reach_cf_error *)(void *)object)->domain);
    CFRelease(((struct reach_cf_error *)(void *)object)->text);
}

static inline char *reach_cf_error_describe(const struct reach_cf_object *object)
{
    const struct reach_cf_error *error = (const struct reach_cf_error *)(const void *)object;

    return reach_cf_print("Error Domain=%s Code=%ld \"%s\"", reach_cf_string_bytes(error->domain), (long)error->code,
                          reach_cf_string_bytes(error->text));
}

static inline CFErrorRef reach_cf_error_create(CFErrorDomain domain, CFIndex code, const char *text)
{
    struct reach_cf_error *error = (struct reach_cf_error *)reach_cf_create(
        sizeof *error, REACH_CF_TYPE_ERROR, reach_cf_error_destroy, reach_cf_error_describe);

    error->domain = (CFErrorDomain)CFRetain(domain);
    error->code = code;
    error->text = reach_cf_string_adopt(reach_cf_print("%s", text));
    return (CFErrorRef)(void *)error;
}

CF_EXTERN_C_END

#endif
