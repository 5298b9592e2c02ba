// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import Testing

/// What the fixtures of files in the wild do not show by their blocks.
@Suite struct WildFileTests {
    private func dump(_ format: String, _ name: String) throws -> CardDump {
        try #require(
            try DumpFormatRegistry.standard.read(FormatFixture(format: format, name: name).bytes).dumps.first)
    }

    @Test(arguments: [("flipper", "ultralight.nfc"), ("flipper", "ultralight-version-2.nfc")])
    func flipperTag(_ format: String, _ name: String) throws {
        let dump = try dump(format, name)
        #expect(dump.card.uid == [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80])
        #expect(dump.card.atqa == 0x0044 && dump.card.sak == 0)
        #expect(dump.type2?.version == [0x00, 0x04, 0x03, 0x01, 0x01, 0x00, 0x0B, 0x03])
        #expect(dump.type2?.signature == nil, "zeros are not an answer")
        let isOld = name.contains("version-2")
        #expect(dump.isComplete == isOld && dump.type2?.counters == (isOld ? [:] : [0: 7]))
    }

    @Test func tagsOfPhonesSayWhatIsMissing() throws {
        let metrodroid = try dump("metrodroid", "ultralight.json")
        #expect(!metrodroid.isComplete && metrodroid.readAt == "2017-07-14T02:40:00Z")
        let fareBot = try dump("farebot", "ultralight.json")
        #expect(fareBot.isComplete && fareBot.readAt == "2026-02-17T12:34:56Z")
        #expect([metrodroid, fareBot].allSatisfy { $0.card.uid == [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80] })
    }

    @Test func labelsThatStandTwiceAreMarked() throws {
        let twice = try dump("metroflip", "label-twice.txt")
        #expect(twice.systems.first?.services.first?.assumed == [.blocks])
        #expect(try dump("metroflip", "log.txt").systems.first?.services.first?.assumed == [])
    }

    @Test func namesWithoutQuotesAreNumbersOnly() throws {
        let text = #"{"tagId":"0101031234567890","scannedAt":{"timeInMillis":0},"felica":{"systems":{x: {}}}}"#
        #expect(throws: DocumentError.self) { try DumpFormatRegistry.standard.read(Array(text.utf8)) }
        // Kazasu's own documents are JSON.
        #expect(throws: DocumentError.self) { try JSONValue(parsing: Array("{3: 1}".utf8)) }
    }
}
