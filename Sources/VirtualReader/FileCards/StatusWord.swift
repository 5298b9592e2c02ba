// SPDX-License-Identifier: Apache-2.0

/// The status words that virtual cards give of themselves (ISO 7816-4; the meanings on a driver's licence as
/// TRETJapanNFCReader lists them).
enum StatusWord {
    static let success: UInt16 = 0x9000
    static let moreData: UInt16 = 0x6100
    static let endOfFile: UInt16 = 0x6282
    static let applicationLocked: UInt16 = 0x6283
    static let mismatch: UInt16 = 0x6300
    static let triesLeft: UInt16 = 0x63C0
    static let wrongLength: UInt16 = 0x6700
    static let noLogicalChannel: UInt16 = 0x6881
    static let noSecureMessaging: UInt16 = 0x6882
    static let noChaining: UInt16 = 0x6884
    static let wrongFileStructure: UInt16 = 0x6981
    static let securityNotSatisfied: UInt16 = 0x6982
    static let blocked: UInt16 = 0x6983
    static let noCurrentFile: UInt16 = 0x6986
    static let fileNotFound: UInt16 = 0x6A82
    static let recordNotFound: UInt16 = 0x6A83
    static let noSpace: UInt16 = 0x6A84
    static let wrongParameters: UInt16 = 0x6A86
    static let dataNotFound: UInt16 = 0x6A88
    static let wrongOffset: UInt16 = 0x6B00
    static let wrongExpectedLength: UInt16 = 0x6C00
    static let unknownInstruction: UInt16 = 0x6D00
    static let unknownClass: UInt16 = 0x6E00
}
