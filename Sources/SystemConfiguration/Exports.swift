// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// What Apple's module brings along, so that a file that imports nothing else compiles here too.

@_exported public import CSystemConfiguration
@_exported public import CoreFoundation
@_exported public import Dispatch

#if canImport(Musl)
@_exported public import Musl
#else
@_exported public import Glibc
#endif
