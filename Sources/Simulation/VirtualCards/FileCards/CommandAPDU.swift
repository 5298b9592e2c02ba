// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A command APDU as parsed by a virtual card, in one of its seven forms.
package struct CommandAPDU: Hashable, Sendable {
    var classByte: UInt8
    var instruction: UInt8
    var p1: UInt8
    var p2: UInt8
    package var data: [UInt8] = []
    /// The maximum number of expected bytes, 256 or 65 536 for a length of zero; `nil` when none are.
    var expected: Int?
    /// Whether its lengths have three bytes.
    var isExtended = false

    /// Parses a command; `nil` when its lengths do not match any form.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4 else { return nil }
        (classByte, instruction, p1, p2) = (bytes[0], bytes[1], bytes[2], bytes[3])
        let body = Array(bytes.dropFirst(4))
        guard let first = body.first else { return }
        if body.count == 1 {
            expected = first == 0 ? 256 : Int(first)
            return
        }
        var rest = body.dropFirst()
        var length = Int(first)
        if first == 0 {
            guard body.count >= 3 else { return nil }
            isExtended = true
            length = Int(body[1]) << 8 | Int(body[2])
            rest = body.dropFirst(3)
            if rest.isEmpty {
                expected = length == 0 ? 65_536 : length
                return
            }
        }
        guard length > 0, rest.count >= length else { return nil }
        data = Array(rest.prefix(length))
        let tail = Array(rest.dropFirst(length))
        switch (tail.count, isExtended) {
        case (0, _): return
        case (1, false): expected = tail[0] == 0 ? 256 : Int(tail[0])
        case (2, true):
            let number = Int(tail[0]) << 8 | Int(tail[1])
            expected = number == 0 ? 65_536 : number
        default: return nil
        }
    }

    /// P1 and P2 as one number.
    package var parameters: UInt16 { UInt16(p1) << 8 | UInt16(p2) }
}

/// The result of a command, before it is cut to the reader's expected length.
package struct FileCardReply: Hashable, Sendable {
    package var data: [UInt8]
    package var status: UInt16

    init(_ status: UInt16) {
        data = []
        self.status = status
    }

    init(_ data: [UInt8], _ status: UInt16 = StatusWord.success) {
        self.data = data
        self.status = status
    }

    package var bytes: [UInt8] { data + [UInt8(truncatingIfNeeded: status >> 8), UInt8(truncatingIfNeeded: status)] }
}

/// The status words of virtual cards (ISO 7816-4; the meanings on a driver's license as TRETJapanNFCReader lists them).
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
    static let wrongFileStructure: UInt16 = 0x6981
    static let securityNotSatisfied: UInt16 = 0x6982
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
