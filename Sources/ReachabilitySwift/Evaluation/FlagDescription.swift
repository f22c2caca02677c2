// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

extension ReachabilityFlags {
    private static let names: [(ReachabilityFlags, StaticString)] = [
        (.reachable, "Reachable"),
        (.transientConnection, "Transient Connection"),
        (.connectionRequired, "Connection Required"),
        (.connectionOnTraffic, "Automatic Connection On Traffic"),
        (.connectionOnDemand, "Automatic Connection On Demand"),
        (.interventionRequired, "Intervention Required"),
        (.isLocalAddress, "Local Address"),
        (.isDirect, "Directly Reachable Address"),
        (.isWWAN, "WWAN"),
    ]

    /// The flags in words, comma-separated, with what has no name in hexadecimal; "Not Reachable" for none.
    ///
    /// The words are those of macOS's "scutil -r".
    package var descriptionBytes: [UInt8] {
        if isEmpty { return [UInt8]("Not Reachable") }
        var text = [UInt8]()
        var rest = self
        for (flag, name) in ReachabilityFlags.names where contains(flag) {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: [UInt8](name))
            rest.remove(flag)
        }
        if !rest.isEmpty {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: [UInt8]("0x"))
            for nibble in (0..<8).reversed() {
                let digit = UInt8(truncatingIfNeeded: rest.rawValue >> UInt32(4 * nibble)) & 0xf
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return text
    }
}
