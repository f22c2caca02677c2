// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CReach
import CReachabilityABI
import Foundation
import Testing

/// Whether two functions have the same type, to the last optional.
///
/// The compiler does not compare an exported Swift function with the header's declaration of that name. Handing both to
/// a function with one type parameter would make it compare them, but not strictly: it takes a function that accepts
/// NULL for one that does not. With a parameter for each, nothing is converted, and the types are those that were
/// written.
private func haveSameSignature<Declared, Exported>(_ declared: Declared, _ exported: Exported) -> Bool {
    Declared.self == Exported.self
}

@Suite("Each export has the type that the header declares")
struct SignatureTests {
    private static let pairs: [(name: String, isSame: Bool)] = [
        ("reach_version", haveSameSignature(reach_version, reachVersion)),
        ("reach_version_string", haveSameSignature(reach_version_string, reachVersionString)),

        ("reach_flags_is_online", haveSameSignature(reach_flags_is_online, reachFlagsIsOnline)),
        ("reach_flags_status", haveSameSignature(reach_flags_status, reachFlagsStatus)),
        ("reach_flags_describe", haveSameSignature(reach_flags_describe, reachFlagsDescribe)),

        ("reach_create_with_address", haveSameSignature(reach_create_with_address, reachCreateWithAddress)),
        (
            "reach_create_with_address_pair",
            haveSameSignature(reach_create_with_address_pair, reachCreateWithAddressPair)
        ),
        ("reach_create_with_name", haveSameSignature(reach_create_with_name, reachCreateWithName)),
        ("reach_retain", haveSameSignature(reach_retain, reachRetain)),
        ("reach_release", haveSameSignature(reach_release, reachRelease)),
        ("reach_get_flags", haveSameSignature(reach_get_flags, reachGetFlags)),
        ("reach_is_online", haveSameSignature(reach_is_online, reachIsOnline)),
        ("reach_name_is_valid", haveSameSignature(reach_name_is_valid, reachNameIsValid)),
        ("reach_get_path", haveSameSignature(reach_get_path, reachGetPath)),
        ("reach_reason_text", haveSameSignature(reach_reason_text, reachReasonText)),
        ("reach_link_text", haveSameSignature(reach_link_text, reachLinkText)),

        ("reach_queue_create", haveSameSignature(reach_queue_create, reachQueueCreate)),
        ("reach_queue_create_manual", haveSameSignature(reach_queue_create_manual, reachQueueCreateManual)),
        ("reach_queue_fd", haveSameSignature(reach_queue_fd, reachQueueFD)),
        ("reach_queue_dispatch", haveSameSignature(reach_queue_dispatch, reachQueueDispatch)),
        ("reach_queue_next", haveSameSignature(reach_queue_next, reachQueueNext)),
        ("reach_queue_flush", haveSameSignature(reach_queue_flush, reachQueueFlush)),
        ("reach_queue_retain", haveSameSignature(reach_queue_retain, reachQueueRetain)),
        ("reach_queue_release", haveSameSignature(reach_queue_release, reachQueueRelease)),
        ("reach_set_callback", haveSameSignature(reach_set_callback, reachSetCallback)),
        ("reach_set_queue", haveSameSignature(reach_set_queue, reachSetQueue)),

        ("reach_confirm", haveSameSignature(reach_confirm, reachConfirm)),
        ("reach_confirm_cancel", haveSameSignature(reach_confirm_cancel, reachConfirmCancel)),
        ("reach_wait", haveSameSignature(reach_wait, reachWait)),

        ("reach_monitor_shared", haveSameSignature(reach_monitor_shared, reachMonitorShared)),
        ("reach_monitor_create", haveSameSignature(reach_monitor_create, reachMonitorCreate)),
        ("reach_monitor_retain", haveSameSignature(reach_monitor_retain, reachMonitorRetain)),
        ("reach_monitor_release", haveSameSignature(reach_monitor_release, reachMonitorRelease)),
        ("reach_monitor_get_status", haveSameSignature(reach_monitor_get_status, reachMonitorGetStatus)),
        ("reach_monitor_is_reachable", haveSameSignature(reach_monitor_is_reachable, reachMonitorIsReachable)),
        ("reach_monitor_set_host", haveSameSignature(reach_monitor_set_host, reachMonitorSetHost)),
        ("reach_monitor_get_host", haveSameSignature(reach_monitor_get_host, reachMonitorGetHost)),
        ("reach_monitor_add_observer", haveSameSignature(reach_monitor_add_observer, reachMonitorAddObserver)),
        ("reach_monitor_remove_observer", haveSameSignature(reach_monitor_remove_observer, reachMonitorRemoveObserver)),
    ]

    @Test("in both languages", arguments: pairs.map(\.name))
    func signature(_ name: String) {
        #expect(SignatureTests.pairs.contains { $0.name == name && $0.isSame })
    }

    @Test("and none is left out")
    func complete() throws {
        let list = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/CReachabilityABI/symbols.txt")
        let symbols = try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(SignatureTests.pairs.map(\.name).sorted() == symbols.filter { $0.hasPrefix("reach_") }.sorted())
    }

    @Test("and a pair that differs is noticed")
    func strict() {
        func takesNull(_ pointer: OpaquePointer?) {}
        func takesNone(_ pointer: OpaquePointer) {}
        #expect(!haveSameSignature(takesNull, takesNone))
        #expect(!haveSameSignature(reach_version, reachRelease))
    }
}
