// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

@testable import ReachabilitySwift

/// The message reader and each record parser, on the bytes of one datagram from the kernel.
///
/// Nothing may be read that is not there (the address sanitizer sees it, since libFuzzer hands in exactly sized
/// memory), and nothing may come out that the bytes cannot hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = BoundedBytes(UnsafeRawBufferPointer(start: data, count: size))
    for isCut in [false, true] {
        guard let message = Message(bytes, isCut: isCut) else { continue }
        precondition(message.payload.count <= size - Message.headerSize)
        check(message, size)
    }
    if let whole = Message(bytes) {
        guard let cut = Message(bytes, isCut: true) else { preconditionFailure("less strict, and refused") }
        precondition(whole.type == cut.type && whole.sequence == cut.sequence)
        precondition(whole.payload.count == cut.payload.count)
    }
    walk(bytes, size)
    return 0
}

private func check(_ message: Message, _ size: Int) {
    let hops = RouteRecords.nextHops(message)
    precondition(hops.count <= size / 8)
    precondition(hops == RouteRecords.nextHops(message))

    if let error = RouteRecords.error(message) { precondition(error.rawValue > 0 && error.rawValue < 4096) }
    switch RouteRecords.routeAnswer(message) {
    case .failure(let error): precondition(RouteRecords.error(message) == error)
    case .route(let route):
        precondition(RouteRecords.error(message) == nil)
        precondition(route.gateway == nil || route.hasGateway)
    case nil: break
    }
    precondition(RouteRecords.rule(message) == RouteRecords.rule(message))
    if let (address, isDeprecated) = RouteRecords.globalAddress(message) {
        precondition(!isDeprecated || message.payload.count >= 8)
        precondition(address.byteCount <= size)
    }
    if let link = RouteRecords.link(message) {
        precondition(link.name.bytes.count < InterfaceName.capacity)
        precondition(link.infoKind.bytes.count < InterfaceName.capacity)
        precondition(!(link.isUsable && !link.isEnabled))
        _ = LinkClassifier.kindByType(link)
    }
}

/// The attribute walk on arbitrary bytes ends, and gives windows that do not overlap.
private func walk(_ bytes: BoundedBytes, _ size: Int) {
    var reader = AttributeReader(bytes)
    var total = 0
    while let attribute = reader.next() {
        total += attribute.value.count + 4
        precondition(total <= size)
        precondition(attribute.type < 0x4000)
        _ = attribute.value.address()
        _ = attribute.value.name()
    }
}
