# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The examples in other languages and in event loops, each built and run for real. They are not part of `make test`,
# which stays quick. FFI_PKG_CONFIG_PATH and FFI_LIBRARY_PATH say where libreach is: by default where it was built.

FFI_PKG_CONFIG_PATH ?= $(TOP)/$(BUILD)
FFI_LIBRARY_PATH    ?= $(TOP)/$(BUILD)
FFI_ENVIRONMENT = PKG_CONFIG_PATH="$(FFI_PKG_CONFIG_PATH)$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" \
    LD_LIBRARY_PATH="$(FFI_LIBRARY_PATH)$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}" \
    PATH="$$PATH:/usr/sbin:/sbin" LC_ALL=C CC="$(CC)" CXX="$(CXX)" PYTHONDONTWRITEBYTECODE=1

INSTALL_MORE += 0644:include/reach.hpp:$(INCLUDEDIR)/reach.hpp

.PHONY: test-ffi
test-ffi: lib $(BUILD)/libreach-uninstalled.pc ## run the example of every language (ONLY="go ruby" for some)
	$(FFI_ENVIRONMENT) $(PYTHON3) Tests/FFI/run.py $(BUILD)/ffi $(ONLY)

.PHONY: test-loops
test-loops: lib $(BUILD)/libreach-uninstalled.pc ## run the example of every event loop (ONLY="glib qt" for some)
	$(FFI_ENVIRONMENT) $(PYTHON3) Tests/Loops/run.py $(BUILD)/loops $(ONLY)
