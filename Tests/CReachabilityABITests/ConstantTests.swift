// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CReach
import ReachabilitySwift
import Testing

@Suite("The core's numbers are the header's")
struct ConstantTests {
    @Test("kinds of links")
    func kinds() {
        let pairs: [(LinkKind, Int32)] = [
            (.none, REACH_LINK_NONE), (.other, REACH_LINK_OTHER), (.loopback, REACH_LINK_LOOPBACK),
            (.ethernet, REACH_LINK_ETHERNET), (.wifi, REACH_LINK_WIFI), (.cellular, REACH_LINK_CELLULAR),
            (.ppp, REACH_LINK_PPP), (.tunnel, REACH_LINK_TUNNEL),
        ]
        for (kind, number) in pairs { #expect(kind.rawValue == number) }
        #expect(LinkKind(rawValue: REACH_LINK_TUNNEL + 1) == nil)
    }

    @Test("reasons")
    func reasons() {
        let pairs: [(ReachabilityReason, Int32)] = [
            (.reachable, REACH_REASON_REACHABLE), (.noRoute, REACH_REASON_NO_ROUTE),
            (.unreachable, REACH_REASON_UNREACHABLE), (.prohibited, REACH_REASON_PROHIBITED),
            (.blackhole, REACH_REASON_BLACKHOLE), (.noCarrier, REACH_REASON_NO_CARRIER),
            (.lowerLayerDown, REACH_REASON_LOWER_LAYER_DOWN), (.linkDisabled, REACH_REASON_LINK_DISABLED),
            (.noLink, REACH_REASON_NO_LINK), (.noSource, REACH_REASON_NO_SOURCE),
            (.notLocal, REACH_REASON_NOT_LOCAL), (.dormant, REACH_REASON_DORMANT),
            (.nameNotFound, REACH_REASON_NAME_NOT_FOUND), (.resolverFailed, REACH_REASON_RESOLVER_FAILED),
            (.notResolved, REACH_REASON_NOT_RESOLVED),
        ]
        for (reason, number) in pairs { #expect(reason.rawValue == number) }
        #expect(ReachabilityReason(rawValue: REACH_REASON_NOT_RESOLVED + 1) == nil)
    }

    @Test("the path's size")
    func path() {
        #expect(MemoryLayout<reach_path>.size == 240)
    }
}
