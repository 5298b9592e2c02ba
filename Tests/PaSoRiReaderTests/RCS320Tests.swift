// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import ReaderTesting
import SimulatedChips
import SystemDevices
import TestSupport
import Testing
import USBTransport
import VirtualReader

@testable import PaSoRiReader

/// A simulated RC-S320 before the transit card of the fixtures, and the driver's view of it.
final class RCS320Bench {
    let chip: VirtualRCS320
    let link: VirtualUSBLink
    let cancellation: CancellationToken
    private let isRCS310: Bool
    private(set) var reader: (any Reader)?

    init(
        _ field: VirtualField? = nil, faults: InjectedUSBFaults = InjectedUSBFaults(), isRCS310: Bool = false,
        acknowledges: Bool = true, isMuteWithoutCard: Bool = false, sendsEmptyPackets: Bool = false,
        cancellation: CancellationToken = CancellationToken()
    ) throws {
        (self.isRCS310, self.cancellation) = (isRCS310, cancellation)
        chip = VirtualRCS320(
            field: try field ?? VirtualField(cards: [Port100Bench.suica()]), faults: faults, isRCS310: isRCS310,
            acknowledges: acknowledges, isMuteWithoutCard: isMuteWithoutCard, sendsEmptyPackets: sendsEmptyPackets)
        link = VirtualUSBLink(chip, cancellation)
    }

    @discardableResult
    func open() throws(TransportError) -> any Reader {
        let information = ReaderInformation(id: "rcs320", name: "Sony RC-S320")
        let reader = try PaSoRiReader(
            rcs320: link, information, cancellation, isRCS310: isRCS310, pause: { _ in })
        self.reader = reader
        return reader
    }

    /// From opening to closing, with one exchange.
    ///
    /// - Returns: what went wrong.
    func runOnce() -> TransportError? {
        do throws(TransportError) {
            let reader = try open()
            defer { reader.close() }
            guard case .felica(let target)? = try reader.activate(.felica(.transit)) else { return .noAnswer }
            let answer = try reader.transceive([0x0A, 0x0C] + target.idm.bytes, timeout: .milliseconds(10))
            return answer == Port100Bench.systemCodes ? nil : .answerTooLong
        } catch {
            link.close()
            return error
        }
    }
}

/// The frames of an RC-S320: vectors of libpafe's bytes with checksums computed by the rule.
struct RCS320FrameTests {
    @Test(arguments: [
        ("620182", "0000FF03FD6201821B00"), ("62028081", "0000FF04FC620280819B00"),
        ("622280CC8188", "0000FF06FA622280CC81882700"), ("62028287", "0000FF04FC620282879300"),
        ("62212558", "0000FF04FC622125580000"), ("5A80", "0000FF02FE5A802600"), ("58", "0000FF01FF58A800"),
        ("54", "0000FF01FF54AC00"), ("5C0600FFFF0000", "0000FF07F95C0600FFFF0000A000"),
        ("5C060000030000", "0000FF07F95C0600000300009B00"),
        ("5C1006012E30C37694481F010F09018000", "0000FF11EF5C1006012E30C37694481F010F090180006100"),
        ("6300CC88", "0000FF04FC6300CC884900"), ("592801", "0000FF03FD5928017E00"),
    ])
    func framesAreThese(_ data: String, _ frame: String) throws {
        let (data, frame) = (try Hex.decode(data), try Hex.decode(frame))
        #expect(RCS320Frame.encode(data) == frame)
        var bytes = frame + [0x99]
        #expect(RCS320Frame.take(from: &bytes) == .message(.data(data)))
        #expect(bytes == [0x99])
    }

    @Test func knowsTheOthers() {
        var bytes = RCS320Frame.acknowledgeBytes + RCS320Frame.encode([0x7F])
        #expect(RCS320Frame.take(from: &bytes) == .message(.acknowledge))
        #expect(RCS320Frame.take(from: &bytes) == .message(.error))
        #expect(bytes.isEmpty)
    }

    /// Total on any bytes: every prefix of a frame is incomplete, and every change of a byte is noticed or harmless.
    @Test func partsAndDamage() {
        let whole = RCS320Frame.encode([UInt8](repeating: 0x5D, count: 19))
        for count in 1..<whole.count {
            var part = Array(whole.prefix(count))
            #expect(RCS320Frame.take(from: &part) == .incomplete)
        }
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x10
            #expect(RCS320Frame.take(from: &damaged) != .message(.data([UInt8](repeating: 0x5D, count: 19))))
        }
    }
}

/// An RC-S320 and an RC-S310.
struct RCS320Tests {
    @Test(arguments: [false, true], [false, true]) func conforms(isRCS310: Bool, isMute: Bool) throws {
        var benches: [RCS320Bench] = []
        let report = try ReaderConformance.check { field, cancellation in
            let bench = try RCS320Bench(
                field, isRCS310: isRCS310, isMuteWithoutCard: isMute, cancellation: cancellation)
            benches.append(bench)
            return try bench.open()
        }
        #expect(report.breaches == [])
        #expect(report.skipped.contains { $0.hasPrefix("typeA") })
        #expect(benches.flatMap(\.chip.statistics.complaints) == [])
    }

