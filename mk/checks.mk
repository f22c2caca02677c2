# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# Checks of what is shipped and of the sources: see Tests/Checks.

# The distribution's own Python, since the modules come from the distribution's packages.
PYTHON3 ?= $(firstword $(wildcard /usr/bin/python3) python3)
# No cache folder is left in the tree, and failures are told briefly.
PYTEST := PYTHONDONTWRITEBYTECODE=1 BUILD_DIR=$(TOP)/$(BUILD) $(PYTHON3) -m pytest -p no:cacheprovider -q
REQUIRE := PYTHON3=$(PYTHON3) Tests/Checks/require

TEST_TARGETS += test-checks

.PHONY: test-checks
test-checks: lib $(BUILD)/libreach-uninstalled.pc ## check the library as a file, the interface, the layers and the texts
	@$(REQUIRE) py:pytest=python3-pytest py:elftools=python3-pyelftools abidw=abigail-tools gcc=gcc g++=g++ \
	    musl-gcc=musl-tools nm=binutils pkg-config=pkg-config shellcheck=shellcheck git=git
	$(PYTEST) Tests/Checks

.PHONY: abi-baseline
abi-baseline: ## store the interface of the header as the one to keep, after an addition
	@$(REQUIRE) abidw=abigail-tools gcc=gcc
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON3) Tests/Checks/abi_library.py baseline

.PHONY: format
format: ## bring the Swift sources into the project's form
	git ls-files -z --cached --others --exclude-standard '*.swift' | xargs -0 swift format format --in-place --parallel

.PHONY: lint
lint: ## say what is not in the project's form, and what a shell script does wrongly
	@$(REQUIRE) py:pytest=python3-pytest shellcheck=shellcheck git=git
	$(PYTEST) Tests/Checks/test_text.py Tests/Checks/test_layers.py
