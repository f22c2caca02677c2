# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The manual pages. A page of section 3 describes a family of functions and names each of them in its NAME section; from
# there come the one-line files by which `man reach_get_flags` finds the family's page, so that the two cannot differ.

MAN_PAGES := $(sort $(wildcard man/*.1 man/*.3))

# page:alias, for every name of a page but its own.
MAN_ALIASES = $(shell awk '/^\.Nd/ { nextfile } /^\.Nm [a-z_]/ { page = FILENAME; sub(/.*\//, "", page); \
    if ($$2 ".3" != page) print page ":" $$2 ".3" }' $(filter %.3,$(MAN_PAGES)))

.PHONY: man-aliases
man-aliases:
	@mkdir -p $(CONFIGURED)/man3
	@for entry in $(MAN_ALIASES); do \
	    printf '.so man3/%s\n' "$${entry%%:*}" > $(CONFIGURED)/man3/"$${entry#*:}"; done

INSTALL_NEEDS += man-aliases
INSTALL_MORE += \
    $(foreach page,$(MAN_PAGES),0644:$(page):$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
    $(foreach entry,$(MAN_ALIASES),$(call MAN_ALIAS,$(lastword $(subst :, ,$(entry)))))
MAN_ALIAS = 0644:$(CONFIGURED)/man3/$(1):$(MANDIR)/man3/$(1)

TEST_TARGETS += test-man

.PHONY: test-man
test-man: tool ## check the manual pages against the library, the header and the tool
	@$(REQUIRE) py:pytest=python3-pytest mandoc=mandoc nm=binutils gcc=gcc
	$(PYTEST) Tests/Documentation
