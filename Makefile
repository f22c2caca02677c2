# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The two commands: `make run` builds the library and asks it about this machine; `make test` runs every test.
# `make help` lists the others. What belongs to one area stands in mk/AREA.mk.

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
# A directory of its own, which pkg-config and CMake name: where every compiler looks, Apple's names would make programs
# that ask for them take this machine for a Mac.
INCLUDEDIR ?= $(PREFIX)/include/libreach
BINDIR     ?= $(PREFIX)/bin
MANDIR     ?= $(PREFIX)/share/man
DATADIR    ?= $(PREFIX)/share
DESTDIR    ?=

BUILD := build
TOP   := $(CURDIR)

VERSION_MAJOR := $(shell sed -n 's/^#define REACH_VERSION_MAJOR //p' include/reach.h)
VERSION_MINOR := $(shell sed -n 's/^#define REACH_VERSION_MINOR //p' include/reach.h)
VERSION_PATCH := $(shell sed -n 's/^#define REACH_VERSION_PATCH //p' include/reach.h)
VERSION       := $(VERSION_MAJOR).$(VERSION_MINOR).$(VERSION_PATCH)

# What a C program of this repository is compiled with, and how it finds the library that was just built.
CWARN       := -Wall -Wextra -Wpedantic -Werror
REACH_FLAGS := -I$(TOP)/include
REACH_LIBS  := -L$(TOP)/$(BUILD) -Wl,-rpath,$(TOP)/$(BUILD) -lreach

.PHONY: all
all:

include mk/build.mk
include $(filter-out mk/build.mk,$(sort $(wildcard mk/*.mk)))

# The tool's answer and explanation, and a watch: until Ctrl-C on a terminal, for WATCH_SECONDS elsewhere.
WATCH_SECONDS ?= 3
.PHONY: run
run: all ## build the library, and ask it about this machine's network
	@echo "Am I online?"
	@$(BUILD)/reach --explain || test $$? -le 1
	@if [ -t 0 ] && [ -t 1 ]; then echo "Watching. Ctrl-C ends it."; $(BUILD)/reach --watch; \
	else echo "Watching for $(WATCH_SECONDS) s."; timeout --preserve-status -s TERM $(WATCH_SECONDS) $(BUILD)/reach --watch; fi \
	|| test $$? -le 1

.PHONY: test
test: $(TEST_TARGETS) ## run every quick test

.PHONY: sanitize
sanitize: $(SANITIZE_TARGETS) ## run tests under the thread, address and undefined-behaviour sanitizers

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(BUILD) .build

.PHONY: help
help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile mk/*.mk | sort | while IFS="$$(printf '\t')" read -r name text; do \
	    printf '  make %-30s %s\n' "$$name" "$$text"; done