    @Test func opensAndCloses() throws {
        let bench = try RCS320Bench()
        let reader = try bench.open()
        #expect(reader.information.name == "Sony RC-S320 (firmware 1.28)")
        #expect(reader.information.technologies == [.felica])
        #expect(reader.information.blocksPerRead == 14)
        #expect(reader.information.feliCaBitRates == [.kbps212])
        #expect(bench.chip.statistics.isFieldOn)
        let sent = bench.link.takeLog().filter { $0.hasPrefix(">") }.map { $0.uppercased() }
        #expect(
            sent == [
                ">0000FF01FF58A800", ">0000FF03FD6201821B00", ">0000FF04FC620280819B00", ">0000FF06FA622280CC81882700",
                ">0000FF04FC620280819B00", ">0000FF04FC620282879300", ">0000FF04FC622125580000", ">0000FF02FE5A802600",
                ">0000FF01FF58A800",
            ])
        reader.close()
        #expect(!bench.chip.statistics.isFieldOn)
        #expect(bench.link.closings == 1)
    }

    @Test func anRCS310IsStartedByAReset() throws {
        let bench = try RCS320Bench(isRCS310: true)
        let reader = try bench.open()
        #expect(reader.information.name == "Sony RC-S320")
        #expect(
            bench.link.takeLog().filter { $0.hasPrefix(">") }.map { $0.uppercased() } == [
                ">0000FF01FF58A800", ">0000FF01FF54AC00", ">0000FF01FF58A800",
            ])
        #expect(try reader.activate(.felica(.transit)) != nil)
    }

    @Test(arguments: [(true, true), (false, false), (false, true)])
    func everyKindOfAnswer(acknowledges: Bool, sendsEmptyPackets: Bool) throws {
        let bench = try RCS320Bench(acknowledges: acknowledges, sendsEmptyPackets: sendsEmptyPackets)
        #expect(bench.runOnce() == nil)
    }

    @Test func otherTechnologiesAreRefused() throws {
        let reader = try RCS320Bench().open()
        #expect(throws: TransportError.unsupported(detail: .init(.thisKindOfCard))) { try reader.activate(.typeA()) }
        #expect(throws: TransportError.frameTooLong(length: 248, limit: 247)) {
            _ = try reader.activate(.felica(.transit))
            _ = try reader.transceive([UInt8](repeating: 248, count: 248), timeout: .zero)
        }
    }

    @Test func discardsLeftovers() throws {
        let stale = RCS320Frame.encode([0x5D, 0x0A, 0x05])
        let bench = try RCS320Bench(
            faults: InjectedUSBFaults(leftover: [Array(stale.prefix(8)), Array(stale.dropFirst(8)), [1, 2, 3]]))
        #expect(bench.runOnce() == nil)
    }

    /// Commands: the version, registers six times, the field, the version; Polling, then Request System Code.
    @Test(
        arguments: [1, 4, 10, 11],
        [
            .nothing, .acknowledgeOnly, .noAcknowledge, .late, .twice, .wrongDataChecksum, .wrongLengthChecksum,
            .truncated(to: 5), .garbage([0x12, 0x34]), .wrongCode, .errorFrame,
        ] as [InjectedUSBFault])
    func recovers(at command: Int, _ fault: InjectedUSBFault) throws {
        let bench = try RCS320Bench(faults: InjectedUSBFaults(atCommand: [command: fault]))
        let error = bench.runOnce()
        switch error {
        case nil, .readerTimeout, .corrupted(0), .noAnswer, .readerFailed: break
        default: Issue.record("\(String(describing: error))")
        }
        if command == 1 { #expect(error == nil) }
        #expect(bench.link.closings >= 1)
    }

    @Test func unpluggedAtEveryTransfer() throws {
        var last: TransportError? = .unplugged
        var number = 0
        while last != nil, number < 200 {
            number += 1
            last = try RCS320Bench(faults: InjectedUSBFaults(unplugBeforeTransfer: number)).runOnce()
            #expect(last == nil || last == .unplugged, "transfer \(number)")
        }
        #expect((30...100).contains(number))
    }

    @Test func aDeadReaderIsGivenUp() throws {
        let bench = try RCS320Bench(faults: InjectedUSBFaults(atCommand: [11: .dead]))
        let reader = try bench.open()
        #expect(try reader.activate(.felica(.transit)) != nil)
        #expect(throws: TransportError.self) { try reader.activate(.felica(.transit)) }
        #expect(throws: TransportError.readerFailed(detail: .init(.invalidAnswers))) {
            try reader.activate(.felica(.transit))
        }
    }

    @Test func isListedAndOpenedByItsID() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "01bb", bus: 1, device: 4)
        try system.plugIn("1-2", vendor: "054c", product: "006c", bus: 1, device: 5)
        let driver = PaSoRiDriver(paths: system.paths) { device, cancellation throws(TransportError) in
            VirtualUSBLink(
                VirtualRCS320(field: VirtualField(), isRCS310: device.product == 0x006C), cancellation)
        }
        #expect(
            driver.list() == [
                ReaderListing(id: "rcs320:port=1-1", name: "Sony RC-S320", state: .ready),
                ReaderListing(id: "rcs310:port=1-2", name: "Sony RC-S310", state: .ready),
            ])
        for id in ["rcs320", "rcs310"] {
            let reader = try driver.open(id, cancellation: CancellationToken())
            #expect(reader?.information.id.hasPrefix(id) == true)
            reader?.close()
        }
    }
}
