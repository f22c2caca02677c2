// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

@testable import ReachabilitySwift

/// Host names and addresses in text, as programs hand them in: any bytes at all.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let name = [UInt8](UnsafeBufferPointer(start: data, count: size))
    let address = AddressLiteral.parse(name)
    if !name.contains(UInt8(ascii: "%")) { checkUnscoped(name, address) }
    if let address {
        precondition(!name.contains(0))
        // Its text is a text of it, scope left out.
        precondition(AddressLiteral.parse(address.text) == address.unscoped)
    }

    if HostName.isValid(name) {
        precondition(!name.isEmpty)
        precondition(name.allSatisfy { $0 > 0x20 })
        if address == nil {
            precondition(name.count <= 254)
            precondition(name.allSatisfy { isLetterDigitHyphenOrDot($0) })
            precondition(name.first != UInt8(ascii: "-") && name.first != UInt8(ascii: "."))
        }
    }
    if HostName.isLocalhost(name) { precondition(name.count >= 9) }

    switch try? Destination(name: name) {
    case .name(let kept): precondition(kept == name && address == nil && !HostName.isLocalhost(name))
    case .localhost(let kept): precondition(kept == name && address == nil && HostName.isLocalhost(name))
    case .internet: precondition(address?.isUnspecified == true)
    case .address(let kept): precondition(kept == address)
    case .pair: preconditionFailure("a name is no pair")
    case nil: precondition(name.isEmpty || name.contains(0))
    }
    return 0
}

/// libc's two readers are the definition of what an address in text is.
private func checkUnscoped(_ name: [UInt8], _ address: IPAddress?) {
    guard !name.contains(0) else {
        precondition(address == nil)
        return
    }
    var text = name.map { CChar(bitPattern: $0) }
    text.append(0)
    var v4 = in_addr()
    var v6 = in6_addr()
    let isV4 = inet_aton(text, &v4) != 0
    let isV6 = inet_pton(AF_INET6, text, &v6) == 1
    precondition((address != nil) == (isV4 || isV6))
    if isV4 { precondition(address == IPAddress(v4: UInt32(bigEndian: v4.s_addr))) }
}

private func isLetterDigitHyphenOrDot(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): return true
    default: return false
    }
}
