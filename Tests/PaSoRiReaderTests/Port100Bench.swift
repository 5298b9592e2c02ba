// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import TestSupport
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// A simulated RC-S380 and the driver's view of it.
final class Port100Bench {
    let field: VirtualField
    let chip: VirtualPort100
    let cancellation: CancellationToken
    let link: VirtualUSBLink
    let reader: PaSoRiReader

    convenience init(
        _ cards: [any VirtualCard]? = nil, faults: InjectedFaults = [], usb: InjectedUSBFaults = InjectedUSBFaults()
    ) throws {
        try self.init(VirtualField(cards: try cards ?? [Port100Bench.suica()], faults: faults), usb: usb)
    }

    init(
        _ field: VirtualField, _ cancellation: CancellationToken = CancellationToken(),
        usb: InjectedUSBFaults = InjectedUSBFaults(), refusesFasterRates: Bool = false
    ) throws {
        self.field = field
        self.cancellation = cancellation
        chip = VirtualPort100(field: field, faults: usb, refusesFasterRates: refusesFasterRates)
        link = VirtualUSBLink(chip, cancellation)
        reader = try PaSoRiReader(rcs380: link, ReaderInformation(id: "rcs380", name: "Sony RC-S380/S"), cancellation)
    }

    deinit { reader.close() }

    /// The transit card of the fixtures.
    static func suica() throws -> any VirtualCard {
        try VirtualCardFile.load(TestFiles.read("Fixtures/cards/suica-p1/card.json"))
    }

    /// Its answer to Request System Code: 0003, FE00 and 86A7.
    static let systemCodes: [UInt8] = [
        0x11, 0x0D, 0x01, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x90, 0x03, 0x00, 0x03, 0xFE, 0x00, 0x86, 0xA7,
    ]

    /// How many commands opening takes.
    static let openingCommands = 3

    @discardableResult
    func activate(_ system: SystemCode = .transit, bitRate: FeliCaBitRate = .kbps212) throws -> FeliCaTarget? {
        guard case .felica(let target)? = try reader.activate(.felica(system, bitRate: bitRate)) else { return nil }
        return target
    }

    /// Asks the card for its systems.
    func requestSystemCode(_ target: FeliCaTarget) throws -> [UInt8] {
        try reader.transceive([0x0A, 0x0C] + target.idm.bytes, timeout: .milliseconds(10))
    }
}
