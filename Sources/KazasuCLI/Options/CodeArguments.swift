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

/// Codes as a user lists them: `0003,FE00`.
struct CodeList<Code: FourDigitCode>: ExpressibleByArgument, Equatable, Sendable {
    var codes: [Code]

    init(_ codes: Code...) {
        self.codes = codes
    }

    var defaultValueDescription: String { codes.map(\.description).joined(separator: ",") }

    init?(argument: String) {
        codes = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let code = Code(typed: part) else { return nil }
            if !codes.contains(code) { codes.append(code) }
        }
        if codes.isEmpty { return nil }
    }
}

/// System codes as a user lists them.
typealias SystemCodeList = CodeList<SystemCode>
/// Service codes as a user lists them.
typealias ServiceCodeList = CodeList<ServiceCode>

/// One code.
struct CodeArgument<Code: FourDigitCode>: ExpressibleByArgument, Equatable, Sendable {
    var code: Code

    init?(argument: String) {
        guard let code = Code(typed: argument) else { return nil }
        self.code = code
    }
}

/// One system code.
typealias SystemArgument = CodeArgument<SystemCode>
/// One service code.
typealias ServiceArgument = CodeArgument<ServiceCode>
