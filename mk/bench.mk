# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The benchmarks: libreach beside what a program would use instead, on the same work in the same run, in network
# namespaces of their own. BENCH_QUICK=1 runs all of it with few rounds, BENCH_FULL=1 waits for the slowest peers, and
# BENCH_ROWS="check latency" runs some rows only. Results: build/bench/results.txt, results.csv and instructions.csv.

BENCH_DIR    := Tests/Benchmarks
BENCH_BUILD  := $(BUILD)/bench
BENCH_CFLAGS := -std=c11 -D_GNU_SOURCE -O2 $(CWARN)
BENCH_ROWS   ?=

# What Debian has of the peers, and what else the benchmarks run.
BENCH_PACKAGES := g++ iproute2 libglib2.0-dev libnl-route-3-dev pkg-config python3 qt6-base-dev util-linux valgrind

BENCH_HAVE  = $(shell pkg-config --exists $(1) 2>/dev/null && echo yes)
BENCH_PEERS := reach reach-address raw raw-filtered
ifeq ($(call BENCH_HAVE,gio-2.0),yes)
BENCH_PEERS += glib
endif
ifeq ($(call BENCH_HAVE,libnl-route-3.0),yes)
BENCH_PEERS += libnl
endif
ifeq ($(call BENCH_HAVE,Qt6Network),yes)
BENCH_PEERS += qt
endif

BENCH_ROW_FILES := $(wildcard $(BENCH_DIR)/row-*.c)
BENCH_HEADERS   := $(wildcard $(BENCH_DIR)/*.h) include/reach.h mk/bench.mk
BENCH_PROGRAMS  := $(addprefix $(BENCH_BUILD)/,bench bench-agent bench-paths $(addsuffix .so,$(BENCH_PEERS)))

.PHONY: bench
bench: bench-build ## measure libreach beside its peers
	@rm -f $(BENCH_BUILD)/results.csv
	@python3 $(BENCH_DIR)/report.py system --build $(BUILD) > $(BENCH_BUILD)/system.txt
	@status=0; \
	unshare -Urn $(BENCH_BUILD)/bench $(BENCH_BUILD)/results.csv $(BENCH_ROWS) || status=1; \
	python3 $(BENCH_DIR)/report.py table --system $(BENCH_BUILD)/system.txt $(BENCH_BUILD)/results.csv \
	    > $(BENCH_BUILD)/results.txt || status=1; \
	cat $(BENCH_BUILD)/results.txt; \
	$(MAKE) --no-print-directory bench-instructions || status=1; \
	exit $$status

.PHONY: bench-instructions
bench-instructions: $(BENCH_BUILD)/bench-paths ## compare the instruction counts of the hot paths with the stored ones
	@python3 $(BENCH_DIR)/instructions.py compare --program $(BENCH_BUILD)/bench-paths \
	    --baseline $(BENCH_DIR)/instructions.csv --results $(BENCH_BUILD)/instructions.csv

.PHONY: bench-baseline
bench-baseline: $(BENCH_BUILD)/bench-paths ## store the instruction counts of now
	@python3 $(BENCH_DIR)/instructions.py store --program $(BENCH_BUILD)/bench-paths \
	    --baseline $(BENCH_DIR)/instructions.csv

.PHONY: bench-build
bench-build: $(BENCH_PROGRAMS)

.PHONY: bench-deps
bench-deps: ## install the peers and tools that the benchmarks use (Debian)
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y --no-install-recommends $(BENCH_PACKAGES)

$(BENCH_BUILD):
	mkdir -p $@

$(BENCH_BUILD)/bench: $(BENCH_DIR)/main.c $(BENCH_DIR)/bench.c $(BENCH_DIR)/network.c $(BENCH_DIR)/agent.c \
    $(BENCH_ROW_FILES) $(BENCH_HEADERS) $(BUILD)/libreach.so | $(BENCH_BUILD)
	$(CC) $(BENCH_CFLAGS) $(REACH_FLAGS) $(filter %.c,$^) -o $@ $(REACH_LIBS)

$(BENCH_BUILD)/bench-agent: $(BENCH_DIR)/agent-main.c $(BENCH_DIR)/bench.c $(BENCH_HEADERS) | $(BENCH_BUILD)
	$(CC) $(BENCH_CFLAGS) $(filter %.c,$^) -o $@

$(BENCH_BUILD)/bench-paths: $(BENCH_DIR)/paths.c $(BENCH_DIR)/bench.c $(BENCH_DIR)/network.c $(BENCH_HEADERS) \
    $(BUILD)/libreach.so | $(BENCH_BUILD)
	$(CC) $(BENCH_CFLAGS) $(REACH_FLAGS) $(filter %.c,$^) -o $@ $(REACH_LIBS)

BENCH_SHARED = $(CC) $(BENCH_CFLAGS) -fPIC -shared $(filter %.c,$^) -o $@

$(BENCH_BUILD)/reach.so: $(BENCH_DIR)/peers/reach.c $(BENCH_HEADERS) $(BUILD)/libreach.so | $(BENCH_BUILD)
	$(BENCH_SHARED) $(REACH_FLAGS) $(REACH_LIBS)

$(BENCH_BUILD)/reach-address.so: $(BENCH_DIR)/peers/reach.c $(BENCH_HEADERS) $(BUILD)/libreach.so | $(BENCH_BUILD)
	$(BENCH_SHARED) -DREACH_ADDRESS $(REACH_FLAGS) $(REACH_LIBS)

$(BENCH_BUILD)/raw.so: $(BENCH_DIR)/peers/raw.c $(BENCH_HEADERS) | $(BENCH_BUILD)
	$(BENCH_SHARED)

$(BENCH_BUILD)/raw-filtered.so: $(BENCH_DIR)/peers/raw.c $(BENCH_HEADERS) | $(BENCH_BUILD)
	$(BENCH_SHARED) -DRAW_FILTERED

$(BENCH_BUILD)/glib.so: $(BENCH_DIR)/peers/glib.c $(BENCH_HEADERS) | $(BENCH_BUILD)
	$(BENCH_SHARED) $$(pkg-config --cflags gio-2.0 | sed 's/-I/-isystem /g') $$(pkg-config --libs gio-2.0)

$(BENCH_BUILD)/libnl.so: $(BENCH_DIR)/peers/libnl.c $(BENCH_HEADERS) | $(BENCH_BUILD)
	$(BENCH_SHARED) $$(pkg-config --cflags libnl-route-3.0 | sed 's/-I/-isystem /g') $$(pkg-config --libs libnl-route-3.0)

$(BENCH_BUILD)/qt.so: $(BENCH_DIR)/peers/qt.cpp $(BENCH_HEADERS) | $(BENCH_BUILD)
	$(CXX) -std=c++17 -O2 $(CWARN) -fPIC -shared $< -o $@ $$(pkg-config --cflags Qt6Network | sed 's/-I/-isystem /g') \
	    $$(pkg-config --libs Qt6Network)
