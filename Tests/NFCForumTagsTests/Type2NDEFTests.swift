// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NDEF
import NFCForumTags
import ReaderCore
import TestSupport
import Testing

@Suite("NDEF on Type 2 Tags")
struct Type2NDEFTests {
    @Test("P21: an empty message")
    func empty() throws {
        let reader = FakeType2Reader(
            try Type2Memories.pages("04517CA1 E1ED2580 A9480000 E1100600 0300FE00", count: 20))
        let tag = reader.tag
        #expect(try tag.readNDEF() == NDEFArea(message: [], capacity: 46, obstacle: nil))
        for page in 0...2 as ClosedRange<UInt16> { _ = try tag.page(page) }
        #expect(tag.memory.uid == (try Hex.decode("04517CE1ED2580")))
        #expect(tag.memory.uidCheckIsRight == true)
    }

    @Test("P22: a lock control block names page 40")
    func lockControl() throws {
        let reader = FakeType2Reader(
            try Type2Memories.pages("04A8D8FC 62BC2B80 75480000 E1101200 0103A010 440300FE", count: 42))
        let tag = reader.tag
        let layout = try tag.layout()
        #expect(layout.blocks.map(\.tag) == [.lockControl, .ndefMessage])
        #expect(layout.controlAreas.map(\.addresses) == [160..<162])
        #expect(layout.controlAreas.first?.lockBits == 16 && layout.controlAreas.first?.bytesPerLockBit == 16)
        #expect(try tag.readNDEF() == NDEFArea(message: [], capacity: 137, obstacle: nil))
        #expect(try tag.product() == .ntag203)
    }

    @Test("P23: text, although BCC1 is wrong")
    func text() throws {
        let reader = FakeType2Reader(
            try Type2Memories.pages(
                "04517CA1 E1ED2580 75480000 E1101200 030BD101 07540265 6E746573 74FE0000", count: 45),
            version: Type2Memories.ntag213)
        let tag = reader.tag
        let message = try NDEFMessage(decoding: tag.readNDEF().message)
        #expect(try message.records.map { try $0.content() } == [.text(NDEFText("test"))])
        #expect(try tag.product()?.name == "NTAG213")
        _ = try tag.read(page: 0)
        _ = try tag.page(0)
        #expect(tag.memory.uidCheckIsRight == false)
    }

    @Test("P24: an unknown block without value is skipped")
    func unknownBlock() throws {
        #expect(try Type2Memories.tiny("F0000303 D0000000").tag.readNDEF().message == [0xD0, 0, 0])
    }

    /// Tags without a message, and why.
    static let without: [(data: String, reason: NDEFAbsence)] = [
        ("E1100100 FEFFFFFF", .noMessageBlock), ("E1100100 00000000", .noMessageBlock),
        ("E1100000", .noMessageBlock), ("E0100100 0300FE00", .notFormatted), ("00000000 0300FE00", .notFormatted),
        ("E1200100 0300FE00", .unknownVersion), ("E11001F0 0300FE00", .notReadable),
        ("E1100100 03FFFFFF FFFFFFFF", .lengthBeyondEnd), ("E1100100 0307D000", .lengthBeyondEnd),
        ("E1100100 FD070000", .lengthBeyondEnd), ("E1100100 00000000 00000003", .lengthBeyondEnd),
        ("E1100100 00000000 000003FF", .lengthBeyondEnd), ("E1100100 00000000 0003FF00", .lengthBeyondEnd),
        ("E110FF00 03FE", .notReadable),
    ]

    @Test("P25, P26 and more: reasons for no message", arguments: without)
    func noMessage(_ row: (data: String, reason: NDEFAbsence)) throws {
        let reader = FakeType2Reader(
            try Type2Memories.pages("01020304 05060708 00000000 \(row.data)", count: 16), version: [])
        #expect(throws: TagError.noNDEF(row.reason)) { try reader.tag.readNDEF() }
        #expect(reader.writes.isEmpty)
    }

