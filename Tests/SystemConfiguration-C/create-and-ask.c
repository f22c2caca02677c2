/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Making targets, asking them, and the errors of both.
 */
#include "client.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

/* Apple's values, and the layout that code relies on when it fills the context in without names. */
_Static_assert(kSCNetworkReachabilityFlagsTransientConnection == 0x1 && kSCNetworkFlagsTransientConnection == 0x1, "");
_Static_assert(kSCNetworkReachabilityFlagsReachable == 0x2 && kSCNetworkFlagsReachable == 0x2, "");
_Static_assert(kSCNetworkReachabilityFlagsConnectionRequired == 0x4 && kSCNetworkFlagsConnectionRequired == 0x4, "");
_Static_assert(kSCNetworkReachabilityFlagsConnectionOnTraffic == 0x8 && kSCNetworkFlagsConnectionAutomatic == 0x8, "");
_Static_assert(kSCNetworkReachabilityFlagsConnectionAutomatic == 0x8, "");
_Static_assert(kSCNetworkReachabilityFlagsInterventionRequired == 0x10, "");
_Static_assert(kSCNetworkFlagsInterventionRequired == 0x10, "");
_Static_assert(kSCNetworkReachabilityFlagsConnectionOnDemand == 0x20, "");
_Static_assert(kSCNetworkReachabilityFlagsIsLocalAddress == 0x10000 && kSCNetworkFlagsIsLocalAddress == 0x10000, "");
_Static_assert(kSCNetworkReachabilityFlagsIsDirect == 0x20000 && kSCNetworkFlagsIsDirect == 0x20000, "");
_Static_assert(kSCNetworkReachabilityFlagsIsWWAN == 0x40000, "");
_Static_assert(sizeof(Boolean) == 1 && TRUE == 1 && FALSE == 0, "");
_Static_assert(sizeof(SCNetworkReachabilityFlags) == 4, "");
_Static_assert(offsetof(SCNetworkReachabilityContext, info) == sizeof(CFIndex), "");
_Static_assert(sizeof(SCNetworkReachabilityContext) == sizeof(CFIndex) + 4 * sizeof(void *), "");

#define LOCAL_DIRECT (ONLINE | kSCNetworkReachabilityFlagsIsLocalAddress | kSCNetworkReachabilityFlagsIsDirect)
#define DIRECT       (ONLINE | kSCNetworkReachabilityFlagsIsDirect)

static SCNetworkReachabilityRef create(const struct sockaddr *address)
{
    return SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, address);
}

static SCNetworkReachabilityRef pair(const char *local, const char *remote)
{
    struct sockaddr_storage local_address, remote_address;

    if (local != NULL) {
        parse_address(local, &local_address);
    }
    if (remote != NULL) {
        parse_address(remote, &remote_address);
    }
    return SCNetworkReachabilityCreateWithAddressPair(kCFAllocatorDefault,
                                                      local == NULL ? NULL : (struct sockaddr *)&local_address,
                                                      remote == NULL ? NULL : (struct sockaddr *)&remote_address);
}

static SCNetworkReachabilityRef name(const char *text)
{
    return SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, text);
}

static void families_are_checked(void *argument)
{
    struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/" };
    struct sockaddr_storage none = { .ss_family = AF_UNSPEC };
    struct sockaddr_in address = { .sin_family = AF_INET };
    const struct sockaddr *fine = (struct sockaddr *)&address;

    (void)argument;
    require_invalid(create(NULL));
    require_invalid(create((struct sockaddr *)&local));
    require_invalid(create((struct sockaddr *)&none));
    require_invalid(SCNetworkReachabilityCreateWithAddressPair(NULL, NULL, NULL));
    require_invalid(SCNetworkReachabilityCreateWithAddressPair(NULL, (struct sockaddr *)&local, fine));
    require_invalid(SCNetworkReachabilityCreateWithAddressPair(NULL, fine, (struct sockaddr *)&none));
}

static void any_address_is_accepted(void *argument)
{
    static const char *const addresses[] = { "0.0.0.0",   "255.255.255.255", "224.0.0.1", "127.0.0.1",
                                             "169.254.0.0", "8.8.8.8",       "::",        "::1",
                                             "::ffff:10.0.0.1", "fe80::1",   "ff02::1",   "2001:db8::1" };

    (void)argument;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        CFRelease(address_target(addresses[i]));
    }

    /* Neither the port nor the bytes without a meaning matter. */
    struct sockaddr_in odd = { .sin_family = AF_INET, .sin_port = 0xffff };
    memset(odd.sin_zero, 0xff, sizeof odd.sin_zero);
    SCNetworkReachabilityRef target = create((struct sockaddr *)&odd);
    require(target != NULL);
    CFRelease(target);
}

