# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# A long life in a short time: see Tests/Soak/soak.c.

$(BUILD)/tests/soak: Tests/Soak/soak.c Tests/Soak/default_route.h $(SUPPORT_LIB) $(BUILD)/libreach.so
	$(CC) $(SUPPORT_CFLAGS) -o $@ $< $(SUPPORT_LIBS)

.PHONY: soak
soak: $(BUILD)/tests/soak ## a million route flips and 100,000 schedules; SOAK_PART=10 does a tenth
	@rm -f $(BUILD)/soak.txt
	REACH_SOAK_PART=$(or $(SOAK_PART),1) REACH_TEST_REPORT=$(TOP)/$(BUILD)/soak.txt $(BUILD)/tests/soak
	@cat $(BUILD)/soak.txt
