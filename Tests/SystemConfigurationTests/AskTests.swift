// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import SystemConfiguration
import Testing

extension NetworkTests {
    /// SCNetworkReachabilityGetFlags.
    @Suite struct Asking {
        init() throws { try Network.begin() }

        @Test func theZeroAddressIsTheInternetByEitherFamily() throws {
            let targets = [
                try addressTarget("0.0.0.0"), try addressTarget("::"), try nameTarget("0"), try nameTarget("0.0.0.0"),
            ]
            for target in targets { #expect(try ask(target) == 0) }
            try Network.addRoute()
            for target in targets { #expect(try ask(target) == reachable) }
            try Network.deleteRoute()
            for target in targets { #expect(try ask(target) == 0) }
            try Network.ip("-6 addr add 2001:db8::2/64 dev wan0 nodad")
            try Network.ip("-6 route add default via 2001:db8::1 dev wan0")
            for target in targets { #expect(try ask(target) == reachable) }
        }

        @Test func addressesAreJudgedByTheirRoute() throws {
            #expect(try ask(addressTarget("127.0.0.1")) == 0x30002)
            #expect(try ask(addressTarget("::1")) == 0x30002)
            #expect(try ask(addressTarget("10.1.0.2")) == 0x30002)
            #expect(try ask(addressTarget("10.1.0.1")) == 0x20002)
            #expect(try ask(addressTarget("8.8.8.8")) == 0)
            try Network.addRoute()
            #expect(try ask(addressTarget("8.8.8.8")) == reachable)
            #expect(try ask(addressTarget("::ffff:8.8.8.8")) == reachable)
        }

        @Test func aPairNeedsALocalAddressThatIsOurs() throws {
            try Network.addRoute()
            #expect(try ask(pairTarget("10.1.0.2", nil)) == 0x30002)
            #expect(try ask(pairTarget("10.1.0.2", "8.8.8.8")) == reachable)
            #expect(try ask(pairTarget("10.1.0.99", "8.8.8.8")) == 0)
            #expect(try ask(pairTarget(nil, "10.1.0.1")) == 0x20002)
            #expect(try ask(pairTarget("127.0.0.1", "8.8.8.8")) == reachable)
        }

        @Test func aNameThatIsNotScheduledAnswersAsTheInternetDoes() throws {
            let target = try nameTarget("nowhere.example")
            #expect(try ask(target) == 0)
            try Network.addRoute()
            #expect(try ask(target) == reachable)
            #expect(try ask(nameTarget("localhost")) == 0x30002)
        }

        @Test func successLeavesTheErrorAlone() throws {
            let target = try addressTarget("0.0.0.0")
            forgetError()
            _ = try ask(target)
            #expect(SCError() == kSCStatusNoKey)
        }

        @Test func aScheduledTargetAnswersAtOnceAndAfterwardsToo() throws {
            try Network.addRoute()
            let target = try addressTarget("0.0.0.0")
            #expect(SCNetworkReachabilitySetDispatchQueue(target, .global()))
            #expect(try ask(target) == reachable)
            try Network.deleteRoute()
            #expect(try ask(target) == 0)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
            try Network.addRoute()
            #expect(try ask(target) == reachable)
        }
    }
}
