# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# Fuzzing: the core is built once as a module with coverage and the address sanitizer, and each target against it.

FUZZ := $(BUILD)/fuzz
FUZZ_TARGETS := $(basename $(notdir $(wildcard Tests/Fuzz/Targets/*.swift)))
FUZZ_SECONDS ?= 60
FUZZ_SWIFT := -swift-version 6 -package-name libreach -parse-as-library -sanitize=fuzzer,address -O -g \
              -I $(FUZZ)/module -I Sources/CLinux -I include

TEST_TARGETS += test-fuzz

$(FUZZ)/module/core.o: $(CORE_SOURCES) $(C_HEADERS) mk/fuzz.mk
	@mkdir -p $(@D)
	$(SWIFTC) $(FUZZ_SWIFT) -wmo -enable-testing -module-name ReachabilitySwift -emit-module \
	    -emit-module-path $(FUZZ)/module/ReachabilitySwift.swiftmodule -c $(CORE_SOURCES) -o $@

$(FUZZ)/targets/%: Tests/Fuzz/Targets/%.swift $(FUZZ)/module/core.o
	@mkdir -p $(@D)
	$(SWIFTC) $(FUZZ_SWIFT) -use-ld=lld -module-name Fuzz$* $< $(FUZZ)/module/core.o -o $@

.PHONY: fuzz-programs
fuzz-programs: $(FUZZ_TARGETS:%=$(FUZZ)/targets/%)

.PHONY: test-fuzz
test-fuzz: fuzz-programs ## replay the kept cases of the fuzz targets
	Tests/Fuzz/fuzz replay $(FUZZ)/targets Tests/Fuzz/corpus

.PHONY: fuzz
fuzz: fuzz-programs ## look for new cases, FUZZ_SECONDS=n for each target
	Tests/Fuzz/fuzz run $(FUZZ)/targets Tests/Fuzz/corpus $(FUZZ_SECONDS)

.PHONY: fuzz-seeds
fuzz-seeds: ## write the first cases again, from this machine's kernel
	@$(REQUIRE) unshare=util-linux ip=iproute2 python3=python3
	USER_NAMESPACE=1 unshare -Urn $(PYTHON3) Tests/Fuzz/seeds.py Tests/Fuzz/corpus
