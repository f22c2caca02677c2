# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The drop-in headers for C, C++ and Objective-C: they compile without a warning everywhere, and behave as the tests in
# Tests/SystemConfiguration-C say, plain and under the address and thread sanitizers. As the drop-in is header only, the
# sanitizers see all of it.
#
# libdispatch and a real CoreFoundation come with the Swift toolchain that the library is built with. Objective-C needs
# gobjc. What is missing is said aloud, and is a failure when CI=true.

TEST_TARGETS += test-systemconfiguration

COMMA     := ,
SC        := Tests/SystemConfiguration-C
SC_BUILD  := $(BUILD)/tests/sc
SC_NAMES  := create-and-ask callbacks run-loops names lengths soak
SC_INPUTS := $(wildcard include/SystemConfiguration/*.h include/CoreFoundation/*.h $(SC)/*.h $(SC)/parts/*) \
             $(SUPPORT_HEADERS) mk/test-systemconfiguration.mk
SC_CFLAGS := -std=c11 -D_GNU_SOURCE -O1 -g $(CWARN) -pthread $(REACH_FLAGS) -I$(TOP)/Tests/Support
SC_LIBS   := $(REACH_LIBS) -lcmocka

# Where the toolchain has <dispatch/dispatch.h> and <CoreFoundation/CoreFoundation.h>, and the libraries for them. The
# headers of this project come first on the include path, so that theirs are only found where ours give way.
SC_SWIFT      := $(abspath $(dir $(realpath $(shell command -v $(SWIFTC))))../lib/swift)
SC_HAS_SWIFT  := $(and $(wildcard $(SC_SWIFT)/dispatch/dispatch.h),$(wildcard $(SC_SWIFT)/linux/libdispatch.so))
SC_HAS_OBJC   := $(shell printf '\#import <objc/objc.h>\n' | $(CC) -x objective-c -E - >/dev/null 2>&1 && echo yes)
SC_DISPATCH   := $(if $(SC_HAS_SWIFT),-isystem $(SC_SWIFT))
SC_SWIFT_LIBS := $(if $(SC_HAS_SWIFT),-L$(SC_SWIFT)/linux -Wl$(COMMA)-rpath$(COMMA)$(SC_SWIFT)/linux)
SC_LIBDISPATCH := $(if $(SC_HAS_SWIFT),$(SC_SWIFT_LIBS) -Wl$(COMMA)--no-as-needed -ldispatch -lBlocksRuntime)

# The tests, compiled in one way each: $(SC_BUILD)/WAY/TEST. The thread sanitizer needs libdispatch in any case.
SC_COMPILE_plain            = $(CC) $(SC_CFLAGS) -DREACH_NO_DISPATCH
SC_COMPILE_address          = $(CLANG) $(SC_CFLAGS) -DREACH_NO_DISPATCH $(SC_ASAN)
SC_COMPILE_thread           = $(CLANG) $(SC_CFLAGS) -DREACH_NO_DISPATCH -fsanitize=thread
SC_COMPILE_dispatch         = $(CC) $(SC_CFLAGS) $(SC_DISPATCH)
SC_COMPILE_dispatch-address = $(CLANG) $(SC_CFLAGS) $(SC_DISPATCH) $(SC_ASAN)
SC_COMPILE_foundation       = $(CLANG) $(SC_CFLAGS) $(SC_DISPATCH) -DREACH_USE_COREFOUNDATION -fblocks $(SC_REAL_CF)
SC_COMPILE_dispatch-thread  = $(CLANG) $(SC_CFLAGS) $(SC_DISPATCH) -fsanitize=thread
# CFSTR of the real one is a statement expression, and its tests are fewer.
SC_REAL_CF                 := -Wno-gnu-statement-expression-from-macro-expansion -Wno-unused-function
SC_ASAN                    := -fuse-ld=lld -fsanitize=address,undefined -fno-sanitize-recover=all

$(SC_BUILD)/%: $(SC_INPUTS) $(SUPPORT_SOURCES) $(wildcard $(SC)/*.c) $(BUILD)/libreach.so | test-c-needs
	@mkdir -p $(@D)
	$(SC_COMPILE_$(notdir $(@D))) -o $@ $(SC)/$(@F).c $(SC)/client.c $(SUPPORT_SOURCES) $(SC_LIBS) \
	    $(if $(filter-out plain address,$(notdir $(@D))),$(SC_LIBDISPATCH)) \
	    $(if $(filter foundation,$(notdir $(@D))),-lFoundation)

SC_PROGRAMS := $(SC_NAMES:%=$(SC_BUILD)/plain/%) $(SC_NAMES:%=$(SC_BUILD)/address/%)
ifneq ($(SC_HAS_SWIFT),)
SC_PROGRAMS += $(SC_NAMES:%=$(SC_BUILD)/thread/%) $(SC_BUILD)/dispatch/dispatch $(SC_BUILD)/dispatch-address/dispatch \
    $(SC_BUILD)/dispatch-thread/dispatch \
    $(foreach name,create-and-ask callbacks run-loops dispatch soak,$(SC_BUILD)/foundation/$(name))
endif

# One program of many parts: see parts/part.h. It is also linked with a library that has all the names that could clash.
SC_SHARING := $(SC_BUILD)/sharing/sharing
$(SC_SHARING): $(SC_INPUTS) $(SUPPORT_SOURCES) $(wildcard $(SC)/*.c) $(BUILD)/libreach.so | test-c-needs
	@mkdir -p $(@D)
	$(CC) -std=c99 -pthread $(CWARN) $(REACH_FLAGS) -DPART=part_c -c -o $(@D)/c.o $(SC)/parts/part.c
	$(CXX) -std=c++11 -O2 -pthread $(CWARN) $(REACH_FLAGS) -x c++ -DPART=part_cxx -c -o $(@D)/cxx.o $(SC)/parts/part.c
	$(if $(SC_HAS_OBJC),$(CC) -O1 -pthread $(CWARN) $(REACH_FLAGS) -x objective-c -DPART=part_objc -c -o $(@D)/objc.o \
	    $(SC)/parts/part.c)
	$(CLANG) -std=c17 -O2 -fvisibility=hidden -fPIC -shared -pthread $(CWARN) $(REACH_FLAGS) -DPART=part_library \
	    -o $(@D)/libpart.so $(SC)/parts/part.c $(REACH_LIBS)
	$(CC) -fPIC -shared $(CWARN) -o $(@D)/libforeign.so $(SC)/parts/foreign.c
	$(CC) $(SC_CFLAGS) $(if $(SC_HAS_OBJC),-DHAVE_OBJC) -o $@ $(SC)/sharing.c $(SC)/client.c $(SUPPORT_SOURCES) \
	    $(@D)/c.o $(@D)/cxx.o $(if $(SC_HAS_OBJC),$(@D)/objc.o) $(SC_LIBS) \
	    -L$(@D) -Wl,-rpath,$(TOP)/$(@D) -Wl,--no-as-needed -lpart -lforeign
	@# Nothing strong may come from the headers, and nothing at all under Apple's names.
	@strong=$$(nm -g --defined-only $(@D)/*.o | grep -vE ' [VWvw] reach_|^$$|:$$| [A-Z] part_'); \
	    test -z "$$strong" || { echo "The headers define:"; echo "$$strong"; exit 1; } >&2

# The check and the examples, run where there is no network and where there is a loopback one. Objective-C with gcc and
# its runtime; clang compiles the headers as Objective-C too, but needs no runtime for that.
SC_CHECKS := $(SC_BUILD)/connected/c $(if $(SC_HAS_OBJC),$(SC_BUILD)/connected/objc) \
             $(SC_BUILD)/examples/scnetwork_check $(SC_BUILD)/examples/scnetwork_watch

$(SC_BUILD)/connected/c: $(SC_INPUTS) $(BUILD)/libreach.so
	@mkdir -p $(@D)
	$(CC) -pthread $(filter-out -Wpedantic,$(CWARN)) $(REACH_FLAGS) -o $@ $(SC)/parts/connected.c $(REACH_LIBS)

$(SC_BUILD)/connected/objc: $(SC_INPUTS) $(BUILD)/libreach.so
	@mkdir -p $(@D)
	$(CC) -pthread $(filter-out -Wpedantic,$(CWARN)) $(REACH_FLAGS) -x objective-c -o $@ $(SC)/parts/connected.c $(REACH_LIBS)

$(SC_BUILD)/examples/%: examples/c/%.c $(SC_INPUTS) $(BUILD)/libreach.so
	@mkdir -p $(@D)
	$(CC) -std=c99 -pthread $(CWARN) $(REACH_FLAGS) -o $@ $< $(REACH_LIBS)

# Each compiler and standard; -Wshadow and -Wconversion beside, as a header has to pass in other
# people's projects, and optimised, as gcc then sees through the functions and warns of more.
.PHONY: test-systemconfiguration-compile
test-systemconfiguration-compile: test-systemconfiguration-needs
	@set -e; compile() { echo "  $$*"; "$$@" $(CWARN) -Wshadow -Wconversion $(REACH_FLAGS) -pthread -O2 -DPART=part_c -c \
	    -o /dev/null $(SC)/parts/part.c; }; \
	for std in c99 gnu99 c11 gnu11 c17 gnu17; do \
	    for cc in $(CC) $(CLANG); do compile $$cc -std=$$std; compile $$cc -std=$$std $(SC_DISPATCH); done; done; \
	for std in c++11 c++14 c++17 c++20 gnu++20; do \
	    for cc in $(CXX) $(CLANG); do compile $$cc -x c++ -std=$$std; done; \
	    compile $(CLANG) -x c++ -std=$$std $(SC_DISPATCH); done; \
	compile $(CXX) -x c++ -std=c++17 $(SC_DISPATCH) -w; \
	for std in c99 gnu11 gnu17; do \
	    compile $(CLANG) -x objective-c -std=$$std; \
	    if [ -n "$(SC_HAS_OBJC)" ]; then compile $(CC) -x objective-c -std=$$std; fi; done; \
	compile $(CLANG) -x objective-c++ -std=c++17; \
	for macro in REACH_SIN_LEN REACH_SA_LEN REACH_NO_DISPATCH; do compile $(CC) -std=c11 -D$$macro; done

.PHONY: test-systemconfiguration-needs
test-systemconfiguration-needs: test-c-needs
	@missing=; \
	if [ -z "$(SC_HAS_OBJC)" ]; then missing=1; \
	    echo "Objective-C is not tested: apt-get install -y --no-install-recommends gobjc"; fi; \
	if [ -z "$(SC_HAS_SWIFT)" ]; then missing=1; \
	    echo "Dispatch queues and a real CoreFoundation are not tested: $(SWIFTC) does not belong to a whole toolchain."; fi; \
	test -z "$$missing" || [ "$$CI" != true ]

# Leaks inside the library show where it was called from only with the slow unwinder.
.PHONY: test-systemconfiguration
test-systemconfiguration: test-systemconfiguration-compile $(SC_PROGRAMS) $(SC_SHARING) $(SC_CHECKS) ## test the drop-in for C
	@set -e; export ASAN_OPTIONS=fast_unwind_on_malloc=0; \
	for program in $(SC_PROGRAMS) $(SC_SHARING); do echo "$$program"; $$program; done
	$(SC)/examples.sh $(SC_BUILD)
	@# The tests that the page names are there.
	@missing=; for name in $$(grep -oE '\b[a-z]+(_[a-z]+){3,}\b' docs/coming-from-macos.md | sort -u); do \
	    grep -q "_test($$name)" $(SC)/*.c || missing="$$missing $$name"; done; \
	    test -z "$$missing" || { echo "docs/coming-from-macos.md names tests that are not there:$$missing" >&2; exit 1; }
