// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// What can be said of a host name without looking it up.
package enum HostName {
    /// "localhost" and every name below .localhost, in any case, with or without a dot at the end (RFC 6761).
    package static func isLocalhost(_ name: [UInt8]) -> Bool {
        var end = name.count
        if end > 0, name[end - 1] == UInt8(ascii: ".") { end -= 1 }
        let label: StaticString = "localhost"
        let count = label.utf8CodeUnitCount
        guard end >= count else { return false }
        for index in 0..<count where lowercased(name[end - count + index]) != label.utf8Start[index] { return false }
        return end == count || (end > count + 1 && name[end - count - 1] == UInt8(ascii: "."))
    }

    /// Letters, digits and hyphens in labels of 1 to 63 bytes, 253 bytes in all, an optional dot at the end (RFC 1123),
    /// or an address in text.
    package static func isValid(_ name: [UInt8]) -> Bool {
        if AddressLiteral.parse(name) != nil {
            // What follows a % is a link, whose name has limits too.
            let scope = name.firstIndex(of: UInt8(ascii: "%")) ?? name.count
            return name.count - scope <= InterfaceName.capacity && !name.contains { isOutsideOfNames($0) }
        }
        var end = name.count
        if end > 0, name[end - 1] == UInt8(ascii: ".") { end -= 1 }
        guard end >= 1, end <= 253 else { return false }
        var labelStart = 0
        for index in 0...end {
            if index == end || name[index] == UInt8(ascii: ".") {
                guard isValidLabel(name[labelStart..<index]) else { return false }
                labelStart = index + 1
            }
        }
        return true
    }

    private static func isValidLabel(_ label: ArraySlice<UInt8>) -> Bool {
        guard let first = label.first, let last = label.last, label.count <= 63 else { return false }
        guard first != UInt8(ascii: "-"), last != UInt8(ascii: "-") else { return false }
        return label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        let lower = lowercased(byte)
        return (lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z"))
            || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
    }

    private static func isOutsideOfNames(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte >= 0x7f || byte == UInt8(ascii: "/")
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte + 0x20 : byte
    }
}
