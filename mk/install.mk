# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# Installing, and proving that what was installed is of use. One list says what goes where; install and uninstall both
# read it, so that neither can forget what the other knows.
#
# Directories: DESTDIR is put before all of them and appears in no installed file. PREFIX, LIBDIR, INCLUDEDIR, BINDIR,
# MANDIR and DATADIR may each be set; the ones below follow from these, and may be set too, as distributions differ.

PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR     ?= $(LIBDIR)/cmake/reach
BASHCOMPDIR  ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR   ?= $(DATADIR)/zsh/site-functions
FISHCOMPDIR  ?= $(DATADIR)/fish/vendor_completions.d

INSTALL  ?= install
LDCONFIG ?= ldconfig

SOVERSION := $(VERSION_MAJOR)
CONFIGURED := $(BUILD)/configured

# mode:file:destination. The headers are found, so that one that is added is installed.
INSTALL_HEADERS := module.modulemap $(patsubst include/%,%,$(sort $(wildcard include/*.h include/*.hpp include/*/*.h)))
INSTALL_FILES = \
    0755:$(BUILD)/libreach.so.$(SOVERSION):$(LIBDIR)/libreach.so.$(VERSION) \
    0644:$(BUILD)/libreach.a:$(LIBDIR)/libreach.a \
    $(foreach h,$(INSTALL_HEADERS),0644:include/$(h):$(INCLUDEDIR)/$(h)) \
    0644:$(CONFIGURED)/libreach.pc:$(PKGCONFIGDIR)/libreach.pc \
    0644:$(CONFIGURED)/reachConfig.cmake:$(CMAKEDIR)/reachConfig.cmake \
    0644:$(CONFIGURED)/reachConfigVersion.cmake:$(CMAKEDIR)/reachConfigVersion.cmake \
    $(INSTALL_MORE)

# target:link
INSTALL_LINKS = \
    libreach.so.$(VERSION):$(LIBDIR)/libreach.so.$(SOVERSION) \
    libreach.so.$(SOVERSION):$(LIBDIR)/libreach.so

# Ours alone: removed when empty. Deepest first.
INSTALL_DIRS = $(CMAKEDIR) \
    $(addprefix $(INCLUDEDIR)/,$(filter-out .,$(sort $(patsubst %/,%,$(dir $(INSTALL_HEADERS)))))) \
    $(filter %/libreach,$(INCLUDEDIR))

# Each area adds to these: INSTALL_MORE (mode:file:destination), INSTALL_NEEDS (targets to build before).
INSTALL_NEEDS += lib configured

# What depends on the directories is written anew each time, since they may be given to `make install` alone.
FILL_IN = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@VERSION_MAJOR@|$(VERSION_MAJOR)|g' \
    -e 's|@SOVERSION@|$(SOVERSION)|g' -e 's|@PREFIX@|$(PREFIX)|g' \
    -e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|g' \
    -e 's|@INCLUDEDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCLUDEDIR))|g' -e 's|@CMAKEDIR@|$(CMAKEDIR)|g' \
    -e "s|@LIBDIR_FROM_CMAKE@|$$(realpath -ms --relative-to=$(CMAKEDIR) $(LIBDIR))|g" \
    -e "s|@INCLUDEDIR_FROM_CMAKE@|$$(realpath -ms --relative-to=$(CMAKEDIR) $(INCLUDEDIR))|g" \
    -e "s|@TOP_FROM_BUILD@|$$(realpath -ms --relative-to=$(BUILD) .)|g" \
    -e "s|@POINTER_SIZE@|$$(printf '__SIZEOF_POINTER__\n' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -P -xc -)|g"

