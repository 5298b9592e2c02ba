// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing

@testable import PN53xReader

/// What InListPassiveTarget answers for type A and B, byte by byte.
@Suite(.waits)
struct TargetAnswerTests {
    static let damaged = TransportError.corrupted(status: 0)
    static let uid: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]
    /// The ATS of a DESFire card (vector PT4).
    static let ats: [UInt8] = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]
    static let tag: [UInt8] = [0x01, 0x01, 0x00, 0x44, 0x00, 0x07] + uid
    static let desfire: [UInt8] = [0x01, 0x01, 0x03, 0x44, 0x20, 0x07] + uid + ats
    /// ATQB of vector PT9, and an answer to ATTRIB.
    static let cardB: [UInt8] = [
        0x01, 0x01, 0x50, 0xE8, 0x25, 0x3E, 0xEC, 0x00, 0x00, 0x00, 0x11, 0x00, 0x81, 0x85, 0x01, 0x01,
    ]

    @Test func aTag() throws {
        #expect(
            try TypeATargetAnswer.parse(Self.tag)
                == TypeATarget(uid: Self.uid, atqa: 0x0044, sak: 0x00, isISODEP: false))
    }

    @Test func cardWithISODEP() throws {
        #expect(
            try TypeATargetAnswer.parse(Self.desfire)
                == TypeATarget(uid: Self.uid, atqa: 0x0344, sak: 0x20, ats: Self.ats, isISODEP: true))
        // The shortest ATS is its length byte alone.
        #expect(try TypeATargetAnswer.parse(Self.tag + [0x01])?.ats == [0x01])
    }

    @Test func pn531ReversesTheATQAAndKeepsCascadeTags() throws {
        let seven = try TypeATargetAnswer.parse([1, 1, 0x44, 0x03, 0x20, 8, 0x88] + Self.uid + Self.ats, isPN531: true)
        #expect(seven?.atqa == 0x0344)
        #expect(seven?.uid == Self.uid)
        let ten = try TypeATargetAnswer.parse([1, 1, 0x84, 0, 0, 12, 0x88, 1, 2, 3, 0x88, 4, 5, 6, 7, 8, 9, 10])
        #expect(ten?.uid == Array(1...10))
    }

    @Test func aCardOfTypeB() throws {
        let target = TypeBTarget(
            pupi: [0xE8, 0x25, 0x3E, 0xEC], applicationData: [0x00, 0x00, 0x00, 0x11],
            protocolInfo: [0x00, 0x81, 0x85])
        #expect(try TypeBTargetAnswer.parse(Self.cardB) == target)
        #expect(try TypeBTargetAnswer.parse(Array(Self.cardB.dropLast(2))) == target)
    }

    @Test(arguments: [[0x00], [0x00, 0x01, 0x50]] as [[UInt8]]) func noTarget(_ bytes: [UInt8]) throws {
        #expect(try TypeATargetAnswer.parse(bytes) == nil)
        #expect(try TypeBTargetAnswer.parse(bytes) == nil)
    }

    static let damagedA: [[UInt8]] =
        (1..<tag.count).map { Array(tag.prefix($0)) }
        + (tag.count + 1..<desfire.count).map { Array(desfire.prefix($0)) } + [
            [], tag + [0x00], tag + [0xFF] + ats, [1, 1, 0, 0x44, 0, 8, 0x11] + uid, [1, 1, 0, 4, 8, 5, 1, 2, 3, 4, 5],
            [1, 1, 0, 4, 8, 0], [1, 1, 0, 4, 8, 255, 1, 2, 3, 4],
        ]

    @Test(arguments: damagedA) func inventsNoTypeATarget(_ bytes: [UInt8]) {
        #expect(throws: Self.damaged) { try TypeATargetAnswer.parse(bytes) }
    }

    static let damagedB: [[UInt8]] =
        (1..<14).map { Array(cardB.prefix($0)) } + [[], [1, 1, 0x51] + cardB.dropFirst(3)]

    @Test(arguments: damagedB) func inventsNoTypeBTarget(_ bytes: [UInt8]) {
        #expect(throws: Self.damaged) { try TypeBTargetAnswer.parse(bytes) }
    }

    /// Whatever comes, reading it ends, and what is read was in it.
    @Test func anyBytes() throws {
        var generator = SeededGenerator(seed: 0xA11B)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...40, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if count > 5 { bytes[0] = 1; bytes[5] = [4, 7, 10, 8, 12, 200][Int.random(in: 0..<6, using: &generator)] }
            if let target = try? TypeATargetAnswer.parse(bytes) {
                #expect([4, 7, 10].contains(target.uid.count))
                #expect(target.ats.map { Int($0[0]) == $0.count } ?? true)
            }
            if let target = try? TypeBTargetAnswer.parse(bytes) {
                #expect(target.pupi == Array(bytes[3..<7]))
            }
        }
    }
}
