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

@testable import PN53xReader

/// A simulated ACR122U, and the driver's view of it without libnfc.
final class ACR122Bench {
    let chip: VirtualACR122
    let field: VirtualField
    let link: VirtualUSBLink
    let cancellation: CancellationToken
    private(set) var reader: PN53xDevice?

    init(
        _ field: VirtualField = VirtualField(cards: [TestCard()]), faults: InjectedUSBFaults = InjectedUSBFaults(),
        isCopy: Bool = false, hasLights: Bool = true, takesPICC: Bool = true,
        cancellation: CancellationToken = CancellationToken()
    ) {
        (self.field, self.cancellation) = (field, cancellation)
        chip = VirtualACR122(
            field: field, faults: faults, isCopy: isCopy, hasLights: hasLights, takesPICC: takesPICC)
        link = VirtualUSBLink(chip, cancellation)
    }

    @discardableResult
    func open() throws(TransportError) -> PN53xDevice {
        let transport = try ACR122Transport(link, model: "ACS ACR122U")
        let reader = PN53xDevice(Chipset(transport), id: "acr122", cancellation: cancellation)
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
            guard try reader.activateFeliCa(systems: [.transit]) != nil else { return .noAnswer }
            let answer = try reader.transceive(TestCard.requestSystemCode, timeout: .milliseconds(10))
            return answer == TestCard.systemCodes ? nil : .outOfScript(detail: .init(.text, "another answer"))
        } catch {
            return error
        }
    }
}

/// An ACR122U over libusb without libnfc.
struct ACR122DriverTests {
    @Test(arguments: [false, true]) func conforms(isCopy: Bool) throws {
        var benches: [ACR122Bench] = []
        let report = try ReaderConformance.check { field, cancellation in
            let bench = ACR122Bench(field, isCopy: isCopy, cancellation: cancellation)
            benches.append(bench)
            return try bench.open()
        }
        #expect(report == ConformanceReport())
        #expect(benches.flatMap(\.chip.statistics.complaints) == [])
    }

    /// It then polls by itself, which a copy that does not answer cannot be told.
    @Test func worksWithoutThePICCParameter() {
        #expect(ACR122Bench(takesPICC: false).runOnce() == nil)
    }

    @Test func opensAndCloses() throws {
        let bench = ACR122Bench()
        let before = bench.chip.panel
        let reader = try bench.open()
        #expect(reader.information.name == "ACS ACR122U (firmware ACR122U203)")
        #expect(reader.information.blocksPerRead == 15)
        #expect(!bench.chip.panel.polls)
        #expect(
            bench.link.takeLog().map { $0.uppercased() } == [
                ">62000000000001010000", "<80020000000001008100" + "3B00",
                ">6F050000000002000000" + "FF00510000", "<80020000000002008100" + "9000",
                ">6F050000000003000000" + "FF00480000", "<800A0000000003008100" + "41435231323255323033",
                ">6F070000000004000000" + "FF00000002D402", "<80080000000004008100" + "D503320106079000",
            ])
        #expect(try reader.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
        #expect(bench.chip.statistics.isFieldOn)
        reader.close()
        #expect(!bench.chip.statistics.isFieldOn)
        // Lights and buzzer are as they were: nobody asked for them.
        #expect((bench.chip.panel.isRed, bench.chip.panel.isGreen) == (before.isRed, before.isGreen))
        #expect(bench.chip.panel.beeps == [] && bench.chip.panel.beepsAtCards)
        #expect(bench.link.closings == 1)
        #expect(throws: TransportError.closed) { try reader.show(.yes) }
    }

    /// The longest FeliCa answer comes whole, which libnfc's driver cuts.
    @Test func longAnswersAreWhole() throws {
        let bytes = [0xFF] + [UInt8](repeating: 0x11, count: 254)
        let bench = ACR122Bench(VirtualField(cards: [StubbornCard(bytes)]))
        let reader = try bench.open()
        _ = try reader.activateFeliCa(systems: [.transit])
        #expect(try reader.transceive(TestCard.requestSystemCode, timeout: .zero) == bytes)
        #expect(throws: TransportError.frameTooLong(length: 254, limit: 253)) {
            try reader.transceive([UInt8](repeating: 0xFE, count: 254), timeout: .zero)
        }
        #expect(bench.chip.statistics.complaints == [])
    }

    /// nfcpy issue 200: a reader that was one answer behind; and what a killed program left.
    @Test func discardsLeftovers() throws {
        let stale = try Hex.decode("80020000000000008100 3B00")
        let bench = ACR122Bench(faults: InjectedUSBFaults(leftover: [stale, Array("garbage".utf8), []]))
        #expect(bench.runOnce() == nil)
    }

    /// Commands: power on, polling off, firmware, chip; then the settings and the search.
    @Test(
        arguments: [2, 4, 8],
        [
            .nothing, .late, .twice, .truncated(to: 9), .garbage([0x12, 0x34]), .wrongCode, .wrongSequence, .moreTime,
        ] as [InjectedUSBFault])
    func recovers(at command: Int, _ fault: InjectedUSBFault) throws {
        let bench = ACR122Bench(faults: InjectedUSBFaults(atCommand: [command: fault]))
        let error = bench.runOnce()
        switch error {
        case nil, .readerTimeout, .corrupted(0), .noAnswer: break
        default: Issue.record("\(String(describing: error))")
        }
        if command < 5 { #expect(error == nil) }
        #expect(bench.link.closings == 1)
        #expect(!bench.chip.statistics.isFieldOn)
    }

    @Test func unpluggedAtEveryTransfer() throws {
        var last: TransportError? = .unplugged
        var number = 0
        while last != nil {
            number += 1
            let bench = ACR122Bench(faults: InjectedUSBFaults(unplugBeforeTransfer: number))
            last = bench.runOnce()
            #expect(last == nil || last == .unplugged, "transfer \(number)")
            guard number < 100 else { break }
        }
        #expect((12...60).contains(number))
    }

    @Test func aDeadReaderIsGivenUp() throws {
        #expect(ACR122Bench(faults: InjectedUSBFaults(atCommand: [1: .dead])).runOnce() == .readerTimeout)
        let bench = ACR122Bench(faults: InjectedUSBFaults(atCommand: [7: .dead]))
        #expect(bench.runOnce() == .readerTimeout)
    }

    @Test func cancellationEndsIt() throws {
        let bench = ACR122Bench()
        let reader = try bench.open()
        bench.cancellation.cancel()
        #expect(throws: TransportError.cancelled) { try reader.activateFeliCa(systems: [.transit]) }
        #expect(throws: TransportError.cancelled) { try reader.show(.no) }
        reader.close()
        #expect(bench.link.closings == 1)
    }
}