    @Test("P27: length 0 first, the data, the length last")
    func order() throws {
        let reader = try Type2Memories.tiny("0305D500 023132FE")
        try reader.tag.writeNDEF(Hex.decode("D50003313233"))
        #expect(
            reader.writes == [
                try Hex.decode("A2040300D500"), try Hex.decode("A20503313233"), try Hex.decode("A2040306D500"),
            ])
        #expect(throws: TagError.tooLong(length: 7, capacity: 6)) {
            try reader.tag.writeNDEF(Hex.decode("D5000431323334"))
        }
    }

    @Test("A fresh NTAG213 gets a message behind its lock control block")
    func fresh() throws {
        let reader = try Type2Memories.fresh213()
        let message = try NDEFMessage([NDEFRecord(.uri(NDEFURI("https://kazasu.example")))]).encoded()
        let tag = reader.tag
        try tag.writeNDEF(message)
        #expect(try tag.readNDEF() == NDEFArea(message: message, capacity: 137, obstacle: nil))
        #expect(reader.pages[4] == [0x01, 0x03, 0xA0, 0x0C], "the lock control block stays")
        #expect(reader.pages[5] == [0x34, 0x03, UInt8(message.count), message[0]])
    }

    @Test("Every length that fits, with long and short length fields, on a large tag")
    func lengths() throws {
        let reader = try Type2Memories.fresh216()
        for count in [0, 1, 3, 254, 255, 256, 600, 868] {
            let message = NDEFMessage([
                NDEFRecord(format: .unknown, payload: [UInt8](repeating: 0x5A, count: max(0, count - 8)))
            ])
            let bytes = count < 8 ? (count == 0 ? [] : try NDEFMessage.empty.encoded()) : try message.encoded()
            try reader.tag.writeNDEF(bytes)
            #expect(try reader.tag.readNDEF().message == bytes)
        }
        #expect(try reader.tag.readNDEF().capacity == 868)
        #expect(
            reader.pages[0xE2...].allSatisfy { $0 == [0, 0, 0, 0] || $0 == [4, 0, 0, 0xFF] }, "locks and keys stay")
    }

    @Test("A read takes few exchanges")
    func economy() throws {
        let reader = try Type2Memories.fresh216()
        let bytes = try NDEFMessage([NDEFRecord(format: .unknown, payload: [UInt8](repeating: 7, count: 60))]).encoded()
        try reader.tag.writeNDEF(bytes)
        let before = reader.frames.count
        _ = try reader.tag.readNDEF()
        #expect(reader.frames.count - before <= 7, "\(reader.frames.suffix(8))")
    }

    @Test("After any fault at any exchange: the old message, none, or the new one, never half of one")
    func interruptedWrites() throws {
        let old = try NDEFMessage([NDEFRecord(.text(NDEFText("the old message of the tag")))]).encoded()
        let new = try NDEFMessage([NDEFRecord(.text(NDEFText("what is to be written now, and it is longer")))])
            .encoded()
        let quiet = try Type2Memories.fresh213()
        try quiet.tag.writeNDEF(old)
        let pages = quiet.pages
        var outcomes: Set<[UInt8]> = []
        for exchange in 1...60 {
            for trouble in [
                FakeType2Reader.InjectedFault.gone, .swapped, .broken, .deaf, .damaged, .answer([0x00]),
                .answer([1, 2, 3]),
            ] {
                let reader = FakeType2Reader(pages, version: Type2Memories.ntag213)
                reader.troubles[exchange] = trouble
                let done = Result { () throws(TagError) in try reader.tag.writeNDEF(new) }
                let after = try FakeType2Reader(reader.pages, version: Type2Memories.ntag213).tag.readNDEF().message
                outcomes.insert(after)
                #expect([old, [], new].contains(after), "\(exchange) \(trouble): \(Hex.encode(after))")
                if case .success = done { #expect(after == new) }
            }
        }
        #expect(outcomes == [old, [], new], "the plan reaches every moment")
    }

    @Test("Nothing is written to a read-only tag")
    func refusals() throws {
        let message = try NDEFMessage([NDEFRecord(.text(NDEFText("x")))]).encoded()
        func refuses(_ obstacle: TagError.WriteReason, _ change: (FakeType2Reader) -> Void) throws {
            let reader = try Type2Memories.fresh213()
            change(reader)
            #expect(throws: TagError.notWritable(obstacle)) { try reader.tag.writeNDEF(message) }
            #expect(reader.writes.isEmpty)
            #expect(try reader.tag.readNDEF().obstacle == obstacle)
        }
        try refuses(.readOnly) { $0.pages[3][3] = 0x0F }
        try refuses(.locked(page: 5)) { $0.pages[2][2] = 0x20 }
        try refuses(.passwordProtected(page: 5)) { $0.pages[0x29][3] = 0x04 }
        let reader = try Type2Memories.fresh213()
        reader.pages[0x28][0] = 0x01
        let long = try NDEFMessage([NDEFRecord(.text(NDEFText(String(repeating: "x", count: 80))))]).encoded()
        #expect(throws: TagError.notWritable(.locked(page: 16))) { try reader.tag.writeNDEF(long) }
        try reader.tag.writeNDEF(message)
        #expect(throws: TagError.notAMessage(NDEFError(.noMessageEnd, offset: 3))) {
            try reader.tag.writeNDEF([0x90, 0, 0])
        }
    }

    @Test("User pages of an unknown product: those of its container, without control areas")
    func unknownProduct() throws {
        // Page 8 holds lock bytes by the Lock Control block, page 9 begins with reserved bytes by the Memory Control one.
        let pages = try Type2Memories.pages(
            "04A8D8FC 62BC2B80 75480000 E1100600 01032010 44020324 01040300 FE000000", count: 32)
        let unknown = FakeType2Reader(pages, version: [0, 9, 9, 9, 9, 9, 9, 3])
        #expect(try unknown.tag.product() == nil)
        #expect(try unknown.tag.userPages() == [4, 5, 6, 7, 10, 11, 12, 13, 14, 15])
        #expect(try Type2Memories.fresh213().tag.userPages() == Array(4...0x27))
        let blank = FakeType2Reader(
            try Type2Memories.pages("04A8D8FC 62BC2B80 75480000", count: 32), version: [0, 9, 9, 9, 9, 9, 9, 3])
        #expect(try blank.tag.userPages().isEmpty)
        #expect(try blank.tag.obstacle(to: 4...5) == nil)
        blank.pages[2][2] = 0x20
        #expect(try blank.tag.obstacle(to: 4...5) == .locked(page: 5))
    }

    @Test("A tag that does not keep written data")
    func notVerified() throws {
        let reader = try Type2Memories.fresh213()
        // What is written to page 6 is acknowledged; the tag hears none of it.
        let message = try NDEFMessage([NDEFRecord(.text(NDEFText("abcdefgh")))]).encoded()
        let probe = try Type2Memories.fresh213()
        try probe.tag.writeNDEF(message)
        let place = try #require(probe.frames.firstIndex { $0.starts(with: [0xA2, 6]) })
        reader.troubles[place + 1] = .answer([0x0A])
        #expect(throws: TagError.notVerified) { try reader.tag.writeNDEF(message) }
    }
}
