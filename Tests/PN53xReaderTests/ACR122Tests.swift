// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// What is different behind an ACR122U, on a chip that is not behind one: the limits and readings are the driver's own.
@Suite(.waits)
struct ACR122Tests {
    private struct NotOpened: Error {}

    /// A reader on a simulated chip's serial port that is treated as an ACR122U on USB.
    private func reader(on server: PN532Server) throws -> PN53xDevice {
        let port = try #require(try ConnectionString(parsing: server.connectionString))
        let usb = try #require(try ConnectionString(parsing: "acr122_usb:003:005"))
        guard let handle = LibNFCContext.open(port) else { throw NotOpened() }
        let chipset = Chipset(LibNFCTransport(handle, family: usb.family, patience: 4))
        return PN53xDevice(chipset, id: usb.text, cancellation: CancellationToken())
    }

    @Test func reportsItsLimits() throws {
        let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
        let reader = try reader(on: server)
        #expect(reader.information.id == "acr122_usb:003:005")
        #expect(reader.information.blocksPerRead == 14)
        #expect(reader.information.longestResponseAPDU == 242)
        #expect(try reader.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
        #expect(try reader.transceive(TestCard.requestSystemCode, timeout: .zero) == TestCard.systemCodes)
        #expect(throws: TransportError.frameTooLong(length: 254, limit: 253)) {
            try reader.transceive([UInt8](repeating: 0xFE, count: 254), timeout: .zero)
        }
        reader.close()
        server.stop()
    }

    /// A long answer that lost its end is refused; one that is whole, or short and odd, is passed on.
    @Test(arguments: [(251, 2, true), (255, 250, true), (243, 242, true), (251, 251, false), (20, 13, false)])
    func rejectsACutAnswer(_ length: Int, _ count: Int, _ isRefused: Bool) throws {
        let bytes = [UInt8(length)] + [UInt8](repeating: 0x11, count: count - 1)
        let server = try PN532Server(field: VirtualField(cards: [StubbornCard(bytes)]))
        let reader = try reader(on: server)
        _ = try reader.activateFeliCa(systems: [.transit])
        if isRefused {
            #expect(throws: TransportError.answerTooLong) {
                try reader.transceive(TestCard.requestSystemCode, timeout: .zero)
            }
        } else {
            #expect(try reader.transceive(TestCard.requestSystemCode, timeout: .zero) == bytes)
        }
        reader.close()
        server.stop()
    }

    /// Debian's libnfc reports a select without a card as a time-out there.
    @Test func selectTimeoutMeansNoCard() throws {
        // The first look is repeated, since the field came on with it.
        let faults = InjectedSerialFaults([.code(0x4A): .acknowledgeOnly, .code(0x4A, after: 1): .acknowledgeOnly])
        let server = try PN532Server(field: VirtualField(cards: [TestCard()]), faults: faults)
        let reader = try reader(on: server)
        #expect(try reader.activate(.felica(.transit)) == nil)
        #expect(try reader.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
        reader.close()
        server.stop()
    }

    @Test func distinguishesADeadReaderFromAnEmptyOne() throws {
        let server = try PN532Server(
            field: VirtualField(cards: [TestCard()]), faults: InjectedSerialFaults([.code(0x4A): .dead]))
        let reader = try reader(on: server)
        #expect(throws: TransportError.readerTimeout) { try reader.activate(.felica(.transit)) }
        reader.close()
        server.stop()
    }

    @Test func neverPassesLibnfcWhatWouldCrashIt() throws {
        let server = try PN532Server(field: VirtualField())
        let port = try #require(try ConnectionString(parsing: server.connectionString))
        guard let handle = LibNFCContext.open(port) else { throw NotOpened() }
        let device = LibNFCTransport(handle, family: port.family)
        let before = server.statistics.hostCommands
        for length in [0, 263, 264, 100_000] {
            let command = [UInt8](repeating: 0x42, count: length)
            let answer = device.transceive(command, within: .zero)
            #expect(answer.outcome != .success)
            #expect(answer.bytes.isEmpty)
        }
        #expect(server.statistics.hostCommands == before)
        device.close()
        server.stop()
    }
}
