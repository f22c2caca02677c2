# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The command-line tool. The one that is built here finds the library beside itself. The one that is installed is linked
# again by `make install`, since only then is it known where the library will be.

CC     ?= cc
CFLAGS ?= -O2 -g

TOOL_SOURCES := $(sort $(wildcard Sources/reach/*.c))
TOOL_OBJECTS := $(TOOL_SOURCES:Sources/reach/%.c=$(BUILD)/tool/%.o)
TOOL_HEADERS := $(wildcard Sources/reach/*.h) include/reach.h

all: tool

.PHONY: tool
tool: $(BUILD)/reach ## build the command-line tool

$(BUILD)/tool/%.o: Sources/reach/%.c $(TOOL_HEADERS) mk/tool.mk
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CWARN) -Iinclude $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(BUILD)/reach: $(TOOL_OBJECTS) $(BUILD)/libreach.so.1 $(BUILD)/libreach.so
	$(CC) $(CFLAGS) $(LDFLAGS) $(TOOL_OBJECTS) -L$(BUILD) -Wl,-rpath,'$$ORIGIN' -lreach -o $@

# The loader looks into these by itself; an installed tool carries a path to its library only when it lies elsewhere.
MULTIARCH   := $(shell $(CC) -print-multiarch 2>/dev/null)
LOADER_DIRS := /lib /usr/lib /usr/local/lib /lib64 /usr/lib64 \
               $(if $(MULTIARCH),$(addsuffix /$(MULTIARCH),/lib /usr/lib /usr/local/lib))

.PHONY: tool-for-install
tool-for-install: tool
	@mkdir -p $(CONFIGURED)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TOOL_OBJECTS) -L$(BUILD) $(if $(filter $(LIBDIR),$(LOADER_DIRS)),,-Wl,-rpath,$(LIBDIR)) \
	    -lreach -o $(CONFIGURED)/reach

INSTALL_NEEDS += tool-for-install
INSTALL_MORE += \
    0755:$(CONFIGURED)/reach:$(BINDIR)/reach \
    0644:completions/reach.bash:$(BASHCOMPDIR)/reach \
    0644:completions/_reach:$(ZSHCOMPDIR)/_reach \
    0644:completions/reach.fish:$(FISHCOMPDIR)/reach.fish

TEST_TARGETS += test-tool
SANITIZE_TARGETS += sanitize-tool

.PHONY: test-tool
test-tool: tool ## check the tool, on networks of all kinds
	@$(REQUIRE) py:pytest=python3-pytest ip=iproute2 jq=jq unshare=util-linux script=bsdutils fish=fish zsh=zsh
	$(PYTEST) Tests/Tool

$(BUILD)/tool/reach-sanitized: $(TOOL_SOURCES) $(TOOL_HEADERS) $(BUILD)/libreach.so.1 mk/tool.mk
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CWARN) $(REACH_FLAGS) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all $(TOOL_SOURCES) \
	    $(REACH_LIBS) -o $@

# The leak sanitizer opens files of its own at the end, which it cannot where a test leaves no descriptor.
.PHONY: sanitize-tool
sanitize-tool: $(BUILD)/tool/reach-sanitized
	@$(REQUIRE) py:pytest=python3-pytest ip=iproute2 jq=jq unshare=util-linux script=bsdutils fish=fish zsh=zsh
	REACH_TOOL=$(TOP)/$(BUILD)/tool/reach-sanitized $(PYTEST) Tests/Tool -k 'not cannot_be_asked'
