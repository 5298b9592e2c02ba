// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// A simulated PaSoRi of either kind before the transit card of the fixtures, and the driver's view of it.
final class PaSoRiBench {
    let chip: any VirtualUSBChip
    let cancellation = CancellationToken()
    let link: VirtualUSBLink
    private let model: SimulatedPaSoRi
    private(set) var reader: (any Reader)?

    /// A reader that is plugged in and not opened.
    init(_ model: SimulatedPaSoRi, _ faults: InjectedUSBFaults = InjectedUSBFaults()) throws {
        self.model = model
        chip = model.chip(VirtualField(cards: [try Port100Bench.suica()]), faults)
        link = VirtualUSBLink(chip, cancellation)
    }

    deinit { close() }

    /// An opened reader with a fault at its first exchange with the card.
    static func withFault(_ fault: InjectedUSBFault, _ model: SimulatedPaSoRi) throws -> PaSoRiBench {
        let bench = try PaSoRiBench(model, InjectedUSBFaults(atCommand: [model.firstExchange: fault]))
        try bench.open()
        return bench
    }

    func open() throws { reader = try model.open(link, cancellation) }

    func close() { reader?.close() }

    func activate() throws -> FeliCaTarget? {
        guard case .felica(let target)? = try reader?.activate(.felica(.transit)) else { return nil }
        return target
    }

    /// Asks the card for its systems: ``Port100Bench/systemCodes``.
    func requestSystemCode(_ target: FeliCaTarget) throws -> [UInt8] {
        try send([0x0A, 0x0C] + target.idm.bytes)
    }

    func send(_ packet: [UInt8]) throws -> [UInt8] {
        try #require(reader).transceive(packet, timeout: .milliseconds(10))
    }

    /// From opening to closing, with one exchange.
    ///
    /// - Returns: what went wrong.
    func runOnce() throws -> TransportError? {
        do {
            try open()
            defer { close() }
            let target = try #require(try activate())
            _ = try requestSystemCode(target)
            return nil
        } catch let error as TransportError {
            return error
        }
    }
}