static void pairs_of_all_kinds_are_accepted(void *argument)
{
    static const char *const pairs[][2] = { { "0.0.0.0", "0.0.0.0" }, { "0.0.0.0", "::" },  { "::", "0.0.0.0" },
                                            { "::", "::" },           { "10.0.0.1", NULL }, { NULL, "10.0.0.1" },
                                            { "10.0.0.1", "::1" },    { "::1", "8.8.8.8" },
                                            { "127.0.0.1", "8.8.8.8" } };

    (void)argument;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        SCNetworkReachabilityRef target = pair(pairs[i][0], pairs[i][1]);
        require(target != NULL);
        CFRelease(target);
    }
}

static void only_the_empty_name_is_refused(void *argument)
{
    static const char *const names[] = { "example.com", "host-in-local-network", "en0", "host:80", "http://host", ".",
                                         "a..b",        "two words",             "b\u00fccher.example", "a.b." };
    char *endless = malloc(100001);

    (void)argument;
    require_invalid(name(NULL));
    require_invalid(name(""));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SCNetworkReachabilityRef target = name(names[i]);
        require(target != NULL);
        CFRelease(target);
    }
    require(endless != NULL);
    memset(endless, 'x', 100000);
    endless[100000] = '\0';
    SCNetworkReachabilityRef target = name(endless);
    require(target != NULL);
    CFRelease(target);
    free(endless);
}

static void targets_are_not_shared(void *argument)
{
    SCNetworkReachabilityRef one = address_target("10.9.8.7"), other = address_target("10.9.8.7");

    (void)argument;
    require(one != other);
    require(!CFEqual(one, other));
    require(CFEqual(one, one));
    require_int(CFGetTypeID(one), SCNetworkReachabilityGetTypeID());
    require(CFGetTypeID(CFSTR("text")) != SCNetworkReachabilityGetTypeID());
    require(CFRetain(one) == one);
    CFRelease(one);
    require_int(CFGetTypeID(one), SCNetworkReachabilityGetTypeID());
    CFRelease(one);
    CFRelease(other);
}

static void an_address_is_copied(void *argument)
{
    struct sockaddr_storage address;

    (void)argument;
    ip("link set lo up");
    parse_address("127.0.0.1", &address);
    SCNetworkReachabilityRef target = create((struct sockaddr *)&address);
    memset(&address, 0xff, sizeof address);
    require_int(ask(target), LOCAL_DIRECT);

    char text[] = "127.0.0.1";
    SCNetworkReachabilityRef named = name(text);
    memset(text, 'x', sizeof text - 1);
    require_int(ask(named), LOCAL_DIRECT);
    CFRelease(named);
    CFRelease(target);
}

static void *errors_of_another_thread(void *argument)
{
    (void)argument;
    require_int(SCError(), kSCStatusOK);
    require_invalid(name(NULL));
    reach_sc_error_1 = kSCStatusNoKey;
    return NULL;
}

