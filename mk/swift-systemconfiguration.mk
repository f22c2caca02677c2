# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The drop-in for Swift: its tests, and those with the thread and address sanitizers. Those that change the network do so in a namespace
# that Tests/SystemConfigurationTests/in-namespace makes; without one only the others run, which is said aloud and is a failure
# when CI=true. A name for what they are built in of their own, so that no other build is waited for.

TEST_TARGETS += test-swift-systemconfiguration
SANITIZE_TARGETS += sanitize-swift-systemconfiguration

SWIFT ?= swift
SWIFT_SC     := --package-path $(TOP) --scratch-path $(TOP)/.build/systemconfiguration
SWIFT_SC_RUN := --skip-build --disable-xctest
IN_NAMESPACE := Tests/SystemConfigurationTests/in-namespace

# Runs a command that a namespace is needed for; or else the command after the comma, having said so.
define SWIFT_SC_IN_NAMESPACE
@if $(IN_NAMESPACE) true; then \
    $(IN_NAMESPACE) $(1); \
else \
    echo "Network tests of SystemConfiguration in Swift are SKIPPED: the kernel refuses user and network namespaces." >&2; \
    test "$$CI" != true || { echo "With CI=true that is a failure." >&2; exit 1; }; \
    $(2); \
fi
endef

.PHONY: swift-systemconfiguration-needs
swift-systemconfiguration-needs:
	@missing=; for program in ip:iproute2 unshare:util-linux mount:mount; do \
	    PATH="$$PATH:/usr/sbin:/sbin" command -v $${program%%:*} >/dev/null || missing="$$missing $${program##*:}"; \
	done; \
	test -z "$$missing" || { \
	    echo "The Swift tests of SystemConfiguration need packages that are not installed. Install them with:"; \
	    echo "    apt-get install -y --no-install-recommends$$missing"; exit 1; } >&2

.PHONY: test-swift-systemconfiguration
test-swift-systemconfiguration: swift-systemconfiguration-needs ## test the drop-in for Swift, and a package that depends on it
	$(SWIFT) build $(SWIFT_SC) --build-tests
	$(call SWIFT_SC_IN_NAMESPACE,$(SWIFT) test $(SWIFT_SC) $(SWIFT_SC_RUN) --filter SystemConfigurationTests,\
	    $(SWIFT) test $(SWIFT_SC) $(SWIFT_SC_RUN) --filter SystemConfigurationTests)
	@# The tests that the page names are there.
	@missing=; for name in $$(grep 'Tests`:' docs/coming-from-macos-swift.md | cut -d '|' -f 3 \
	        | grep -woE '[a-z]+([A-Z][A-Za-z0-9]*){2,}' | sort -u); do \
	    grep -q "func $$name\b" Tests/SystemConfigurationTests/*.swift || missing="$$missing $$name"; done; \
	    test -z "$$missing" || { echo "docs/coming-from-macos-swift.md names tests that are not there:$$missing" >&2; exit 1; }

# The programs of the package that depends on this one are built without a sanitizer, so that nothing is to be learnt from them.
SWIFT_SC_ENV_thread  := TSAN_OPTIONS=halt_on_error=1
SWIFT_SC_ENV_address := ASAN_OPTIONS=detect_leaks=1

.PHONY: sanitize-swift-systemconfiguration
sanitize-swift-systemconfiguration: sanitize-swift-systemconfiguration-thread sanitize-swift-systemconfiguration-address

.PHONY: sanitize-swift-systemconfiguration-thread sanitize-swift-systemconfiguration-address
sanitize-swift-systemconfiguration-thread sanitize-swift-systemconfiguration-address: \
    sanitize-swift-systemconfiguration-%: swift-systemconfiguration-needs
	$(SWIFT) build $(SWIFT_SC)-$* --sanitize=$* --build-tests
	$(call SWIFT_SC_IN_NAMESPACE,env $(SWIFT_SC_ENV_$*) REACH_TEST_PATIENCE=4 \
	    $(SWIFT) test $(SWIFT_SC)-$* --sanitize=$* $(SWIFT_SC_RUN) --filter NetworkTests --skip ConsumerPrograms,true)
