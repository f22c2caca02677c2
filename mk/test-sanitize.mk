# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The small build once more, instrumented, and the C tests against it. (What Swift has no undefined behaviour of, its own
# checks trap on; so the undefined-behaviour sanitizer sees the C in it and around it.) Other areas add their part of
# `make sanitize` to SANITIZE_TARGETS.

SANITIZERS       := thread address undefined
SANITIZE_TARGETS += $(SANITIZERS:%=sanitize-%)

SANITIZE_SWIFT           := $(filter-out -lto=llvm-full,$(SWIFT_SMALL)) -g
SANITIZE_SWIFT_thread    := -sanitize=thread
SANITIZE_SWIFT_address   := -sanitize=address
SANITIZE_SWIFT_undefined := -Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=all

# The tests about forks of processes with threads are what the thread sanitizer would refuse to go on with.
SANITIZE_ENV_thread    := unshare --user --map-root-user env TSAN_OPTIONS=die_after_fork=0:halt_on_error=1
SANITIZE_ENV_address   := ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
SANITIZE_ENV_undefined := UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

# The thread sanitizer of Swift's toolchain knows about dispatch queues, and wants their library.
SWIFT_RUNTIME = $(shell $(SWIFTC) -print-target-info | sed -n '/"runtimeLibraryPaths"/{n;s/.*"\(.*\)".*/\1/p;}')
SANITIZE_LIBS_thread = -L$(SWIFT_RUNTIME) -Wl,-rpath,$(SWIFT_RUNTIME) -ldispatch -lBlocksRuntime

# One test loads the library anew into a process that must not have a sanitizer in it.
SANITIZE_PROGRAMS = $(filter-out guest,$(NAMESPACE_TESTS) $(ABI_TESTS))

# Instrumented programs are slow, and so is what they wait for.
SANITIZE_PATIENCE ?= 4
SANITIZE_CFLAGS = -fno-sanitize-recover=all -fno-omit-frame-pointer $(SUPPORT_CFLAGS)

# $(1) is the sanitizer.
define SANITIZE_RULES
$(BUILD)/$(1) $(BUILD)/$(1)/tests $(BUILD)/$(1)/support:
	mkdir -p $$@

$(BUILD)/$(1)/core.o: $(CORE_SOURCES) $(C_HEADERS) mk/build.mk mk/test-sanitize.mk | $(BUILD)/$(1)
	rm -f $$@
	$(SWIFTC) -I $(BUILD)/$(1) $(SANITIZE_SWIFT) $(SANITIZE_SWIFT_$(1)) -module-name ReachabilitySwift -emit-module \
	    -emit-module-path $(BUILD)/$(1)/ReachabilitySwift.swiftmodule -c $(CORE_SOURCES) -o $$@

$(BUILD)/$(1)/abi.o: $(ABI_SOURCES) $(BUILD)/$(1)/core.o
	rm -f $$@
	$(SWIFTC) -I $(BUILD)/$(1) $(SANITIZE_SWIFT) $(SANITIZE_SWIFT_$(1)) -module-name CReachabilityABI -c $(ABI_SOURCES) -o $$@

$(BUILD)/$(1)/libreach.so.1: $(BUILD)/$(1)/core.o $(BUILD)/$(1)/abi.o $(MAP)
	$(CLANG) -fsanitize=$(1) -shared -fuse-ld=lld -Wl,--version-script=$(MAP) -Wl,-soname=libreach.so.1 \
	    -Wl,-z,nodelete $(BUILD)/$(1)/core.o $(BUILD)/$(1)/abi.o -o $$@
	ln -sf libreach.so.1 $(BUILD)/$(1)/libreach.so

.SECONDARY: $(SUPPORT_SOURCES:Tests/Support/%.c=$(BUILD)/$(1)/support/%.o)
$(BUILD)/$(1)/support/%.o: Tests/Support/%.c $(SUPPORT_HEADERS) mk/test-sanitize.mk | $(BUILD)/$(1)/support test-c-needs
	$(CLANG) -fsanitize=$(1) $(SANITIZE_CFLAGS) -c -o $$@ $$<

$(BUILD)/$(1)/tests/%: $(BUILD)/$(1)/libreach.so.1 $(SUPPORT_SOURCES:Tests/Support/%.c=$(BUILD)/$(1)/support/%.o) \
                       $(SUPPORT_HEADERS) $(wildcard Tests/Namespaces/*.c Tests/ABI/*.c Tests/Model/*.c) | $(BUILD)/$(1)/tests
	$(CLANG) -fsanitize=$(1) $(SANITIZE_CFLAGS) -o $$@ \
	    $$(firstword $$(wildcard Tests/Namespaces/$$*.c Tests/ABI/$$*.c Tests/*/$$*.c)) $$(filter %.o,$$^) \
	    -L$(BUILD)/$(1) -Wl,-rpath,$(TOP)/$(BUILD)/$(1) -lreach -lcmocka -lseccomp $$(SANITIZE_LIBS_$(1))

# Every program is run, so that one that fails does not hide the others.
.PHONY: sanitize-$(1)
sanitize-$(1): $$(addprefix $(BUILD)/$(1)/tests/,$$(SANITIZE_PROGRAMS))
	@failed=; for program in $$^; do \
	    echo "$(1): $$$$program"; \
	    REACH_TEST_PATIENCE=$(SANITIZE_PATIENCE) $(SANITIZE_ENV_$(1)) $$$$program || failed="$$$$failed $$$$program"; \
	done; \
	test -z "$$$$failed" || { echo "failed under the $(1) sanitizer:$$$$failed" >&2; exit 1; }
endef
$(foreach sanitizer,$(SANITIZERS),$(eval $(call SANITIZE_RULES,$(sanitizer))))