static void errors_are_of_the_thread_and_stay(void *argument)
{
    pthread_t thread;
    SCNetworkReachabilityFlags flags;

    (void)argument;
    require_invalid(name(NULL));
    SCNetworkReachabilityRef target = address_target("127.0.0.1");
    require(SCNetworkReachabilityGetFlags(target, &flags));
    require(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    require_int(SCError(), kSCStatusInvalidArgument);
    CFRelease(target);
    require_int(pthread_create(&thread, NULL, errors_of_another_thread, NULL), 0);
    require_int(pthread_join(thread, NULL), 0);
    require_int(SCError(), kSCStatusInvalidArgument);
    require_text(SCErrorString(SCError()), "Invalid argument");
}

static void errors_have_texts(void *argument)
{
    static const struct {
        int code;
        const char *text;
    } texts[] = { { 0, "Success!" },
                  { 1001, "Failed!" },
                  { 1002, "Invalid argument" },
                  { 1003, "Permission denied" },
                  { 1004, "No such key" },
                  { 1005, "Key already defined" },
                  { 1006, "Lock already held" },
                  { 1007, "Lock required for this operation" },
                  { 2001, "Configuration daemon session not active" },
                  { 2002, "Configuration daemon not (no longer) available" },
                  { 2003, "Notifier is currently active" },
                  { 3001, "Preference session not active" },
                  { 3002, "Preferences update currently in progress" },
                  { 3003, "Configuration file not found" },
                  { 3004, "No such link" },
                  { 3005, "Write attempted on stale version of object" },
                  { 3006, "Maximum link count exceeded" },
                  { 4001, "Network reachability cannot be determined" },
                  { 5001, "Network service for connection not available" },
                  { 5002, "Network connection information not available at this time" } };
    char text[500];

    (void)argument;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        require_text(SCErrorString(texts[i].code), texts[i].text);
    }
    require_text(SCErrorString(ENOENT), strerror(ENOENT));
    require(SCErrorString(-12345) != NULL);

    require_invalid(name(NULL));
    CFErrorRef error = SCCopyLastError();
    CFStringRef description = CFErrorCopyDescription(error);
    require_int(CFErrorGetCode(error), 1002);
    require(CFEqual(CFErrorGetDomain(error), CFSTR("com.apple.SystemConfiguration")));
    require(CFStringGetCString(description, text, sizeof text, kCFStringEncodingUTF8));
    require_message(strstr(text, "Invalid argument") != NULL, "%s", text); /* A real CoreFoundation makes a sentence. */
    CFRelease(description);
    CFRelease(error);

    reach_sc_error_1 = EMFILE;
    error = SCCopyLastError();
    require_int(CFErrorGetCode(error), EMFILE);
    require(CFEqual(CFErrorGetDomain(error), kCFErrorDomainPOSIX));
    CFRelease(error);
    reach_sc_error_1 = 0;
    error = SCCopyLastError();
    require_int(CFErrorGetCode(error), 0);
    CFRelease(error);
}

static void asking_needs_a_target(void *argument)
{
    SCNetworkReachabilityFlags flags = 0x1234;
    SCNetworkReachabilityRef target = address_target("127.0.0.1");
    CFStringRef text = CFStringCreateWithCString(NULL, "no target", kCFStringEncodingUTF8);

    (void)argument;
    require_invalid(SCNetworkReachabilityGetFlags(NULL, &flags));
    require_invalid(SCNetworkReachabilityGetFlags((SCNetworkReachabilityRef)(CFTypeRef)text, &flags));
    require_invalid(SCNetworkReachabilityGetFlags((SCNetworkReachabilityRef)(CFTypeRef)CFSTR("no target"), &flags));
    require_invalid(SCNetworkReachabilityGetFlags((SCNetworkReachabilityRef)(CFTypeRef)CFRunLoopGetMain(), &flags));
    require_int(flags, 0x1234);
    require_invalid(SCNetworkReachabilityGetFlags(target, NULL));
    CFRelease(text);
    CFRelease(target);
}

static void flags_of(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags expected)
{
    require(target != NULL);
    require_int(ask(target), expected);
    CFRelease(target);
}

static void addresses_are_judged(void *argument)
{
    (void)argument;
    one_cable();
    ip(ROUTE_ADD);
    ip("address add 2001:db8:1::2/64 dev wan0 nodad");
    flags_of(address_target("127.0.0.1"), LOCAL_DIRECT);
    flags_of(address_target("127.200.1.1"), LOCAL_DIRECT);
    flags_of(address_target("::1"), LOCAL_DIRECT);
    flags_of(address_target("10.1.0.2"), LOCAL_DIRECT);
    flags_of(address_target("10.1.0.1"), DIRECT);
    flags_of(address_target("2001:db8:1::7"), DIRECT);
    flags_of(address_target("8.8.8.8"), ONLINE);
    flags_of(address_target("::ffff:8.8.8.8"), ONLINE);
    flags_of(address_target("2001:db8:2::1"), 0);

    /* Either family's path satisfies the zero address, in either spelling, and as a name. */
    flags_of(address_target("0.0.0.0"), ONLINE);
    flags_of(address_target("::"), ONLINE);
    flags_of(name("0.0.0.0"), ONLINE);
    flags_of(name("0"), ONLINE);
    flags_of(name("127.1"), LOCAL_DIRECT);
    flags_of(name("0x7f.1"), LOCAL_DIRECT);
    flags_of(name("10.1.0.1"), DIRECT);
    flags_of(name("::1"), LOCAL_DIRECT);
    flags_of(name("localhost"), LOCAL_DIRECT);
}

