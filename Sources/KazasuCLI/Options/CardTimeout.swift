// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How long to wait for a card.
enum CardTimeout: Equatable, Sendable, ExpressibleByArgument {
    case seconds(Double)
    case forever

    /// When nobody says another time.
    static let usual = CardTimeout.seconds(10)

    init?(argument: String) {
        if argument == "forever" {
            self = .forever
        } else if let seconds = Double(argument), seconds >= 0, seconds <= 1_000_000 {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }

    /// What names it on a command line.
    var argument: String { defaultValueDescription }

    var defaultValueDescription: String {
        switch self {
        case .seconds(let seconds): seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
        case .forever: "forever"
        }
    }

    /// The same as a duration, `nil` for ever.
    var duration: Duration? {
        switch self {
        case .seconds(let seconds): .seconds(seconds)
        case .forever: nil
        }
    }
}
