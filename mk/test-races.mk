# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The small build under helgrind, which knows locks and threads and no atomics: what is suppressed, and why, stands in
# Tests/Concurrency/atomics.supp. Functions must have their names for that, so that the library is built here once more,
# without the last optimisation that shuffles them. (Valgrind's other race detector, DRD, takes memory that was freed and
# allocated again for the old one, unless a lock or a thread's end came between, and is of no use here.)

RACES := $(BUILD)/races
RACES_SWIFT = $(filter-out -lto=llvm-full,$(SWIFT_SMALL)) -g
RACES_SETTINGS := REACH_MODEL_WARM=1 REACH_MODEL_ROUNDS=4 REACH_MODEL_CALLS=200 REACH_TEST_PATIENCE=20
SANITIZE_TARGETS += test-races

$(RACES):
	mkdir -p $@

$(RACES)/core.o: $(CORE_SOURCES) $(C_HEADERS) mk/build.mk mk/test-races.mk | $(RACES)
	$(SWIFTC) -I $(RACES) $(RACES_SWIFT) -module-name ReachabilitySwift -emit-module \
	    -emit-module-path $(RACES)/ReachabilitySwift.swiftmodule -c $(CORE_SOURCES) -o $@

$(RACES)/abi.o: $(ABI_SOURCES) $(RACES)/core.o
	$(SWIFTC) -I $(RACES) $(RACES_SWIFT) -module-name CReachabilityABI -c $(ABI_SOURCES) -o $@

$(RACES)/libreach.so.1: $(RACES)/core.o $(RACES)/abi.o $(MAP)
	$(CLANG) -shared -fuse-ld=lld -Wl,--version-script=$(MAP) -Wl,-soname=libreach.so.1 -Wl,-z,nodelete \
	    $(RACES)/core.o $(RACES)/abi.o -o $@

.PHONY: test-races
test-races: $(RACES)/libreach.so.1 $(BUILD)/tests/model ## the random test under helgrind
	@$(REQUIRE) valgrind=valgrind
	LD_LIBRARY_PATH=$(RACES) $(RACES_SETTINGS) valgrind -q --tool=helgrind --error-exitcode=99 \
	    --suppressions=Tests/Concurrency/atomics.supp $(BUILD)/tests/model
