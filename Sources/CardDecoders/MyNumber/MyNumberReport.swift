// SPDX-License-Identifier: Apache-2.0

/// All that a dump of a My Number card says.
public struct MyNumberReport: Hashable, Sendable {
    /// The text of the token information; `nil` when it was not read or is no text.
    public var token: String?
    /// What the card said of its PINs, in the order of ``MyNumberPIN``.
    public var pins: [MyNumberPIN: CardPINState]
    /// The certificates in DER, those that were read.
    public var certificates: [MyNumberFile: [UInt8]]
    /// The four items; `nil` when they were not read.
    public var attributes: MyNumberAttributes?
    /// Files that need a PIN that the card was not given, or did not take.
    public var withheld: [MyNumberFile]
    /// What is wrong, file by file.
    public var faults: [MyNumberFault]

    /// What kind of card it says it is; `nil` for a text that no source knows.
    public var kind: MyNumberToken? { token.flatMap(MyNumberToken.init(rawValue:)) }
}
