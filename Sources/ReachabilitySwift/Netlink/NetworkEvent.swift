// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// What an event message says about which verdicts may have changed.
package enum NetworkEvent: Equatable {
    /// Routes to the addresses of this prefix.
    case route(prefix: IPAddress, length: Int)
    /// A link came, changed or went.
    case link(index: UInt32, isGone: Bool)
    /// Anything: an address, a rule, a nexthop object, a setting, or a message that could not be read.
    case anything
    /// Messages were lost.
    case overflow

    /// Reads the beginning of an event datagram. A doubt is always "anything".
    package init(datagram bytes: BoundedBytes) {
        self = .anything
        guard let message = Message(bytes, isCut: true) else { return }
        switch Int(message.type) {
        case Int(RTM_NEWROUTE), Int(RTM_DELROUTE):
            if let (prefix, length) = NetworkEvent.prefix(message.payload) {
                self = .route(prefix: prefix, length: length)
            }
        case Int(RTM_NEWLINK), Int(RTM_DELLINK):
            if let index = message.payload.number(at: 4, as: UInt32.self) {
                self = .link(index: index, isGone: Int(message.type) == Int(RTM_DELLINK))
            }
        default:
            break
        }
    }

    private static func prefix(_ bytes: BoundedBytes) -> (IPAddress, Int)? {
        guard let family = bytes.number(at: 0, as: UInt8.self), let length = bytes.number(at: 1, as: UInt8.self),
            let attributes = bytes.window(from: 12)
        else { return nil }
        let zero: IPAddress
        switch Int32(family) {
        case AF_INET where length <= 32: zero = IPAddress(v4: 0)
        case AF_INET6 where length <= 128: zero = IPAddress(v6High: 0, low: 0)
        default: return nil
        }
        if length == 0 { return (zero, 0) }
        var reader = AttributeReader(attributes)
        while let attribute = reader.next() {
            guard Int(attribute.type) == Int(RTA_DST.rawValue) else { continue }
            // An IPv4-mapped prefix reads as IPv4 here, which is no prefix of ours: then it is "anything".
            guard let address = attribute.value.address(), address.family == zero.family else { return nil }
            return (address, Int(length))
        }
        return nil
    }
}