static void offline_is_success(void *argument)
{
    (void)argument;
    one_cable();
    flags_of(address_target("0.0.0.0"), 0);
    flags_of(address_target("::"), 0);
    flags_of(address_target("8.8.8.8"), 0);
    flags_of(name("example.com"), 0);
    flags_of(address_target("127.0.0.1"), LOCAL_DIRECT);
}

static void pairs_are_judged(void *argument)
{
    (void)argument;
    one_cable();
    ip(ROUTE_ADD);
    flags_of(pair("10.1.0.2", "8.8.8.8"), ONLINE);
    flags_of(pair("10.1.0.2", NULL), LOCAL_DIRECT);
    flags_of(pair("10.1.0.2", "10.1.0.2"), LOCAL_DIRECT);
    flags_of(pair("10.1.0.77", "8.8.8.8"), 0);
    flags_of(pair("10.1.0.77", NULL), 0);
    flags_of(pair(NULL, "10.1.0.1"), DIRECT);
    flags_of(pair("127.0.0.1", "8.8.8.8"), ONLINE);
    flags_of(pair("127.0.0.1", "127.0.0.2"), LOCAL_DIRECT);

    /* Unlike an address target, a pair gives the zero address no meaning: nothing is at 0.0.0.0 but this host. */
    SCNetworkReachabilityRef zero = pair(NULL, "0.0.0.0"), internet = address_target("0.0.0.0");
    require(ask(zero) != ask(internet));
    CFRelease(zero);
    CFRelease(internet);
}

static void an_unscheduled_target_is_asked_afresh(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    client_begin(&client);
    SCNetworkReachabilityRef internet = address_target("0.0.0.0"), host = name("host.example");
    client_attach(&client, internet);
    for (int i = 0; i < 3; i++) {
        require_int(ask(internet), 0);
        require_int(ask(host), 0);
        ip(ROUTE_ADD);
        require_int(ask(internet), ONLINE);
        require_int(ask(host), ONLINE);
        ip(ROUTE_DEL);
    }
    ip(ROUTE_ADD);
    cable_pull("wan0");
    require_int(ask(internet), 0);
    cable_plug("wan0");
    require_int(ask(internet), ONLINE);
    run_due();
    require_int(recorder_count(client.events), 0);
    CFRelease(internet);
    CFRelease(host);
    client_end(&client);
}

static void the_older_checks_work(void *argument)
{
    struct sockaddr_storage address;
    socklen_t length = parse_address("127.0.0.1", &address);
    SCNetworkConnectionFlags flags = 0x1234;

    (void)argument;
    one_cable();
    require_invalid(SCNetworkCheckReachabilityByAddress(NULL, length, &flags));
    require_invalid(SCNetworkCheckReachabilityByAddress((struct sockaddr *)&address, 0, &flags));
    require_invalid(SCNetworkCheckReachabilityByAddress((struct sockaddr *)&address, 129, &flags));
    require_invalid(SCNetworkCheckReachabilityByAddress((struct sockaddr *)&address, 15, &flags));
    require_invalid(SCNetworkCheckReachabilityByAddress((struct sockaddr *)&address, length, NULL));
    require_invalid(SCNetworkCheckReachabilityByName(NULL, &flags));
    require_int(flags, 0x1234);
    require(SCNetworkCheckReachabilityByAddress((struct sockaddr *)&address, length, &flags));
    require_int(flags, LOCAL_DIRECT);
    require(SCNetworkCheckReachabilityByAddress((struct sockaddr *)&address, 128, &flags));
    require(SCNetworkCheckReachabilityByName("host.example", &flags));
    require_int(flags, 0);
}

/* Too few descriptors for the question: the legacy behaviour, errno as the error, and nothing guessed. */
static void a_kernel_that_cannot_be_asked_is_an_error(void *argument)
{
    SCNetworkReachabilityFlags flags = 0x1234;
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    CFRunLoopRef loop = CFRunLoopGetCurrent();

    (void)argument;
    rlim_t usual = limit_descriptors(0);
    require(!SCNetworkReachabilityGetFlags(target, &flags));
    require_int(SCError(), EMFILE);
    require_int(flags, 0x1234);
    require(!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kCFRunLoopDefaultMode));
    require_int(SCError(), kSCStatusFailed);
    limit_descriptors(usual);
    require(SCNetworkReachabilityGetFlags(target, &flags));
    CFRelease(target);
}

