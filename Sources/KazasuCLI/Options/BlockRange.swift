// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Block numbers as a user lists them, decimal.
struct BlockRange: ExpressibleByArgument, Equatable, Sendable {
    var numbers: [UInt16]

    init?(argument: String) {
        guard let numbers = NumberRanges.parse(argument, { UInt16($0) }) else { return nil }
        self.numbers = numbers
    }
}