.PHONY: configured
configured:
	@mkdir -p $(CONFIGURED)
	@for f in pkgconfig/libreach.pc cmake/reachConfig.cmake cmake/reachConfigVersion.cmake; do \
	    $(FILL_IN) $$f.in > $(CONFIGURED)/$${f##*/} || exit 1; done

# Lets pkg-config find the library where it was built: PKG_CONFIG_PATH=build pkg-config --libs libreach.
all: $(BUILD)/libreach-uninstalled.pc
$(BUILD)/libreach-uninstalled.pc: pkgconfig/libreach-uninstalled.pc.in include/reach.h mk/install.mk
	@mkdir -p $(@D)
	@$(FILL_IN) $< > $@

.PHONY: install
install: ## install the library, headers, tool and manuals (PREFIX, DESTDIR, LIBDIR, ...)
	@$(MAKE) --no-print-directory $(INSTALL_NEEDS)
	@set -e; for entry in $(INSTALL_FILES); do \
	    mode=$${entry%%:*}; rest=$${entry#*:}; to=$(DESTDIR)$${rest#*:}; \
	    $(INSTALL) -d "$${to%/*}"; $(INSTALL) -m $$mode "$${rest%%:*}" "$$to"; echo "  $$to"; done
	@set -e; for entry in $(INSTALL_LINKS); do to=$(DESTDIR)$${entry#*:}; \
	    ln -sfn "$${entry%%:*}" "$$to"; echo "  $$to"; done
	@# In a directory that the loader caches, a library is found once the cache was made anew.
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then PATH="$$PATH:/usr/sbin:/sbin" $(LDCONFIG) || true; fi

.PHONY: uninstall
uninstall: configured ## remove what install put there (give it the same variables)
	@set -e; for entry in $(INSTALL_FILES); do rest=$${entry#*:}; rm -f "$(DESTDIR)$${rest#*:}"; done
	@set -e; for entry in $(INSTALL_LINKS); do rm -f "$(DESTDIR)$${entry#*:}"; done
	@for dir in $(INSTALL_DIRS); do rmdir "$(DESTDIR)$$dir" 2>/dev/null || true; done

# A copy to be tried out, as it would be in /usr. A command with STAGE_ENV before it uses the staged copy alone.
STAGE     := $(TOP)/$(BUILD)/stage
STAGE_ENV := PKG_CONFIG_PATH=$(STAGE)/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$(STAGE) LD_LIBRARY_PATH=$(STAGE)/usr/lib \
             MANPATH=$(STAGE)/usr/share/man

.PHONY: stage
stage: ## install into build/stage, for trying an installed copy
	@rm -rf $(STAGE)
	@$(MAKE) --no-print-directory install DESTDIR=$(STAGE) PREFIX=/usr LIBDIR=/usr/lib \
	    INCLUDEDIR=/usr/include/libreach BINDIR=/usr/bin MANDIR=/usr/share/man DATADIR=/usr/share >/dev/null

# An area that has something to try with an installed copy adds its target to INSTALLCHECK_TARGETS, and uses STAGE_ENV.
.PHONY: installcheck
installcheck: stage ## build and run programs of all kinds with an installed copy
	@$(REQUIRE) py:pytest=python3-pytest cmake=cmake pkg-config=pkg-config gcc=gcc g++=g++ nm=binutils
	STAGE=$(STAGE) VERSION=$(VERSION) $(PYTEST) Tests/Install
	REACH_TOOL=$(STAGE)/usr/bin/reach LD_LIBRARY_PATH=$(STAGE)/usr/lib $(PYTEST) Tests/Tool
	@set -e; for target in $(INSTALLCHECK_TARGETS); do $(MAKE) --no-print-directory $$target; done

DIST := $(BUILD)/libreach-$(VERSION)

.PHONY: dist
dist: ## make the release's tar.gz of what is committed
	@mkdir -p $(BUILD)
	git archive --format=tar.gz --prefix=libreach-$(VERSION)/ -o $(DIST).tar.gz HEAD
	@sha256sum $(DIST).tar.gz
	@test -z "$$(git status --porcelain)" || echo "What is not committed is not in it." >&2

# From nothing but the release, as somebody would who has just downloaded it.
.PHONY: distcheck
distcheck: dist ## build, install and try what is in the release
	rm -rf $(DIST)
	tar -C $(BUILD) -xzf $(DIST).tar.gz
	$(MAKE) -C $(DIST) installcheck
	rm -rf $(DIST)

# From the release, so that nothing that merely lies about here gets in. Any tag of lintian's fails, but those that
# debian/*.lintian-overrides give a reason for.
.PHONY: deb
deb: dist ## build the Debian packages, check them with lintian, and try them
	@$(REQUIRE) dpkg-buildpackage=dpkg-dev dh=debhelper fakeroot=fakeroot lintian=lintian py:pytest=python3-pytest
	rm -rf $(BUILD)/deb
	mkdir -p $(BUILD)/deb
	tar -C $(BUILD)/deb -xzf $(DIST).tar.gz
	cd $(BUILD)/deb/libreach-$(VERSION) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc
	cd $(BUILD)/deb && lintian --info --display-info --pedantic --fail-on error,warning,info,pedantic *.changes
	DEBS=$(TOP)/$(BUILD)/deb VERSION=$(VERSION) $(PYTEST) Tests/Packages
