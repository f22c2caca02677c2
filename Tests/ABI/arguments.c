/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Every argument that a caller can get wrong, for targets, flags, paths, names and versions. Nothing may crash, outputs
 * may be written on success only, and nothing may be read beyond what was handed in: what is handed in ends where a
 * page ends behind which nothing may be touched.
 */
#include "support.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OWN (REACH_FLAG_REACHABLE | REACH_FLAG_IS_LOCAL_ADDRESS | REACH_FLAG_IS_DIRECT)

/* A copy of length bytes that ends with a page; the next page cannot be read. Never freed: the process ends soon. */
static void *at_the_edge(const void *bytes, size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (length / page + 1) * page;
    char *start = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(start != MAP_FAILED);
    require_int(mprotect(start + room, page, PROT_NONE), 0);
    return memcpy(start + room - length, bytes, length);
}

static struct sockaddr_storage make_address(int family)
{
    struct sockaddr_storage storage;
    memset(&storage, 0, sizeof storage);
    storage.ss_family = (sa_family_t)family;
    return storage;
}

/* Makes a target from exactly length bytes of an address of this family, all else zero. */
static reach_target *create(int family, size_t length)
{
    struct sockaddr_storage storage = make_address(family);
    const void *edge = at_the_edge(&storage, length);
    return reach_create_with_address(edge, (socklen_t)length);
}

static reach_target *create_pair(int local_family, size_t local_length, int remote_family, size_t remote_length)
{
    struct sockaddr_storage local = make_address(local_family);
    struct sockaddr_storage remote = make_address(remote_family);
    return reach_create_with_address_pair(at_the_edge(&local, local_length), (socklen_t)local_length,
                                          at_the_edge(&remote, remote_length), (socklen_t)remote_length);
}

