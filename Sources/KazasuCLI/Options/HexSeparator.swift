// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What stands between the bytes of a block for people.
enum HexSeparator: String, CaseIterable, ExpressibleByArgument, Sendable {
    case none, space, colon

    var text: String {
        switch self {
        case .none: ""
        case .space: " "
        case .colon: ":"
        }
    }
}
