// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import TestSupport
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// A simulated RC-S300 and the driver's view of it; nobody sleeps.
final class Port400Bench {
    let field: VirtualField
    let chip: VirtualPort400
    let cancellation: CancellationToken
    let link: VirtualUSBLink
    let pauses: Pauses
    let reader: PaSoRiReader

    /// How long the driver would have slept.
    final class Pauses {
        var all: [Duration] = []
    }

    convenience init(
        _ cards: [any VirtualCard]? = nil, faults: InjectedFaults = [], usb: InjectedUSBFaults = InjectedUSBFaults(),
        behavior: Port400Behavior = Port400Behavior(), hasOrphan: Bool = false
    ) throws {
        try self.init(
            VirtualField(cards: try cards ?? [Port100Bench.suica()], faults: faults), usb: usb, behavior: behavior,
            hasOrphan: hasOrphan)
    }

    init(
        _ field: VirtualField, _ cancellation: CancellationToken = CancellationToken(),
        usb: InjectedUSBFaults = InjectedUSBFaults(), behavior: Port400Behavior = Port400Behavior(),
        hasOrphan: Bool = false
    ) throws {
        self.field = field
        self.cancellation = cancellation
        chip = VirtualPort400(field: field, faults: usb, behavior: behavior, hasOrphan: hasOrphan)
        link = VirtualUSBLink(chip, cancellation)
        let pauses = Pauses()
        self.pauses = pauses
        reader = try PaSoRiReader(rcs300: link, ReaderInformation(id: "rcs300", name: "Sony RC-S300/S"), cancellation) {
            pauses.all.append($0)
        }
    }

    deinit { reader.close() }

    /// How many commands opening takes: firmware twice, end, start, field off, field on.
    static let openingCommands = 6
    /// Opening, the switch of the protocol and the Polling.
    static let commandsBeforeExchange = openingCommands + 2

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
