# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The tests of the core and of what Swift programs see of it, and the Swift examples. What needs a network that changes is
# run by the tests themselves in namespaces, and skipped aloud without them; with CI=true that is a failure.

SWIFT ?= swift

TEST_TARGETS += test-swift test-examples-swift
SANITIZE_TARGETS += sanitize-swift

SWIFT_TESTS := --filter '^(ReachabilitySwiftTests|FXReachabilityTests|CReachabilityABITests)'

# $(1) names where it is built, $(2) are more options, $(3) the environment of the tests.
define SWIFT_TEST
$(SWIFT) build --package-path $(TOP) --scratch-path $(TOP)/.build/$(1) $(2) --build-tests
$(3) $(SWIFT) test --package-path $(TOP) --scratch-path $(TOP)/.build/$(1) $(2) --skip-build --disable-xctest \
    $(SWIFT_TESTS)
endef

.PHONY: swift-needs
swift-needs:
	@PATH="$$PATH:/usr/sbin:/sbin" $(REQUIRE) unshare=util-linux ip=iproute2

.PHONY: test-swift
test-swift: swift-needs ## test the core and its Swift interfaces, with Swift's own test library
	$(call SWIFT_TEST,swift)

.PHONY: test-examples-swift
test-examples-swift: lib $(BUILD)/libreach-uninstalled.pc ## build the Swift examples as a package of their own, and run them
	@$(FFI_ENVIRONMENT) SWIFT=$(SWIFT) SWIFTC=$(SWIFTC) $(PYTHON3) Tests/SwiftExamples/run.py $(FFI_FOLDER)/swift

.PHONY: sanitize-swift sanitize-swift-thread sanitize-swift-address
sanitize-swift: sanitize-swift-thread sanitize-swift-address

sanitize-swift-thread: swift-needs
	$(call SWIFT_TEST,swift-thread,--sanitize=thread,TSAN_OPTIONS=die_after_fork=0:halt_on_error=1 REACH_TEST_PATIENCE=4)

sanitize-swift-address: swift-needs
	$(call SWIFT_TEST,swift-address,--sanitize=address,ASAN_OPTIONS=detect_leaks=1 REACH_TEST_PATIENCE=4)
