// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
package import Kazasu

/// Numbers as a user lists them: `0-19` or `0,3,5-7`.
package enum NumberRanges {
    /// Parses a list.
    ///
    /// - Parameter number: parses one number.
    /// - Returns: `nil` when any element is neither a number nor a range from the lower to the higher.
    package static func parse(_ text: String, _ number: (Substring) -> UInt16?) -> [UInt16]? {
        var numbers: [UInt16] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(number)
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last
            else { return nil }
            numbers.append(contentsOf: first...last)
        }
        return numbers
    }
}

/// Block numbers as a user lists them, decimal.
package struct BlockRange: ExpressibleByArgument, Equatable, Sendable {
    package static var argumentKind: ArgumentKind { .list }
    package static var example: LocalizedText? { LocalizedText("0-19 or 0,3,5-7", "0-19、0,3,5-7") }
    package static var pattern: String? { "^[0-9]{1,5}(-[0-9]{1,5})?$" }

    package var numbers: [UInt16]

    package init?(argument: String) {
        guard let numbers = NumberRanges.parse(argument, { UInt16($0) }) else { return nil }
        self.numbers = numbers
    }
}

/// Page numbers as a user lists them, hexadecimal as `tag pages` prints them: `4`, `00-0F`, `3,28-2C`.
package struct PageRange: ExpressibleByArgument, Equatable, Sendable {
    package static var argumentKind: ArgumentKind { .list }
    package static var example: LocalizedText? { LocalizedText("0-F or 4,29-2C", "0-F、4,29-2C") }
    package static var pattern: String? { "^[0-9A-F]{1,3}(-[0-9A-F]{1,3})?$" }

    package var numbers: [UInt16]

    package init?(argument: String) {
        guard let numbers = NumberRanges.parse(argument, PageRange.page), numbers.count <= 0x1000 else { return nil }
        self.numbers = numbers
    }

    /// One page: one to four hexadecimal digits, with or without `0x`.
    package static func page(_ text: Substring) -> UInt16? {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text
        guard (1...4).contains(digits.utf8.count), digits.utf8.first != UInt8(ascii: "+") else { return nil }
        return UInt16(digits, radix: 16)
    }
}

/// One page number, hexadecimal.
package struct PageArgument: ExpressibleByArgument, Equatable, Sendable {
    package static var example: LocalizedText? { LocalizedText("4 or 2C", "4、2C") }
    package static var pattern: String? { "^[0-9A-F]{1,3}$" }

    package var number: UInt16

    package init?(argument: String) {
        guard let number = PageRange.page(argument[...]) else { return nil }
        self.number = number
    }
}

/// The separator between the bytes of a block for display.
package enum HexSeparator: String, CaseIterable, ExpressibleByArgument, Sendable {
    case none, space, colon

    package var text: String {
        switch self {
        case .none: ""
        case .space: " "
        case .colon: ":"
        }
    }
}
