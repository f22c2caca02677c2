# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# Sandboxes, containers, forks, plug-ins, other libcs: see Tests/Environments.

TEST_TARGETS += test-environments

$(BUILD)/tests/environments: Tests/Environments/environments.c $(SUPPORT_LIB) $(BUILD)/libreach.so
	$(CC) $(SUPPORT_CFLAGS) -o $@ $< $(SUPPORT_LIBS) -lseccomp

.PHONY: test-environments
test-environments: $(BUILD)/tests/environments lib ## sandboxes, forks, limits, unloading, static linking, musl
	@$(REQUIRE) py:pytest=python3-pytest unshare=util-linux ip=iproute2 gcc=gcc musl-gcc=musl-tools readelf=binutils
	$(BUILD)/tests/environments
	$(PYTEST) Tests/Environments
