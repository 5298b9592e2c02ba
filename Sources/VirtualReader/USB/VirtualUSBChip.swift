// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A simulated reader as the USB sees it: bulk transfers go in, and others come out.
///
/// It works when it is called and never waits, so who asks for a transfer that is not there yet has to decide itself how
/// long that is.
package protocol VirtualUSBChip: AnyObject, Sendable {
    /// Takes one bulk transfer from the host.
    func receive(_ transfer: [UInt8])

    /// Gives one bulk transfer to the host; `nil` when there is none now.
    func nextTransfer() -> [UInt8]?

    /// Whether the plug was pulled: then nothing can be sent or received any more.
    var isUnplugged: Bool { get }

    /// What was counted so far.
    var statistics: USBChipStatistics { get }
}

/// What a simulated USB reader has counted.
package struct USBChipStatistics: Hashable, Sendable {
    /// Bulk transfers from the host.
    package var transfersFromHost = 0
    /// Bulk transfers to the host; asking in vain is not counted.
    package var transfersToHost = 0
    /// Host commands that were received whole.
    package var hostCommands = 0
    /// The same by command code.
    package var commandsByCode: [UInt8: Int] = [:]
    /// Frames that were sent to cards.
    package var exchanges = 0
    /// Those of them that a card answered undamaged.
    package var answeredExchanges = 0
    /// Whether the field is on; not counted, but as it is now.
    package var isFieldOn = false
    /// What the host did that a real reader would not have taken, in words.
    package var complaints: [String] = []

    /// Nothing counted yet.
    package init() {}

    /// Bulk transfers of both directions.
    package var transfers: Int { transfersFromHost + transfersToHost }
}

/// What makes a simulated USB reader the one that it is: what it does with its host's transfers.
package protocol USBFirmware {
    /// Does what a transfer says that has arrived, and lets the host fetch the answers.
    mutating func serve(_ transfer: [UInt8], _ port: inout USBPort)

    /// Adds to what the port has counted what only the chip knows: whether the field is on, for one.
    func complete(_ statistics: inout USBChipStatistics)
}

/// A simulated USB reader: a plug with a chip behind it, for one thread at a time.
package final class VirtualUSBReader<Firmware: USBFirmware>: VirtualUSBChip {
    private struct State {
        var port: USBPort
        var firmware: Firmware
    }

    private let state: Mutex<State>

    init(_ firmware: sending Firmware, _ field: any RadioField, _ faults: InjectedUSBFaults) {
        state = Mutex(State(port: USBPort(field, faults), firmware: firmware))
    }

    /// What was counted so far.
    package var statistics: USBChipStatistics {
        state.withLock { state in
            var statistics = state.port.statistics
            state.firmware.complete(&statistics)
            if state.port.isUnplugged { statistics.isFieldOn = false }
            return statistics
        }
    }

    /// Whether the plug was pulled.
    package var isUnplugged: Bool { state.withLock(\.port.isUnplugged) }

    /// Pulls the plug: cards lose their power.
    package func unplug() {
        state.withLock { $0.port.unplug() }
    }

    /// Does something to the chip that no host asks for.
    func withFirmware(_ body: (inout Firmware) -> Void) {
        state.withLock { body(&$0.firmware) }
    }

    /// Takes one transfer from the host and does what it says.
    package func receive(_ transfer: [UInt8]) {
        state.withLock { state in
            if state.port.arrives() { state.firmware.serve(transfer, &state.port) }
        }
    }

    /// Gives the next transfer to the host.
    package func nextTransfer() -> [UInt8]? {
        state.withLock { $0.port.nextTransfer() }
    }
}

/// What a simulated USB reader has ready for its host.
struct USBOutbox: Sendable {
    /// A transfer, or `nil` for one time that the host asks in vain.
    private var transfers: [[UInt8]?]

    init(_ leftover: [[UInt8]]) {
        transfers = leftover
    }

    mutating func add(_ transfer: [UInt8]) {
        transfers.append(transfer)
    }

    mutating func addPause() {
        transfers.append(nil)
    }

    mutating func next() -> [UInt8]? {
        transfers.isEmpty ? nil : transfers.removeFirst()
    }
}