#define require_created(call) \
    do { \
        reach_target *created_ = (call); \
        require_message(created_ != NULL, "%s: %s", #call, errno_name(errno)); \
        reach_release(created_); \
    } while (0)

/* --------------------------------------------------------------------------------------------------- addresses --- */

static void address_null(void *argument)
{
    (void)argument;
    require_refused(reach_create_with_address(NULL, 0), NULL, EINVAL);
    require_refused(reach_create_with_address(NULL, sizeof(struct sockaddr_in)), NULL, EINVAL);
    require_refused(reach_create_with_address(NULL, sizeof(struct sockaddr_in6)), NULL, EINVAL);
    require_refused(reach_create_with_address(NULL, (socklen_t)-1), NULL, EINVAL);
}

static void address_lengths(void *argument)
{
    (void)argument;
    for (size_t length = 0; length < 16; length++) {
        require_refused(create(AF_INET, length), NULL, EINVAL);
    }
    for (size_t length = 0; length < 28; length++) {
        require_refused(create(AF_INET6, length), NULL, EINVAL);
    }
    for (size_t length = 16; length <= 128; length++) {
        require_created(create(AF_INET, length));
    }
    for (size_t length = 28; length <= 128; length++) {
        require_created(create(AF_INET6, length));
    }
    static const socklen_t too_long[] = { 129, 256, 65535, 65536 + 16, 0x7fffffff, 0x80000000u, (socklen_t)-1 };
    for (size_t index = 0; index < sizeof too_long / sizeof *too_long; index++) {
        struct sockaddr_storage storage = make_address(AF_INET);
        require_refused(reach_create_with_address((struct sockaddr *)&storage, too_long[index]), NULL, EINVAL);
        storage = make_address(AF_INET6);
        require_refused(reach_create_with_address((struct sockaddr *)&storage, too_long[index]), NULL, EINVAL);
    }
}

static void address_families(void *argument)
{
    (void)argument;
    static const int families[] = { AF_UNSPEC, AF_UNIX, AF_PACKET, AF_NETLINK, AF_BLUETOOTH, 11, 30, 255, 0x0200,
        0xffff };
    for (size_t index = 0; index < sizeof families / sizeof *families; index++) {
        require_refused(create(families[index], 16), NULL, EAFNOSUPPORT);
        require_refused(create(families[index], 28), NULL, EAFNOSUPPORT);
        require_refused(create(families[index], 128), NULL, EAFNOSUPPORT);
    }
}

/* Whatever else an address says is accepted: it is a question, and questions may be odd. */
static void address_contents(void *argument)
{
    (void)argument;
    static const uint32_t values[] = { 0, 1, 0x0a000001, 0x7f000001, 0xa9fe0000, 0xe0000001, 0xf0000000, 0xffffffff };
    for (size_t index = 0; index < sizeof values / sizeof *values; index++) {
        struct sockaddr_in address;
        memset(&address, 0xff, sizeof address);
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(values[index]);
        require_created(reach_create_with_address((struct sockaddr *)&address, sizeof address));
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        struct sockaddr_in6 address;
        memset(&address, (int)byte, sizeof address);
        address.sin6_family = AF_INET6;
        reach_target *odd = reach_create_with_address((struct sockaddr *)&address, sizeof address);
        require(odd != NULL);
        reach_flags flags = 0xdeadbeef;
        require_message(reach_get_flags(odd, &flags), "%02x...: %s", byte, errno_name(errno));
        reach_release(odd);
    }
}

/* The caller's copy may change, move and be badly aligned. */
static void address_is_copied(void *argument)
{
    (void)argument;
    ip("link set lo up\n");
    struct sockaddr_storage loopback;
    socklen_t length = parse_address("127.0.0.1", &loopback);
    char *unaligned = malloc(length + 1u);
    require(unaligned != NULL);
    memcpy(unaligned + 1, &loopback, length);
    reach_target *one = reach_create_with_address((const void *)(unaligned + 1), length);
    reach_target *two = reach_create_with_address_pair((const void *)(unaligned + 1), length, NULL, 0);
    memset(unaligned, 0x55, length + 1u);
    free(unaligned);
    char text[] = "127.0.0.1";
    reach_target *three = reach_create_with_name(text);
    memset(text, 'x', sizeof text - 1);
    require_flags(one, OWN);
    require_flags(two, OWN);
    require_flags(three, OWN);
    reach_release(one);
    reach_release(two);
    reach_release(three);
}

/* ------------------------------------------------------------------------------------------------------- pairs --- */

static void pair_sides(void *argument)
{
    (void)argument;
    struct sockaddr_storage good = make_address(AF_INET);
    const struct sockaddr *side = (struct sockaddr *)&good;
    require_refused(reach_create_with_address_pair(NULL, 0, NULL, 0), NULL, EINVAL);
    require_refused(reach_create_with_address_pair(NULL, 16, NULL, 16), NULL, EINVAL);
    /* A side that is left out has neither an address nor a length. */
    require_refused(reach_create_with_address_pair(NULL, 16, side, 16), NULL, EINVAL);
    require_refused(reach_create_with_address_pair(side, 16, NULL, 16), NULL, EINVAL);
    require_refused(reach_create_with_address_pair(side, 0, side, 16), NULL, EINVAL);
    require_refused(reach_create_with_address_pair(side, 16, side, 0), NULL, EINVAL);
    require_refused(reach_create_with_address_pair(side, 0, NULL, 0), NULL, EINVAL);
    require_refused(reach_create_with_address_pair(NULL, 0, side, 0), NULL, EINVAL);
    require_created(reach_create_with_address_pair(side, 16, NULL, 0));
    require_created(reach_create_with_address_pair(NULL, 0, side, 16));
}

static void pair_lengths_and_families(void *argument)
{
    (void)argument;
    static const struct {
        int family;
        size_t length;
        int failure;
    } sides[] = {
        { AF_INET, 16, 0 },       { AF_INET, 128, 0 },        { AF_INET6, 28, 0 },          { AF_INET6, 128, 0 },
        { AF_INET, 15, EINVAL },  { AF_INET6, 27, EINVAL },   { AF_INET6, 16, EINVAL },     { AF_INET, 1, EINVAL },
        { AF_UNSPEC, 28, EAFNOSUPPORT }, { AF_UNIX, 110, EAFNOSUPPORT }, { 0xffff, 128, EAFNOSUPPORT },
    };
    enum { count = sizeof sides / sizeof *sides };
    for (size_t left = 0; left < count; left++) {
        for (size_t right = 0; right < count; right++) {
            errno = 0;
            reach_target *made = create_pair(sides[left].family, sides[left].length, sides[right].family,
                                             sides[right].length);
            int failure = errno;
            /* When both sides are bad, either may be told of. */
            bool good = sides[left].failure == 0 && sides[right].failure == 0;
            require_message((made != NULL) == good, "sides %zu and %zu", left, right);
            require_message(good || failure == sides[left].failure || failure == sides[right].failure,
                            "sides %zu and %zu: %s", left, right, errno_name(failure));
            require_message(good || failure != 0, "sides %zu and %zu: no errno", left, right);
            reach_release(made);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- names --- */

static void name_refused(void *argument)
{
    (void)argument;
    require_refused(reach_create_with_name(NULL), NULL, EINVAL);
    require_refused(reach_create_with_name(""), NULL, EINVAL);
}

/* However malformed it is, a name is accepted, asked about, and not there. */
static void name_accepted(void *argument)
{
    (void)argument;
    static const char *const names[] = {
        " ", ".", "..", "a..b", "-", "%", "%%", "%lo", "::1%", "::1%lo", "fe80::1%", "fe80::1%nolink",
        "fe80::1%4294967296", "fe80::1%99999999999999999999",
        "fe80::1%a-name-that-is-longer-than-any-link-name-can-be", ":", "::", ":::",
        "[::1]", "1.2.3.4.5", "999.1.1.1", "4294967296", "0x", "0x1ffffffff", "1.", "1..2", "host:80", "http://host/",
        "user@host", "a b", "\n", "\x80\xff\xfe", "b\303\274cher.example", "xn--", "localhost.", ".localhost",
        "localhost..", "*", "127.0.0.1 x",
        "::ffff:1.2.3.4", "::1.2.3", "1:2:3:4:5:6:7:8:9", "0000000000000000000000000000000000000000000000000000001.1",
    };
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        const char *edge = at_the_edge(names[index], strlen(names[index]) + 1);
        reach_target *named = reach_create_with_name(edge);
        require_message(named != NULL, "\"%s\": %s", names[index], errno_name(errno));
        reach_flags flags = 0xdeadbeef;
        require_message(reach_get_flags(named, &flags), "\"%s\": %s", names[index], errno_name(errno));
        path_of(named);
        reach_release(named);
    }
    for (int byte = 1; byte < 256; byte++) {
        char text[] = { (char)byte, '\0' };
        reach_target *named = target_name(text);
        reach_flags flags;
        require(reach_get_flags(named, &flags));
        reach_release(named);
    }
}

static void name_lengths(void *argument)
{
    (void)argument;
    static const size_t lengths[] = { 1, 63, 64, 253, 254, 255, 256, 1023, 1024, 4095, 4096, 10000, 1 << 20 };
    static const char fillers[] = { 'a', '.', '1', ':', '%', ' ', '\xff' };
    for (size_t index = 0; index < sizeof lengths / sizeof *lengths; index++) {
        for (size_t filler = 0; filler < sizeof fillers; filler++) {
            size_t length = lengths[index];
            char *name = malloc(length + 1);
            require(name != NULL);
            memset(name, fillers[filler], length);
            name[length] = '\0';
            char *edge = at_the_edge(name, length + 1);
            free(name);
            reach_target *named = target_name(edge);
            reach_flags flags = 0xdeadbeef;
            require_message(reach_get_flags(named, &flags), "%zu bytes of '%c': %s", length, fillers[filler],
                            errno_name(errno));
            path_of(named);
            reach_name_is_valid(edge);
            reach_release(named);
        }
    }
}

#define LABEL63 "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-123456789"
#define NAME253 LABEL63 "." LABEL63 "." LABEL63 ".abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-1234567"

static void name_is_valid(void *argument)
{
    (void)argument;
    static const char *const valid[] = {
        "a", "example.com", "example.com.", "EXAMPLE.com", "a-b.c--d.e", "3com.com", "1a", "xn--bcher-kva.example",
        "localhost",
        LABEL63, LABEL63 ".com", NAME253, NAME253 ".",
        "192.0.2.1", "127.1", "0x7f.1", "0", "::", "::1", "2001:db8::1", "::ffff:192.0.2.1", "fe80::1%lo",
    };
    static const char *const invalid[] = {
        "", ".", "..", "a..b", ".a", "a..", "-a", "a-", "-", "a.-b", "a-.b", "a.b-", LABEL63 "x", LABEL63 "x.com",
        "x" NAME253,
        "http://example.com", "https://example.com/", "http://example.com:80/a?b", "example.com/", "example.com:80",
        "192.0.2.1:80", "[::1]", "[::1]:80", "a b", " a", "a ", "a\n", "\ta", "a_b", "_dmarc.example.com",
        "user@example.com",
        "b\303\274cher.example", "\xff", "a*", "*.example.com", "a,b", "a;b", "a\"b", "2001:db8:::1", "::1/128",
    };
    for (size_t index = 0; index < sizeof valid / sizeof *valid; index++) {
        require_message(reach_name_is_valid(at_the_edge(valid[index], strlen(valid[index]) + 1)), "\"%s\" is valid",
                        valid[index]);
    }
    for (size_t index = 0; index < sizeof invalid / sizeof *invalid; index++) {
        errno = EINVAL;
        require_message(!reach_name_is_valid(at_the_edge(invalid[index], strlen(invalid[index]) + 1)),
                        "\"%s\" is not valid", invalid[index]);
        require_message(errno == 0, "\"%s\": errno is %s", invalid[index], errno_name(errno));
    }
    require_refused(reach_name_is_valid(NULL), false, EINVAL);
}

/* ------------------------------------------------------------------------------------------ asking and counting --- */

static void null_targets(void *argument)
{
    (void)argument;
    require_refused(reach_retain(NULL), NULL, EINVAL);
    reach_release(NULL);

    reach_flags flags = 0x12345678;
    require_refused(reach_get_flags(NULL, &flags), false, EINVAL);
    require_int(flags, 0x12345678);
    require_refused(reach_get_flags(NULL, NULL), false, EINVAL);
    reach_path path;
    memset(&path, 0x5a, sizeof path);
    require_refused(reach_get_path(NULL, &path, sizeof path), false, EINVAL);
    for (size_t index = 0; index < sizeof path; index++) {
        require_int(((const unsigned char *)&path)[index], 0x5a);
    }
    require_refused(reach_get_path(NULL, NULL, 0), false, EINVAL);

    reach_target *zero = target("0.0.0.0");
    require_refused(reach_get_flags(zero, NULL), false, EINVAL);
    require_refused(reach_get_path(zero, NULL, sizeof path), false, EINVAL);
    require_refused(reach_get_path(zero, NULL, 0), false, EINVAL);
    reach_release(zero);
}

static void references(void *argument)
{
    (void)argument;
    reach_target *zero = target("::");
    for (int count = 0; count < 1000; count++) {
        require(reach_retain(zero) == zero);
    }
    for (int count = 0; count < 1000; count++) {
        reach_release(zero);
    }
    reach_flags flags;
    require(reach_get_flags(zero, &flags));
    reach_release(zero);
}

/* A caller that was compiled with an older or newer header knows less or more of the structure. */
static void path_sizes(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    reach_target *public = target("198.51.100.9");
    reach_path whole = path_of(public);
    enum { room = 1024 };
    unsigned char bytes[room];
    for (size_t size = 0; size <= room; size++) {
        memset(bytes, 0x5a, sizeof bytes);
        errno = 0;
        bool answered = reach_get_path(public, (reach_path *)(void *)bytes, size);
        require_message(answered == (size >= 4), "size %zu: %s", size, errno_name(errno));
        require_message(answered || errno == EINVAL, "size %zu: %s", size, errno_name(errno));
        size_t known = !answered ? 0 : size < sizeof whole ? size : sizeof whole;
        require_message(memcmp(bytes, &whole, known) == 0, "size %zu: the known part differs", size);
        for (size_t index = known; index < room; index++) {
            int expected = answered && index < size ? 0 : 0x5a;
            require_message(bytes[index] == expected, "size %zu: byte %zu is 0x%02x", size, index, bytes[index]);
        }
    }
    void *edge = at_the_edge(bytes, 4);
    require(reach_get_path(public, edge, 4));
    reach_release(public);
}

/* ------------------------------------------------------------------------------------------------------- words --- */

static const struct {
    reach_flags flag;
    const char *word;
} words[] = {
    { REACH_FLAG_REACHABLE, "Reachable" },
    { REACH_FLAG_TRANSIENT_CONNECTION, "Transient Connection" },
    { REACH_FLAG_CONNECTION_REQUIRED, "Connection Required" },
    { REACH_FLAG_CONNECTION_ON_TRAFFIC, "Automatic Connection On Traffic" },
    { REACH_FLAG_CONNECTION_ON_DEMAND, "Automatic Connection On Demand" },
    { REACH_FLAG_INTERVENTION_REQUIRED, "Intervention Required" },
    { REACH_FLAG_IS_LOCAL_ADDRESS, "Local Address" },
    { REACH_FLAG_IS_DIRECT, "Directly Reachable Address" },
    { REACH_FLAG_IS_WWAN, "WWAN" },
};

static void expected_words(reach_flags flags, char *text)
{
    *text = '\0';
    if (flags == 0) {
        strcpy(text, "Not Reachable");
        return;
    }
    const char *separator = "";
    for (size_t index = 0; index < sizeof words / sizeof *words; index++) {
        if ((flags & words[index].flag) != 0) {
            text += sprintf(text, "%s%s", separator, words[index].word);
            separator = ",";
            flags &= ~words[index].flag;
        }
    }
    if (flags != 0) {
        sprintf(text, "%s0x%08x", separator, flags);
    }
}

static void describe_one(reach_flags flags)
{
    char expected[512], text[512];
    expected_words(flags, expected);
    size_t length = reach_flags_describe(flags, text, sizeof text);
    require_message(length == strlen(expected), "0x%x: length %zu, not %zu", flags, length, strlen(expected));
    require_text(text, expected);
}

static void describe(void *argument)
{
    (void)argument;
    for (unsigned low = 0; low < 64; low++) {
        for (unsigned high = 0; high < 8; high++) {
            describe_one(low | high << 16);
        }
    }
    for (unsigned bit = 0; bit < 32; bit++) {
        describe_one(1u << bit);
        describe_one(REACH_FLAG_REACHABLE | 1u << bit);
        describe_one(~(1u << bit));
    }
    describe_one(0xffffffffu);
    describe_one(0x00080040u);
}

static void describe_cut(void *argument)
{
    (void)argument;
    static const reach_flags samples[] = { 0, OWN, 0xffffffffu, 0x80000000u };
    for (size_t sample = 0; sample < sizeof samples / sizeof *samples; sample++) {
        char whole[512];
        size_t length = reach_flags_describe(samples[sample], whole, sizeof whole);
        require_int(reach_flags_describe(samples[sample], NULL, 0), length);
        for (size_t size = 0; size <= length + 2; size++) {
            char text[512];
            memset(text, 0x5a, sizeof text);
            require_int(reach_flags_describe(samples[sample], text, size), length);
            size_t kept = size == 0 ? 0 : size - 1 < length ? size - 1 : length;
            require(memcmp(text, whole, kept) == 0);
            require(size == 0 || text[kept] == '\0');
            for (size_t index = size == 0 ? 0 : kept + 1; index < sizeof text; index++) {
                require_int(text[index], 0x5a);
            }
        }
        char *edge = at_the_edge(whole, length + 1);
        require_int(reach_flags_describe(samples[sample], edge, length + 1), length);
    }
    require_refused(reach_flags_describe(OWN, NULL, 1), 0, EINVAL);
    require_refused(reach_flags_describe(0, NULL, 100), 0, EINVAL);
}

static void flags_meaning(void *argument)
{
    (void)argument;
    for (unsigned low = 0; low < 64; low++) {
        for (unsigned high = 0; high < 16; high++) {
            reach_flags flags = low | high << 16;
            bool online = (flags & REACH_FLAG_REACHABLE) != 0 && (flags & REACH_FLAG_CONNECTION_REQUIRED) == 0;
            require(reach_flags_is_online(flags) == online);
            reach_status status = !online                               ? REACH_STATUS_NOT_REACHABLE
                                  : (flags & REACH_FLAG_IS_WWAN) != 0 ? REACH_STATUS_VIA_WWAN
                                                                      : REACH_STATUS_VIA_WIFI;
            require_int(reach_flags_status(flags), status);
        }
    }
}

static void reasons(void *argument)
{
    (void)argument;
    for (int32_t reason = REACH_REASON_REACHABLE; reason <= REACH_REASON_NOT_RESOLVED; reason++) {
        const char *text = reach_reason_text(reason);
        require(text != NULL && text[0] != '\0');
        require_message(strcmp(text, "unknown reason") != 0, "reason %d has no text", reason);
        require_message(reach_reason_text(reason) == text, "reason %d is not a constant string", reason);
        for (int32_t other = REACH_REASON_REACHABLE; other < reason; other++) {
            require_message(strcmp(text, reach_reason_text(other)) != 0, "reasons %d and %d are both \"%s\"", reason,
                            other, text);
        }
    }
    static const int32_t strange[] = { -1, REACH_REASON_NOT_RESOLVED + 1, 1000, INT32_MAX, INT32_MIN };
    for (size_t index = 0; index < sizeof strange / sizeof *strange; index++) {
        require_text(reach_reason_text(strange[index]), "unknown reason");
    }
}

static void link_texts(void *argument)
{
    (void)argument;
    for (int32_t kind = REACH_LINK_NONE; kind <= REACH_LINK_TUNNEL; kind++) {
        require(reach_link_text(kind)[0] != '\0');
        require_message(strcmp(reach_link_text(kind), "unknown link") != 0, "kind %d has no text", kind);
        for (int32_t other = REACH_LINK_NONE; other < kind; other++) {
            require(strcmp(reach_link_text(kind), reach_link_text(other)) != 0);
        }
    }
    static const int32_t strange[] = { -1, REACH_LINK_TUNNEL + 1, INT32_MAX, INT32_MIN };
    for (size_t index = 0; index < sizeof strange / sizeof *strange; index++) {
        require_text(reach_link_text(strange[index]), "unknown link");
    }
}

static void versions(void *argument)
{
    (void)argument;
    require_int(reach_version(), REACH_VERSION);
    require_text(reach_version_string(), REACH_VERSION_STRING);
    char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", reach_version() >> 16, reach_version() >> 8 & 0xff, reach_version() & 0xff);
    require_text(text, REACH_VERSION_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        process_test(address_null),
        process_test(address_lengths),
        process_test(address_families),
        namespace_test(address_contents),
        namespace_test(address_is_copied),
        process_test(pair_sides),
        process_test(pair_lengths_and_families),
        process_test(name_refused),
        namespace_test(name_accepted),
        namespace_test(name_lengths),
        process_test(name_is_valid),
        process_test(null_targets),
        namespace_test(references),
        namespace_test(path_sizes),
        process_test(describe),
        process_test(describe_cut),
        process_test(flags_meaning),
        process_test(reasons),
        process_test(link_texts),
        process_test(versions),
    };
    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
