# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The C tests, run against the shared library that is shipped. Tests/Support is the harness they share; another fragment
# uses it by depending on $(SUPPORT_LIB) and compiling with $(SUPPORT_CFLAGS) and $(SUPPORT_LIBS).

# The older form of debugging information, which every valgrind can read.
SUPPORT_LIB    := $(BUILD)/tests/libsupport.a
SUPPORT_CFLAGS := -std=c11 -D_GNU_SOURCE -O1 -gdwarf-4 $(CWARN) -pthread $(REACH_FLAGS) -I$(TOP)/Tests/Support
SUPPORT_LIBS   := $(SUPPORT_LIB) $(REACH_LIBS) -lcmocka

SUPPORT_SOURCES := $(sort $(wildcard Tests/Support/*.c))
SUPPORT_OBJECTS := $(SUPPORT_SOURCES:Tests/Support/%.c=$(BUILD)/tests/support/%.o)
SUPPORT_HEADERS := $(sort $(wildcard Tests/Support/*.h)) include/reach.h

$(BUILD)/tests $(BUILD)/tests/support:
	mkdir -p $@

# The first thing that is compiled says what is missing, before the compiler does in its own way.
.PHONY: test-c-needs
test-c-needs:
	@missing=; \
	printf '#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <cmocka.h>\n' \
	    | $(CC) -E - >/dev/null 2>&1 || missing="$$missing libcmocka-dev"; \
	printf '#include <seccomp.h>\n' | $(CC) -E - >/dev/null 2>&1 || missing="$$missing libseccomp-dev"; \
	for program in dnsmasq:dnsmasq-base ip:iproute2 valgrind:valgrind pkg-config:pkg-config gcc:gcc g++:g++; do \
	    PATH="$$PATH:/usr/sbin:/sbin" command -v $${program%%:*} >/dev/null || missing="$$missing $${program##*:}"; \
	done; \
	test -z "$$missing" || { \
	    echo "The C tests need packages that are not installed. Install them with:"; \
	    echo "    apt-get install -y --no-install-recommends$$missing"; exit 1; } >&2

$(BUILD)/tests/support/%.o: Tests/Support/%.c $(SUPPORT_HEADERS) | $(BUILD)/tests/support test-c-needs
	$(CC) $(SUPPORT_CFLAGS) -c -o $@ $<

$(SUPPORT_LIB): $(SUPPORT_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

# A test program is one source file; a folder's programs are those listed here.
NAMESPACE_TESTS := situations sequence callbacks lifetimes names monitors confirm failures
ABI_TESTS       := arguments refusals concurrency guest queues

NAMESPACE_PROGRAMS := $(addprefix $(BUILD)/tests/,$(NAMESPACE_TESTS))
ABI_PROGRAMS       := $(addprefix $(BUILD)/tests/,$(ABI_TESTS))

$(NAMESPACE_PROGRAMS): $(BUILD)/tests/%: Tests/Namespaces/%.c $(SUPPORT_LIB) $(BUILD)/libreach.so $(SUPPORT_HEADERS)
	$(CC) $(SUPPORT_CFLAGS) -o $@ $< $(SUPPORT_LIBS)

$(ABI_PROGRAMS): $(BUILD)/tests/%: Tests/ABI/%.c $(SUPPORT_LIB) $(BUILD)/libreach.so $(SUPPORT_HEADERS)
	$(CC) $(SUPPORT_CFLAGS) -o $@ $< $(SUPPORT_LIBS) -lseccomp

TEST_TARGETS += test-namespaces test-abi

.PHONY: test-namespaces
test-namespaces: $(NAMESPACE_PROGRAMS) ## test the answers on the real kernel, in network namespaces
	@set -e; for program in $(NAMESPACE_PROGRAMS); do $$program; done

.PHONY: test-abi
test-abi: $(ABI_PROGRAMS) ## test the C interface: bad arguments, refusing kernels, threads, leaks
	@set -e; for program in $(ABI_PROGRAMS); do $$program; done

# The plain examples: strict C99, by each compiler, against an installed copy found through pkg-config.
PLAIN_EXAMPLES := zero_check flags

TEST_TARGETS += test-examples
INSTALLCHECK_TARGETS += test-examples

.PHONY: test-examples
test-examples: $(BUILD)/tests/examples stage ## build the plain C examples with an installed copy, and run them
	@set -e; for compiler in gcc clang; do \
	    mkdir -p $(BUILD)/tests/examples-$$compiler; \
	    for example in $(PLAIN_EXAMPLES); do \
	        $(STAGE_ENV) sh -c '"$$@" $$(pkg-config --cflags --libs libreach)' - $$compiler -std=c99 $(CWARN) \
	            -o $(BUILD)/tests/examples-$$compiler/$$example examples/c/$$example.c; \
	    done; \
	done
	$(STAGE_ENV) $(BUILD)/tests/examples $(BUILD)/tests/examples-gcc $(BUILD)/tests/examples-clang

$(BUILD)/tests/examples: Tests/Namespaces/examples.c $(SUPPORT_LIB) $(BUILD)/libreach.so $(SUPPORT_HEADERS)
	$(CC) $(SUPPORT_CFLAGS) -o $@ $< $(SUPPORT_LIBS)

# Everything that memcheck can say something about is an error, in the scenarios' processes too. Their exit status is
# then one that the harness does not know. The programs that are left out would take minutes.
MEMCHECK_PROGRAMS := arguments refusals guest queues sequence lifetimes
MEMCHECK := REACH_TEST_PATIENCE=10 valgrind -q --suppressions=Tests/Support/valgrind.supp --error-exitcode=99 \
            --leak-check=full --show-leak-kinds=definite,indirect,possible \
            --errors-for-leak-kinds=definite,indirect,possible

TEST_TARGETS += test-memcheck

.PHONY: test-memcheck
test-memcheck: $(addprefix $(BUILD)/tests/,$(MEMCHECK_PROGRAMS)) ## run C tests under valgrind: no error, no leak
	@set -e; for program in $(MEMCHECK_PROGRAMS); do $(MEMCHECK) $(BUILD)/tests/$$program; done
