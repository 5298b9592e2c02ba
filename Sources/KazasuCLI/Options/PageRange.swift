// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel

/// Page numbers as a user lists them, hexadecimal as `tag pages` prints them: `4`, `00-0F`, `3,28-2C`.
struct PageRange: ExpressibleByArgument, Equatable, Sendable {
    var numbers: [UInt16]

    init?(argument: String) {
        guard let numbers = NumberRanges.parse(argument, PageRange.page), numbers.count <= 0x1000 else { return nil }
        self.numbers = numbers
    }

    /// One page: one to four hexadecimal digits, with or without `0x`.
    static func page(_ text: Substring) -> UInt16? {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text
        guard (1...4).contains(digits.utf8.count), digits.utf8.first != UInt8(ascii: "+") else { return nil }
        return UInt16(digits, radix: 16)
    }
}

/// One page number, hexadecimal.
struct PageArgument: ExpressibleByArgument, Equatable, Sendable {
    var number: UInt16

    init?(argument: String) {
        guard let number = PageRange.page(argument[...]) else { return nil }
        self.number = number
    }
}
