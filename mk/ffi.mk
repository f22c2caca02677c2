# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The examples in other languages and in event loops, each built and run for real. They are not part of `make test`,
# which stays quick. What a machine lacks is skipped aloud, and is a failure where CI is true. ONLY takes names.
#
# FFI_PKG_CONFIG_PATH and FFI_LIBRARY_PATH say where libreach is, by default where it was built; FFI_FOLDER where to build.

FFI_PKG_CONFIG_PATH ?= $(TOP)/$(BUILD)
FFI_LIBRARY_PATH    ?= $(TOP)/$(BUILD)
FFI_FOLDER          ?= $(BUILD)/examples
FFI_ENVIRONMENT = PKG_CONFIG_PATH="$(FFI_PKG_CONFIG_PATH)$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" \
    LD_LIBRARY_PATH="$(FFI_LIBRARY_PATH)$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}" \
    PATH="$$PATH:/usr/sbin:/sbin" LC_ALL=C CC="$(CC)" CXX="$(CXX)" PYTHONDONTWRITEBYTECODE=1

.PHONY: test-ffi
test-ffi: lib $(BUILD)/libreach-uninstalled.pc ## run the example of every language (ONLY="go ruby" for some)
	@$(FFI_ENVIRONMENT) $(PYTHON3) Tests/FFI/run.py $(FFI_FOLDER)/ffi $(ONLY)

.PHONY: test-loops
test-loops: lib $(BUILD)/libreach-uninstalled.pc ## run the example of every event loop (ONLY="glib qt" for some)
	@$(FFI_ENVIRONMENT) $(PYTHON3) Tests/Loops/run.py $(FFI_FOLDER)/loops $(ONLY)

# An installed copy of its own, in a prefix and not below DESTDIR: PKG_CONFIG_SYSROOT_DIR would move the loops' own
# libraries too.
FFI_PREFIX := $(TOP)/$(BUILD)/examples-prefix
INSTALLCHECK_TARGETS += installcheck-examples

.PHONY: installcheck-examples
installcheck-examples:
	@rm -rf $(FFI_PREFIX)
	@$(MAKE) --no-print-directory install DESTDIR= PREFIX=$(FFI_PREFIX) LIBDIR=$(FFI_PREFIX)/lib LDCONFIG=true \
	    INCLUDEDIR=$(FFI_PREFIX)/include/libreach BINDIR=$(FFI_PREFIX)/bin MANDIR=$(FFI_PREFIX)/share/man \
	    DATADIR=$(FFI_PREFIX)/share >/dev/null
	@$(MAKE) --no-print-directory test-ffi test-loops FFI_PKG_CONFIG_PATH=$(FFI_PREFIX)/lib/pkgconfig \
	    FFI_LIBRARY_PATH=$(FFI_PREFIX)/lib FFI_FOLDER=$(BUILD)/examples-installed
