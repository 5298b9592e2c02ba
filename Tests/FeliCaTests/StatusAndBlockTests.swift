// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import Testing

/// Block List elements (nfcpy `BlockCode`) and Status Flags.
@Suite struct StatusAndBlockTests {
    struct Packing: Sendable {
        let number: UInt16
        let mode: UInt8
        let service: Int
        let bytes: String
    }

    static let packings: [Packing] = [
        Packing(number: 12, mode: 0, service: 0, bytes: "800C"),
        Packing(number: 12, mode: 3, service: 0, bytes: "B00C"),
        Packing(number: 12, mode: 3, service: 1, bytes: "B10C"),
        Packing(number: 255, mode: 0, service: 0, bytes: "80FF"),
        Packing(number: 256, mode: 0, service: 0, bytes: "000001"),
        Packing(number: 256, mode: 3, service: 0, bytes: "300001"),
        Packing(number: 256, mode: 3, service: 1, bytes: "310001"),
        Packing(number: 65_535, mode: 0, service: 0, bytes: "00FFFF"),
    ]

    @Test(arguments: packings) func elementBytes(_ packing: Packing) throws {
        let mode = try #require(AccessMode(rawValue: packing.mode))
        let element = BlockListElement(serviceIndex: packing.service, number: packing.number, accessMode: mode)
        #expect(try element.bytes == packet(packing.bytes))
    }

    @Test func accessModes() {
        #expect(AccessMode.normal.rawValue == 0)
        #expect(AccessMode.cashback.rawValue == 1)
        #expect(AccessMode(rawValue: 8) == nil)
    }

    struct Place: Sendable {
        let flag1: UInt8
        let style: StatusFlagStyle
        let count: Int
        let places: [Int]
    }

    static let places: [Place] = [
        Place(flag1: 0x0A, style: .ordinal, count: 12, places: [9]),
        Place(flag1: 0x0A, style: .ordinal, count: 10, places: [9]),
        Place(flag1: 0x0A, style: .ordinal, count: 9, places: []),
        Place(flag1: 0x01, style: .bitmap, count: 40, places: [0, 8]),
        Place(flag1: 0x02, style: .bitmap, count: 9, places: [1]),
        Place(flag1: 0x80, style: .bitmap, count: 16, places: [7, 15]),
        Place(flag1: 0x02, style: .bitmap, count: 12, places: [1, 9]),
        Place(flag1: 0x02, style: .bitmap, count: 8, places: [1]),
        Place(flag1: 0x08, style: .bitmap, count: 4, places: [3]),
        Place(flag1: 0x80, style: .bitmap, count: 4, places: []),
        Place(flag1: 0x02, style: .bitmap, count: 40, places: [1, 9]),
        Place(flag1: 0xFF, style: .bitmap, count: 12, places: []),
        Place(flag1: 0xFF, style: .ordinal, count: 300, places: []),
        Place(flag1: 0x01, style: .alwaysFF, count: 12, places: []),
        Place(flag1: 0x00, style: .ordinal, count: 12, places: []),
        Place(flag1: 0x01, style: .ordinal, count: 0, places: []),
        Place(flag1: 0x01, style: .bitmap, count: -1, places: []),
    ]

    @Test(arguments: places) func listPlaces(_ place: Place) {
        #expect(StatusFlags(place.flag1, 0xA8).candidates(place.style, count: place.count) == place.places)
    }

    @Test func printsFlagsAsReceived() {
        #expect(StatusFlags(0x01, 0xA8).description == "01A8")
        #expect(StatusFlags(0xFF, 0x3C).flag2.description == "3C")
    }
}
