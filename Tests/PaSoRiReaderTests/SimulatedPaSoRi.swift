// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// The kinds of PaSoRi that are driven, each with its simulated chip.
enum SimulatedPaSoRi: String, CaseIterable, Sendable {
    case rcs380
    case rcs300

    /// How its device shows itself: the product's number, and the classes of its interfaces.
    var device: (product: String, classes: [String]) {
        switch self {
        case .rcs380: ("06c1", ["ff"])
        case .rcs300: ("0dc8", ["0b", "ff"])
        }
    }

    /// The number of the command that is the first exchange with a selected card.
    var firstExchange: Int {
        switch self {
        // Opening, modulation, protocol and Polling come before it.
        case .rcs380: Port100Bench.openingCommands + 4
        case .rcs300: Port400Bench.commandsBeforeExchange + 1
        }
    }

    func chip(_ field: VirtualField, _ faults: InjectedUSBFaults) -> any VirtualUSBChip {
        switch self {
        case .rcs380: VirtualPort100(field: field, faults: faults)
        case .rcs300: VirtualPort400(field: field, faults: faults, hasOrphan: true)
        }
    }

    func open(
        _ link: VirtualUSBLink, _ cancellation: CancellationToken, pause: @escaping (Duration) -> Void = { _ in }
    ) throws(TransportError) -> any Reader {
        let information = ReaderInformation(id: rawValue, name: "")
        return switch self {
        case .rcs380: try PaSoRiReader(rcs380: link, information, cancellation)
        case .rcs300: try PaSoRiReader(rcs300: link, information, cancellation, pause: pause)
        }
    }
}
