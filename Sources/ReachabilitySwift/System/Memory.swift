// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Memory of the size that a system call wants, from malloc.
///
/// The standard library's allocate methods do not look whether there was any: what they return is written to all the
/// same. Here the process ends with a trap, as it does when there is no memory for an object.
enum Memory {
    static func buffer(_ count: Int) -> UnsafeMutableRawBufferPointer {
        guard let start = calloc(1, count) else { fatalError("out of memory") }
        return UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    static func array<Element: BitwiseCopyable>(of type: Element.Type, count: Int) -> UnsafeMutableBufferPointer<
        Element
    > {
        buffer(count * MemoryLayout<Element>.stride).bindMemory(to: type)
    }

    static func release(_ buffer: UnsafeMutableRawBufferPointer) {
        free(buffer.baseAddress)
    }

    static func release<Element>(_ array: UnsafeMutableBufferPointer<Element>) {
        free(array.baseAddress)
    }
}
