// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// Says the status of a host whenever it changes, until its input ends. It is looked up meanwhile, if it is a name:
//
//     swift run monitor HOST|ADDRESS

import Dispatch
import FXReachability
import Foundation

@main
enum Monitor {
    static func main() {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: monitor HOST|ADDRESS\n".utf8))
            exit(2)
        }
        let reachability = FXReachability(host: CommandLine.arguments[1])
        let observer = NotificationCenter.default.addObserver(
            forName: FXReachabilityStatusDidChangeNotification, object: reachability, queue: nil
        ) { notification in
            let information = notification.userInfo ?? [:]
            let host = information[FXReachabilityNotificationHostKey] as? String
            let status = information[FXReachabilityNotificationStatusKey] as? FXReachabilityStatus
            let previous = information[FXReachabilityNotificationPreviousStatusKey] as? FXReachabilityStatus
            say("\(host ?? "?"): \(words(status)) (was \(words(previous)))")
        }

        // Notifications come on the main thread, so that another one waits for the end of the input.
        DispatchQueue.global().async {
            while readLine() != nil {}
            DispatchQueue.main.async {
                say("bye")
                exit(0)
            }
        }
        RunLoop.main.run()
        withExtendedLifetime((reachability, observer)) {}
    }

    /// Writes a line at once, also where the output is no terminal.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    private static func words(_ status: FXReachabilityStatus?) -> String {
        switch status {
        case .notReachable: "not reachable"
        case .reachableViaWWAN: "via WWAN"
        case .reachableViaWiFi: "via Wi-Fi or cable"
        case .unknown, nil: "unknown"
        }
    }
}
