// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ByteCodec
import CardModel

extension FourDigitCode {
    /// A code as people type it: digits alone, or two bytes with something between them, as in `09:0F`.
    init?(typed text: Substring) {
        if let code = Self(text) {
            self = code
        } else if let bytes = try? Hex.decode(String(text)), bytes.count == 2 {
            self.init(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
        } else {
            return nil
        }
    }

    /// A code as people type it.
    init?(typed text: String) {
        self.init(typed: text[...])
    }
}

/// System codes as a user lists them: `0003,FE00`.
struct SystemCodeList: ExpressibleByArgument, Equatable, Sendable {
    var codes: [SystemCode]

    init(_ codes: SystemCode...) {
        self.codes = codes
    }

    var defaultValueDescription: String { codes.map(\.description).joined(separator: ",") }

    init?(argument: String) {
        codes = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let code = SystemCode(typed: part) else { return nil }
            if !codes.contains(code) { codes.append(code) }
        }
        if codes.isEmpty { return nil }
    }
}

/// Service codes as a user lists them: `008B,090F`.
struct ServiceCodeList: ExpressibleByArgument, Equatable, Sendable {
    var codes: [ServiceCode]

    init?(argument: String) {
        codes = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let code = ServiceCode(typed: part) else { return nil }
            if !codes.contains(code) { codes.append(code) }
        }
        if codes.isEmpty { return nil }
    }
}

/// Block numbers as a user lists them: `0-19` or `0,3,5-7`, decimal.
struct BlockRange: ExpressibleByArgument, Equatable, Sendable {
    var numbers: [UInt16]

    init?(argument: String) {
        numbers = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
            switch ends.count {
            case 1:
                guard let only = ends[0] else { return nil }
                numbers.append(only)
            case 2:
                guard let first = ends[0], let last = ends[1], first <= last else { return nil }
                numbers.append(contentsOf: first...last)
            default: return nil
            }
        }
    }
}

/// One service code.
struct ServiceArgument: ExpressibleByArgument, Equatable, Sendable {
    var code: ServiceCode

    init?(argument: String) {
        guard let code = ServiceCode(typed: argument) else { return nil }
        self.code = code
    }
}

/// One system code.
struct SystemArgument: ExpressibleByArgument, Equatable, Sendable {
    var code: SystemCode

    init?(argument: String) {
        guard let code = SystemCode(typed: argument) else { return nil }
        self.code = code
    }
}
