// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

extension [UInt8] {
    /// The bytes of a constant. String would bring its tables into the small library; text is bytes everywhere here.
    package init(_ text: StaticString) {
        self.init(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
