// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import Testing

struct PhoneModelTests {
    private static func model(_ text: [UInt8], carrier: [UInt8] = [0x00, 0x01, 0x00, 0x00, 0x68]) throws -> PhoneModel {
        let bytes = carrier + text + Array(repeating: 0, count: 11 - text.count)
        let channel = RecordingChannel([[0x1A, 0x23] + otherIDm.bytes + bytes])
        let system = FeliCaSystem(channel: channel, idm: otherIDm, pmm: PMm(rawValue: .max))
        return PhoneModel(try system.getContainerIssueInformation())
    }

    static let known: [(text: String, name: String)] = [
        ("007001", "Google Pixel 3"), ("007017", "Google Pixel 7a"), ("007019", "Google Pixel 8 Pro"),
        ("013009", "Redmi Note 13 Pro+ 5G"),
    ]

    @Test(arguments: known) func names(_ text: String, _ name: String) throws {
        let model = try Self.model(Array(text.utf8))
        #expect(model.name == name && model.code == text)
        // The first bytes are a version that is not known; another carrier has its own models.
        #expect(try Self.model(Array(text.utf8), carrier: [0x10, 0x00, 0x00, 0x00, 0x68]).name == name)
        #expect(try Self.model(Array(text.utf8), carrier: [0x00, 0x01, 0x00, 0x00, 0x61]).name == nil)
    }

    /// One source is not enough for a name: the text is kept as it is.
    @Test(arguments: ["016001", "FeliCaApp", "03SHL25", "SO05K", "00700", "0070170", "ABCDEFGHIJK"])
    func others(_ text: String) throws {
        let model = try Self.model(Array(text.utf8))
        #expect(model.name == nil && model.code == text)
    }

    @Test func unprintable() throws {
        #expect(try Self.model([]).code == nil)
        #expect(try Self.model([0x30, 0x00, 0x31]).code == "3000310000000000000000")
        #expect(try Self.model([0x1B, 0x5B, 0x32, 0x4A]).code == "1B5B324A00000000000000")
        #expect(try Self.model([0xFF]).code == "FF00000000000000000000")
        #expect(try Self.model([0x20]).code == "2000000000000000000000")
    }

    @Test func phones() {
        for ic in UInt8.min...UInt8.max {
            #expect(PhoneModel.isPhone(PMm(rawValue: UInt64(ic) << 48)) == (0x10...0x1F).contains(ic))
        }
    }
}
