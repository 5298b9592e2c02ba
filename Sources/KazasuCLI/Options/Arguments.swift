// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ByteCodec
package import CardDecoders
package import CardModel
import CardReading

/// Block numbers as a user lists them, decimal.
package struct BlockRange: ExpressibleByArgument, Equatable, Sendable {
    package var numbers: [UInt16]

    package init?(argument: String) {
        guard let numbers = NumberRanges.parse(argument, { UInt16($0) }) else { return nil }
        self.numbers = numbers
    }
}

extension FourDigitCode {
    /// Parses a code as the user types it: digits alone, or two bytes with a separator, as in `09:0F`.
    package init?(typed text: Substring) {
        if let code = Self(text) {
            self = code
        } else if let bytes = try? Hex.decode(String(text)), bytes.count == 2 {
            self.init(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
        } else {
            return nil
        }
    }

    /// Parses a code as the user types it.
    package init?(typed text: String) {
        self.init(typed: text[...])
    }
}

/// Codes as a user lists them: `0003,FE00`.
package struct CodeList<Code: FourDigitCode>: ExpressibleByArgument, Equatable, Sendable {
    package var codes: [Code]

    package init(_ codes: Code...) {
        self.codes = codes
    }

    package var defaultValueDescription: String { codes.map(\.description).joined(separator: ",") }

    package init?(argument: String) {
        codes = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let code = Code(typed: part) else { return nil }
            if !codes.contains(code) { codes.append(code) }
        }
        if codes.isEmpty { return nil }
    }
}

/// System codes as a user lists them.
package typealias SystemCodeList = CodeList<SystemCode>
/// Service codes as a user lists them.
package typealias ServiceCodeList = CodeList<ServiceCode>

/// One code.
package struct CodeArgument<Code: FourDigitCode>: ExpressibleByArgument, Equatable, Sendable {
    package var code: Code

    package init?(argument: String) {
        guard let code = Code(typed: argument) else { return nil }
        self.code = code
    }
}

/// One system code.
package typealias SystemArgument = CodeArgument<SystemCode>
/// One service code.
package typealias ServiceArgument = CodeArgument<ServiceCode>

/// A day as `2026-11-20`.
package struct DateArgument: ExpressibleByArgument, Equatable, Sendable {
    package var date: CalendarDate

    package init?(argument: String) {
        guard let date = CalendarDate(argument) else { return nil }
        self.date = date
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

/// Page numbers as a user lists them, hexadecimal as `tag pages` prints them: `4`, `00-0F`, `3,28-2C`.
package struct PageRange: ExpressibleByArgument, Equatable, Sendable {
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
    package var number: UInt16

    package init?(argument: String) {
        guard let number = PageRange.page(argument[...]) else { return nil }
        self.number = number
    }
}

/// A station as `0-3-13`, or a bus stop as `0C4F-0000`.
package struct PlaceArgument: ExpressibleByArgument, Equatable, Sendable {
    package var code: PlaceCode
    package var text: String

    package init?(argument: String) {
        text = argument
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
        if parts.count == 3 {
            let numbers = parts.compactMap { UInt8($0) }
            guard numbers.count == 3 else { return nil }
            code = .station(StationCode(area: numbers[0], line: numbers[1], station: numbers[2]))
        } else if parts.count == 2, parts.allSatisfy({ $0.utf8.count == 4 }),
            let operatorCode = UInt16(parts[0], radix: 16),
            let stop = UInt16(parts[1], radix: 16)
        {
            code = .busStop(BusStopCode(area: 0, operatorCode: operatorCode, stop: stop))
        } else {
            return nil
        }
    }
}

/// What `stations lookup` looks for: a code, or any other text as a name.
package enum PlaceQuery: ExpressibleByArgument, Equatable, Sendable {
    case code(PlaceArgument)
    case name(String)

    package init?(argument: String) {
        if let code = PlaceArgument(argument: argument) {
            self = .code(code)
        } else if argument.isEmpty || argument.contains(/^[0-9A-Fa-f]*(-[0-9A-Fa-f]*)+$/) {
            // A code with a mistake in it.
            return nil
        } else {
            self = .name(argument)
        }
    }

    package var text: String {
        switch self {
        case .code(let code): code.text
        case .name(let name): name
        }
    }
}

/// A record's type and data as a user types them. `text/plain=hello` or `text/vcard=@card.vcf`, `@-` for standard
/// input.
package struct TypedData: ExpressibleByArgument, Equatable, Sendable {
    package var type: String
    private var text: String

    package init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, (1...255).contains(parts[0].utf8.count),
            parts[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        type = String(parts[0])
        text = String(parts[1])
    }

    /// The data, read from the file where one is named.
    package func data() throws(CommandError) -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try Files.read(String(text.dropFirst()))
    }
}

/// Kinds of card as a user lists them: `f,a,b`.
package struct TechnologyList: ExpressibleByArgument, Equatable, Sendable {
    package var technologies: [Technology]

    package static let usual = TechnologyList(technologies: CardFinder.usualOrder)

    private static let letters: [(letter: String, technology: Technology)] = [
        ("f", .felica), ("a", .typeA), ("b", .typeB),
    ]

    package init(technologies: [Technology]) {
        self.technologies = technologies
    }

    package init?(argument: String) {
        technologies = []
        for part in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            guard let known = TechnologyList.letters.first(where: { $0.letter == part }),
                !technologies.contains(known.technology)
            else { return nil }
            technologies.append(known.technology)
        }
        if technologies.isEmpty { return nil }
    }

    package var defaultValueDescription: String {
        technologies.compactMap { one in TechnologyList.letters.first { $0.technology == one }?.letter }
            .joined(separator: ",")
    }
}

/// Which types of ISO 14443 to look for, in order.
package struct ISOTypes: ExpressibleByArgument, Equatable, Sendable {
    package var technologies: [Technology]

    package static let both = ISOTypes(technologies: [.typeA, .typeB])

    package init(technologies: [Technology]) {
        self.technologies = technologies
    }

    package init?(argument: String) {
        technologies = []
        for part in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            switch part {
            case "a": technologies.append(.typeA)
            case "b": technologies.append(.typeB)
            default: return nil
            }
        }
    }

    package var defaultValueDescription: String { "a,b" }
}
