# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# Fault injection on the shipped library: see Tests/Faults/faults.h and Tests/Faults/faults.py.

FAULTS := $(BUILD)/tests/faults
FAULTS_CFLAGS := -std=c11 -D_GNU_SOURCE -O1 -g $(CWARN)

TEST_TARGETS += test-faults

$(FAULTS)/shim.so: Tests/Faults/shim.c Tests/Faults/faults.h mk/faults.mk
	@mkdir -p $(@D)
	$(CC) $(FAULTS_CFLAGS) -shared -fPIC -pthread -Wl,-soname=reach-faults-shim.so -o $@ $<

# The shim is linked only so that its name for the driver's calls is known; it comes first by LD_PRELOAD.
$(FAULTS)/driver: Tests/Faults/driver.c $(FAULTS)/shim.so $(BUILD)/libreach.so include/reach.h
	$(CC) $(FAULTS_CFLAGS) $(REACH_FLAGS) -pthread -o $@ $< $(FAULTS)/shim.so $(REACH_LIBS)

# As root in a user namespace of its own, whoever starts it.
FAULTS_RUN = unshare --user --map-root-user $(PYTHON3) Tests/Faults/faults.py $(FAULTS)/shim.so $(FAULTS)/driver \
             $(BUILD)/libreach.so.1

.PHONY: faults-programs
faults-programs: $(FAULTS)/driver
	@$(REQUIRE) unshare=util-linux nsenter=util-linux ip=iproute2 nm=binutils python3=python3

.PHONY: test-faults
test-faults: faults-programs ## make libc fail under the library, at chosen calls and at random
	$(FAULTS_RUN) --random 12 --table $(BUILD)/faults/table.md

.PHONY: faults
faults: faults-programs ## make libc fail at every call, and write docs/RELIABILITY.md (FAULTS_RANDOM=n FAULTS_SEED=s)
	$(FAULTS_RUN) --all --random $(or $(FAULTS_RANDOM),200) --seed $(or $(FAULTS_SEED),1) \
	    --table $(BUILD)/faults/table.md
	cat Tests/Faults/RELIABILITY.head.md $(BUILD)/faults/table.md >docs/RELIABILITY.md
