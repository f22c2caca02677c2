# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The randomised test: see Tests/Model/model.c. It is run plainly by make test, and longer, or under a checker, by hand.

TEST_TARGETS += test-model

$(BUILD)/tests/model: Tests/Model/model.c $(SUPPORT_LIB) $(BUILD)/libreach.so
	$(CC) $(SUPPORT_CFLAGS) -o $@ $< $(SUPPORT_LIBS)

.PHONY: test-model
test-model: $(BUILD)/tests/model ## random calls and changes (REACH_MODEL_SEED, REACH_MODEL_ROUNDS, REACH_MODEL_CALLS)
	@rm -f $(BUILD)/model.txt
	REACH_TEST_REPORT=$(TOP)/$(BUILD)/model.txt $(BUILD)/tests/model
	@cat $(BUILD)/model.txt

# Under the sanitizers too: see mk/test-sanitize.mk for how they are built.
SANITIZE_TARGETS += sanitize-model
.PHONY: sanitize-model
sanitize-model: $(BUILD)/thread/tests/model $(BUILD)/address/tests/model
	REACH_MODEL_ROUNDS=20 REACH_TEST_PATIENCE=4 $(SANITIZE_ENV_thread) $(BUILD)/thread/tests/model
	REACH_MODEL_ROUNDS=20 REACH_TEST_PATIENCE=4 $(SANITIZE_ENV_address) $(BUILD)/address/tests/model
