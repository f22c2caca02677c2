# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The small build: Embedded Swift, whole module, optimised for size. The same Swift files are built the normal way by
# `swift build`; only the folder named Swift, which needs the full language, is left out here. The two modules are optimised
# together when they are linked: each holds its own copies of what the other uses of it.

SWIFTC  ?= swiftc
CLANG   ?= clang
SWIFT_SMALL := -enable-experimental-feature Embedded -wmo -Osize -parse-as-library -swift-version 6 \
               -package-name libreach -warnings-as-errors -lto=llvm-full -Xcc -fPIC -Xcc -fno-stack-protector \
               -I $(BUILD)/small -I Sources/CLinux -I include

CORE_SOURCES := $(sort $(shell find Sources/ReachabilitySwift -name '*.swift' -not -path '*/Swift/*'))
ABI_SOURCES  := $(sort $(wildcard Sources/CReachabilityABI/*.swift))
C_HEADERS    := $(wildcard Sources/CLinux/*) include/reach.h include/module.modulemap
MAP          := Sources/CReachabilityABI/libreach.map

LINK_SMALL := -shared -fuse-ld=lld -Wl,--gc-sections -Wl,--icf=all -Wl,--version-script=$(MAP) -Wl,-soname=libreach.so.1 \
              -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,text -Wl,-z,nodelete -Wl,--build-id -Wl,-mllvm,-enable-machine-outliner=always

all: lib

.PHONY: lib
lib: $(BUILD)/libreach.so.1 $(BUILD)/libreach.so $(BUILD)/libreach.a ## build the library

$(BUILD)/small:
	mkdir -p $@

$(BUILD)/small/core.o: $(CORE_SOURCES) $(C_HEADERS) mk/build.mk | $(BUILD)/small
	rm -f $@ # the compiler leaves an object alone whose code is the same, even when its options are not
	$(SWIFTC) $(SWIFT_SMALL) -module-name ReachabilitySwift -emit-module \
	    -emit-module-path $(BUILD)/small/ReachabilitySwift.swiftmodule -c $(CORE_SOURCES) -o $@

$(BUILD)/small/abi.o: $(ABI_SOURCES) $(BUILD)/small/core.o
	rm -f $@
	$(SWIFTC) $(SWIFT_SMALL) -module-name CReachabilityABI -c $(ABI_SOURCES) -o $@

$(BUILD)/libreach.so.1: $(BUILD)/small/core.o $(BUILD)/small/abi.o $(MAP)
	$(CLANG) $(LINK_SMALL) $(BUILD)/small/core.o $(BUILD)/small/abi.o -o $@.unstripped
	llvm-objcopy --strip-all $@.unstripped $@

$(BUILD)/libreach.so: $(BUILD)/libreach.so.1
	ln -sf libreach.so.1 $@

# One object in which every name but reach_* is local, so that a program that embeds it sees nothing else.
$(BUILD)/libreach.a: $(BUILD)/small/core.o $(BUILD)/small/abi.o
	ld.lld -r --lto-O2 --gc-sections $(shell sed -n 's/^reach_/--undefined=reach_/p' Sources/CReachabilityABI/symbols.txt) \
	    -o $(BUILD)/small/libreach.o $(BUILD)/small/core.o $(BUILD)/small/abi.o
	llvm-objcopy --wildcard --keep-global-symbol='reach_*' $(BUILD)/small/libreach.o
	rm -f $@
	llvm-ar rcs $@ $(BUILD)/small/libreach.o
