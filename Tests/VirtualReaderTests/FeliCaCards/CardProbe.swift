// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import Testing
import VirtualReader

/// One packet and what a card must answer, both in hexadecimal; `<I>` is the IDm 0102030405060708, `nil` silence.
struct Vector: CustomTestStringConvertible, Sendable {
    let request: String
    let answer: String?
    var testDescription: String { request }

    init(_ request: String, _ answer: String?) {
        self.request = request
        self.answer = answer
    }

    static func bytes(_ text: String, idm: String = "0102030405060708") throws -> [UInt8] {
        try Hex.decode(text.replacing("<I>", with: idm))
    }

    /// Sends the packet and compares.
    func check(
        _ card: VirtualFeliCaCard, idm: String = "0102030405060708", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let answer = card.answer(try Self.bytes(request, idm: idm), at: .kbps212).map { Hex.encode($0.frame) }
        let expected = try self.answer.map { Hex.encode(try Self.bytes($0, idm: idm)) }
        #expect(answer == expected, sourceLocation: sourceLocation)
    }
}

extension VirtualFeliCaCard {
    /// What the card answers to a packet in hexadecimal, LEN left out of the question and put in front.
    func ask(_ body: String, at bitRate: FeliCaBitRate = .kbps212) throws -> String? {
        let bytes = try Vector.bytes(body)
        return answer([UInt8(bytes.count + 1)] + bytes, at: bitRate).map { Hex.encode($0.frame.dropFirst()) }
    }

    /// A card of a text.
    static func from(_ text: String) throws -> VirtualFeliCaCard {
        try VirtualCardFile.load(Array(text.utf8))
    }
}