static void require_description(SCNetworkReachabilityRef target, const char *expected)
{
    char text[1000];

    require(target != NULL);
    CFStringRef description = CFCopyDescription(target);
    require(CFStringGetCString(description, text, sizeof text, kCFStringEncodingUTF8));
    require_message(strncmp(text, "<SCNetworkReachability 0x", 25) == 0, "%s", text);
    require_message(strstr(text, expected) != NULL, "%s, not %s", text, expected);
    CFShow(target);
    CFRelease(description);
    CFRelease(target);
}

static SCNetworkReachabilityRef scoped(const char *address, uint32_t scope)
{
    struct sockaddr_storage storage;

    parse_address(address, &storage);
    ((struct sockaddr_in6 *)&storage)->sin6_scope_id = scope;
    return create((struct sockaddr *)&storage);
}

static void targets_describe_themselves(void *argument)
{
    (void)argument;
    require_description(address_target("10.0.0.1"), "{address = 10.0.0.1}");
    require_description(address_target("0.0.0.0"), "{default path}");
    require_description(address_target("::"), "{default path}");
    require_description(pair("10.0.0.1", NULL), "{local address = 10.0.0.1}");
    require_description(pair(NULL, "::1"), "{remote address = ::1}");
    require_description(pair("10.0.0.1", "10.0.0.2"), "{local address = 10.0.0.1, remote address = 10.0.0.2}");
    require_description(pair("0.0.0.0", "::"), "{local address = 0.0.0.0, remote address = ::}");
    require_description(name("host.example"), "{name = host.example}");
    require_description(name("localhost"), "{name = localhost}");

    /* The local side that is left out is not described. */
    require_description(pair("127.0.0.1", "8.8.8.8"), "{address = 8.8.8.8}");
    require_description(pair("127.0.0.1", "::1"), "{address = ::1}");
    require_description(pair("127.0.0.1", "127.0.0.2"), "{local address = 127.0.0.1, remote address = 127.0.0.2}");
    require_description(pair("::1", "8.8.8.8"), "{local address = ::1, remote address = 8.8.8.8}");
    require_description(pair("127.0.0.1", NULL), "{local address = 127.0.0.1}");

    /* Links by name, or by number when there is none. */
    require_description(scoped("fe80::1", if_nametoindex("lo")), "{address = fe80::1%lo}");
    require_description(scoped("fe80::1", 2000000000), "{address = fe80::1%2000000000}");
}

static void names_that_are_addresses_are_described_as_those(void *argument)
{
    static const char *const texts[][2] = {
        { "127.0.0.1", "{address = 127.0.0.1}" },     { "10", "{address = 0.0.0.10}" },
        { "127.1", "{address = 127.0.0.1}" },         { "0x7f.1", "{address = 127.0.0.1}" },
        { "010.1", "{address = 8.0.0.1}" },           { "0", "{default path}" },
        { "0.0.0.0", "{default path}" },              { "::", "{default path}" },
        { "::1", "{address = ::1}" },                 { "0:0::1", "{address = ::1}" },
        { "fe80::1%lo", "{address = fe80::1%lo}" },   { "fe80::1%1000000", "{address = fe80::1%1000000}" },
        { "fe80::1%", "{name = fe80::1%}" },          { "%lo", "{name = %lo}" },
        { "127.0.0.1.", "{name = 127.0.0.1.}" },      { "1.2.3.256", "{name = 1.2.3.256}" },
        { "::1::", "{name = ::1::}" },                { "10 a", "{address = 0.0.0.10}" }
    };

    (void)argument;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        require_description(name(texts[i][0]), texts[i][1]);
    }

    /* No text is too long to be read as a name. */
    char long_name[500];
    memset(long_name, '1', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    require_description(name(long_name), "{name = 1111");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        process_test(families_are_checked),
        process_test(any_address_is_accepted),
        process_test(pairs_of_all_kinds_are_accepted),
        process_test(only_the_empty_name_is_refused),
        process_test(targets_are_not_shared),
        process_test(errors_are_of_the_thread_and_stay),
        process_test(errors_have_texts),
        process_test(asking_needs_a_target),
        process_test(targets_describe_themselves),
        process_test(names_that_are_addresses_are_described_as_those),
        namespace_test(an_address_is_copied),
        namespace_test(addresses_are_judged),
        namespace_test(offline_is_success),
        namespace_test(pairs_are_judged),
        namespace_test(an_unscheduled_target_is_asked_afresh),
        namespace_test(the_older_checks_work),
        process_test(a_kernel_that_cannot_be_asked_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