/// Its lights and its buzzer.
struct ACR122SignalTests {
    @Test(
        arguments: [
            (.yes, false, true, ["G100"], 100), (.no, true, false, ["R100", "R100", "R100"], 600),
            (.fault, true, true, ["RG600"], 600), (.off, false, false, [], 0),
        ] as [(ReaderSignal, Bool, Bool, [String], Int)])
    func shows(_ signal: ReaderSignal, _ isRed: Bool, _ isGreen: Bool, _ beeps: [String], _ time: Int) throws {
        let bench = ACR122Bench()
        let reader = try bench.open()
        #expect(try reader.show(signal))
        let panel = bench.chip.panel
        #expect((panel.isRed, panel.isGreen) == (isRed, isGreen))
        #expect(panel.beeps == beeps)
        #expect(panel.busyTime == time)
        // Cards are read as before.
        #expect(try reader.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
        #expect(bench.chip.statistics.complaints == [])
    }

    /// The bytes of the makers' documents, and of a real reader's answer (nfcpy issue 200).
    @Test func sendsTheseBytes() throws {
        #expect(ACR122Command.lights(.yes) == (try Hex.decode("FF00400E0400000000")))
        #expect(ACR122Command.lights(.off) == (try Hex.decode("FF00400C0400000000")))
        #expect(ACR122Command.tone(.yes)?.command == (try Hex.decode("FF00400E0401000101")))
        #expect(ACR122Command.tone(.no)?.command == (try Hex.decode("FF00400D0401010301")))
        #expect(
            ACR122Message.transfer(ACR122Command.lights(.yes), sequence: 0)
                == (try Hex.decode("6F 09000000 00 00 000000 FF00400E0400000000")))
        let answer = try #require(ACR122Message(try Hex.decode("80 02000000 00 00 00 81 00 907F")))
        #expect(ACR122Command.isDone(answer.data) == true)
        #expect(ACR122Command.isDone([0x63, 0x00]) == false)
        #expect(ACR122Command.isDone([0x3B, 0x00]) == nil)
    }

    @Test func aReaderThatRefuses() throws {
        let bench = ACR122Bench(hasLights: false)
        let reader = try bench.open()
        #expect(try !reader.show(.yes))
        #expect(try reader.activateFeliCa(systems: [.transit]) != nil)
    }

    @Test func beepsNoMore() throws {
        let bench = ACR122Bench()
        #expect(bench.chip.panel.beepsAtCards)
        #expect(try bench.open().silence())
        #expect(!bench.chip.panel.beepsAtCards)
    }

    @Test func unpluggedWhileItBlinks() throws {
        let bench = ACR122Bench()
        let reader = try bench.open()
        // The lights and their answer come first, then the buzzer.
        let last = bench.link.transfers + 4
        bench.link.beforeTransfer = { [chip = bench.chip] in if $0 == last { chip.unplug() } }
        #expect(throws: TransportError.unplugged) { try reader.show(.no) }
        #expect(throws: TransportError.unplugged) { try reader.activateFeliCa(systems: [.transit]) }
        reader.close()
        #expect(bench.link.closings == 1)
    }

    @Test func aReaderThatDoesNotAnswerIsUsedOn() throws {
        let bench = ACR122Bench(faults: InjectedUSBFaults(atCommand: [5: .nothing, 6: .wrongSequence]))
        let reader = try bench.open()
        #expect(throws: TransportError.readerTimeout) { try reader.show(.yes) }
        #expect(throws: TransportError.readerTimeout) { try reader.show(.yes) }
        #expect(try reader.show(.yes))
    }

    /// Total on any bytes.
    @Test func parsesAnything() {
        var random = SeededGenerator(seed: 122)
        for _ in 0..<2000 {
            var bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if !bytes.isEmpty, Bool.random(using: &random) { bytes[0] = 0x80 }
            guard let message = ACR122Message(bytes) else { continue }
            #expect(message.data.count == bytes.count - ACR122Message.headerLength)
            _ = ACR122Command.reply(message.data, to: 0x42)
        }
        #expect(ACR122Command.reply([], to: 2) == .silent)
        #expect(ACR122Command.reply([0x61, 0x0A], to: 2) == .more(10))
        #expect(ACR122Command.reply([0x63, 0x7F], to: 2) == .refused)
        #expect(ACR122Command.reply([0xD5, 0x05, 0x90, 0x00], to: 2) == .other)
        #expect(ACR122Command.reply([0xD5, 0x03, 0x32, 0x90, 0x00], to: 2) == .answer([0x32]))
    }
}

