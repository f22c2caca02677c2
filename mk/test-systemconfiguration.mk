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

SC        := Tests/SystemConfiguration-C
SC_BUILD  := $(BUILD)/tests/sc
SC_NAMES  := create-and-ask callbacks run-loops names soak
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
SC_FOUNDATION := $(if $(SC_HAS_SWIFT),$(SC_SWIFT_LIBS) -lFoundation)
COMMA         := ,

# The tests, compiled in one way each: $(SC_BUILD)/WAY/TEST.
SC_COMPILE_plain    = $(CC) $(SC_CFLAGS) -DREACH_NO_DISPATCH
SC_COMPILE_dispatch = $(CC) $(SC_CFLAGS) $(SC_DISPATCH)
SC_COMPILE_address  = $(CLANG) $(SC_CFLAGS) $(SC_DISPATCH) -fsanitize=address,undefined -fno-sanitize-recover=all
SC_COMPILE_thread   = $(CLANG) $(SC_CFLAGS) $(SC_DISPATCH) -fsanitize=thread

$(SC_BUILD)/%: $(SC_INPUTS) $(SUPPORT_SOURCES) $(wildcard $(SC)/*.c) $(BUILD)/libreach.so | test-c-needs
	@mkdir -p $(@D)
	$(SC_COMPILE_$(notdir $(@D))) -o $@ $(SC)/$(@F).c $(SC)/client.c $(SUPPORT_SOURCES) $(SC_LIBS) \
	    $(if $(filter-out plain,$(notdir $(@D))),$(SC_LIBDISPATCH))

SC_PROGRAMS := $(SC_NAMES:%=$(SC_BUILD)/plain/%) $(SC_NAMES:%=$(SC_BUILD)/address/%) \
               $(if $(SC_HAS_SWIFT),$(SC_NAMES:%=$(SC_BUILD)/thread/%) \
                   $(foreach way,dispatch address thread,$(SC_BUILD)/$(way)/dispatch))

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
