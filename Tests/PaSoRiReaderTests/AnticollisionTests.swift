// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// Several cards of type A on a PaSoRi at once.
struct AnticollisionTests {
    private static let uids: [[UInt8]] = [[0x04, 0xA1, 2, 3, 4, 5, 6], [0x04, 0xB1, 2, 3, 4, 5, 6], [8, 2, 3, 4]]

    @Test(arguments: SimulatedPaSoRi.allCases) func readsOneOfSeveralCards(_ model: SimulatedPaSoRi) throws {
        let cards = Self.uids.compactMap { uid in
            TypeAIdentity(uid: uid, sak: 0x20).map {
                VirtualFileCard(.typeA($0, ats: [0x05, 0x75, 0x00, 0x81, 0x02]), files: VirtualFileTree())
            }
        }
        let chip = model.chip(VirtualField(cards: cards, collision: .damaged), InjectedUSBFaults())
        let reader = try model.open(VirtualUSBLink(chip), CancellationToken())
        defer { reader.close() }
        for _ in 0..<2 {
            guard case .typeA(let target)? = try reader.activate(.typeA()) else {
                Issue.record("no card")
                return
            }
            // Of the bits that differ first the zero is followed: 88 and 08 differ in the last one.
            #expect(target.uid == [8, 2, 3, 4])
            #expect(target.atqa == nil)
            #expect(try reader.transceive([0x00, 0xA4, 0x00, 0x0C, 0x02, 0x3F, 0x00], timeout: .seconds(1)).count == 2)
        }
        #expect(chip.statistics.complaints == [])
    }

    /// A chip that carries no parts of a UID, as nobody has seen whether a real one does: the cards are not found, but
    /// heard.
    @Test func hearsCardsThatItCannotSingleOut() throws {
        let cards = Self.uids.compactMap {
            TypeAIdentity(uid: $0, sak: 0x00).flatMap { VirtualFileCard(.typeA($0, ats: []), files: VirtualFileTree()) }
        }
        let field = WholeFrames(VirtualField(cards: cards, collision: .damaged))
        let reader = try SimulatedPaSoRi.rcs380.open(
            VirtualUSBLink(VirtualPort100(field: field)), CancellationToken())
        defer { reader.close() }
        for _ in 0..<2 {
            #expect(throws: TransportError.heard(.several(.typeA))) { try reader.activate(.typeA()) }
        }
    }

    /// A field into which only whole anticollision frames go out.
    private final class WholeFrames: RadioField {
        private let field: VirtualField

        init(_ field: VirtualField) { self.field = field }

        func exchange(_ frame: RadioFrame) -> FieldResult {
            let isPart = frame.bytes.count > 2 && [0x93, 0x95, 0x97].contains(frame.bytes[0]) && frame.bytes[1] != 0x70
            return isPart ? .silence : field.exchange(frame)
        }

        func switchOff() { field.switchOff() }
    }
}