/// Which reader an ID names.
struct ACR122IDTests {
    private let system: MadeUpSystem

    init() throws {
        system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "072f", product: "2200", bus: 1, device: 4, classes: ["0b"])
        try system.plugIn(
            "1-2", vendor: "072f", product: "2200", bus: 1, device: 5, classes: ["0b"], extra: ["serial": "A1"])
        try system.plugIn("1-3", vendor: "054c", product: "06c1", bus: 1, device: 6)
    }

    private func driver(busy: Set<String> = []) -> ACR122Driver {
        ACR122Driver(paths: system.paths) { device, cancellation throws(TransportError) in
            if busy.contains(device.portPath) {
                throw .readerUnavailable(reason: .busy, detail: .init(.heldByProgram))
            }
            return VirtualUSBLink(VirtualACR122(field: VirtualField(cards: [TestCard()])), cancellation)
        }
    }

    @Test(arguments: [
        ("acr122", "acr122:port=1-1"), ("acr122:", "acr122:port=1-1"), ("ACR122:port=1-2", "acr122:serial=A1"),
        ("acr122:serial=A1", "acr122:serial=A1"),
    ])
    func names(_ id: String, _ opened: String) throws {
        let reader = try driver().open(id, cancellation: CancellationToken())
        #expect(reader?.information.id == opened)
        reader?.close()
    }

    @Test func takesTheNextOne() throws {
        let reader = try driver(busy: ["1-1"]).open("acr122", cancellation: CancellationToken())
        #expect(reader?.information.id == "acr122:serial=A1")
        reader?.close()
        let busy = TransportError.readerUnavailable(reason: .busy, detail: .init(.heldByProgram))
        #expect(throws: busy) {
            try driver(busy: ["1-1", "1-2"]).open("acr122", cancellation: CancellationToken())
        }
    }

    @Test(arguments: ["", "acr122_usb:001:004", "ACR122S:/dev/ttyUSB0", "acr1220", "rcs380"])
    func othersIDs(_ id: String) throws {
        #expect(try driver().open(id, cancellation: CancellationToken()) == nil)
    }

    @Test(arguments: ["acr122:x", "acr122:port=", "acr122:serial", "acr122:001:004"])
    func malformed(_ id: String) throws {
        #expect(
            throws: TransportError.readerUnavailable(reason: .unsupported, detail: .init(.unknownSelector, "acr122"))
        ) {
            try driver().open(id, cancellation: CancellationToken())
        }
    }

    @Test(arguments: ["acr122:port=1-3", "acr122:serial=B"]) func absent(_ id: String) throws {
        #expect(throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.notConnected, id))) {
            try driver().open(id, cancellation: CancellationToken())
        }
    }
}
