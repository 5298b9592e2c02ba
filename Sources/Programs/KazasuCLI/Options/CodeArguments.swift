// SPDX-License-Identifier: Apache-2.0

public import CommandDescription
import ByteCodec
public import Kazasu

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
    package static var argumentKind: ArgumentKind { .list }
    package static var example: LocalizedText? { FourDigits.example }
    package static var pattern: String? { FourDigits.pattern }

    package var codes: [Code]

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

extension FourDigits {
    /// How a code is written.
    fileprivate static let example = LocalizedText("four hexadecimal digits, as in 090F", "090F（16 進 4 桁）")
    /// How programs write a code.
    fileprivate static let pattern = "^[0-9A-F]{4}$"
}

extension SystemCode: ExpressibleByArgument {
    /// Reads a code as the user types it.
    public init?(argument: String) { self.init(typed: argument) }
    /// Up to four hexadecimal digits.
    public static var example: LocalizedText? { FourDigits.example }
    /// Four hexadecimal digits.
    public static var pattern: String? { FourDigits.pattern }
}

extension ServiceCode: ExpressibleByArgument {
    /// Reads a code as the user types it.
    public init?(argument: String) { self.init(typed: argument) }
    /// Up to four hexadecimal digits.
    public static var example: LocalizedText? { FourDigits.example }
    /// Four hexadecimal digits.
    public static var pattern: String? { FourDigits.pattern }
}
