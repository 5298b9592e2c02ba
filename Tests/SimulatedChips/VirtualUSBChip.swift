// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import VirtualReader

/// A simulated reader as seen on the USB: it receives and sends bulk transfers.
///
/// It works synchronously and never waits, so a caller that asks for a transfer that is not there yet decides itself
/// how long to wait.
package protocol VirtualUSBChip: AnyObject, Sendable {
    /// Receives one bulk transfer from the host.
    func receive(_ transfer: [UInt8])

    /// Returns one bulk transfer to the host; `nil` when there is none now.
    func nextTransfer() -> [UInt8]?

    /// Resets the device on its USB port: what its host has not fetched is lost.
    func reset()

    /// Whether it was unplugged: then nothing can be sent or received any more.
    var isUnplugged: Bool { get }

    /// The counts so far.
    var statistics: USBChipStatistics { get }
}

extension VirtualUSBChip {
    /// Nothing: what waits for the host is not this one's.
    package func reset() {}
}

/// The counts of a simulated USB reader.
package struct USBChipStatistics: Hashable, Sendable {
    /// The number of bulk transfers from the host.
    package var transfersFromHost = 0
    /// The number of bulk transfers to the host; requests without a result are not counted.
    package var transfersToHost = 0
    /// The number of host commands received whole.
    package var hostCommands = 0
    /// The same by command code.
    package var commandsByCode: [UInt8: Int] = [:]
    /// The number of frames sent to cards.
    package var exchanges = 0
    /// The number of exchanges that a card answered undamaged.
    package var answeredExchanges = 0
    /// Whether the field is on; a state, not a count.
    package var isFieldOn = false
    /// Host actions that a real reader would not have accepted, as text.
    package var complaints: [String] = []

    /// Creates zero counts.
    package init() {}

    /// The number of bulk transfers in both directions.
    package var transfers: Int { transfersFromHost + transfersToHost }
}

/// The part of a simulated USB reader that is specific to its model: the handling of its host's transfers.
package protocol USBFirmware {
    /// Executes a received transfer, and queues the answers for the host.
    mutating func serve(_ transfer: [UInt8], _ port: inout USBPort)

    /// What a reset of the device on its USB port does to the chip.
    mutating func reset()

    /// Adds the values that only the chip knows to the port's counts, such as whether the field is on.
    func complete(_ statistics: inout USBChipStatistics)
}

extension USBFirmware {
    /// Nothing.
    package mutating func reset() {}
}

/// A simulated USB reader: a port with a chip behind it, for one thread at a time.
package final class VirtualUSBReader<Firmware: USBFirmware>: VirtualUSBChip {
    private struct State {
        var port: USBPort
        var firmware: Firmware
    }

    private let state: Mutex<State>

    init(_ firmware: sending Firmware, _ field: any RadioField, _ faults: InjectedUSBFaults) {
        state = Mutex(State(port: USBPort(field, faults), firmware: firmware))
    }

    /// The counts so far.
    package var statistics: USBChipStatistics {
        state.withLock { state in
            var statistics = state.port.statistics
            state.firmware.complete(&statistics)
            if state.port.isUnplugged { statistics.isFieldOn = false }
            return statistics
        }
    }

    /// Whether it was unplugged.
    package var isUnplugged: Bool { state.withLock(\.port.isUnplugged) }

    /// Unplugs the reader: cards lose their power.
    package func unplug() {
        state.withLock { $0.port.unplug() }
    }

    /// Resets the device on its USB port: what its host has not fetched is lost.
    package func reset() {
        state.withLock { state in
            state.port.giveUp()
            state.firmware.reset()
        }
    }

    /// Runs an operation on the chip that does not come from a host.
    func withFirmware(_ body: (inout Firmware) -> Void) {
        state.withLock { body(&$0.firmware) }
    }

    /// Receives one transfer from the host and executes it.
    package func receive(_ transfer: [UInt8]) {
        state.withLock { state in
            if state.port.arrives() { state.firmware.serve(transfer, &state.port) }
        }
    }

    /// Returns the next transfer to the host.
    package func nextTransfer() -> [UInt8]? {
        state.withLock { $0.port.nextTransfer() }
    }
}

/// The pending transfers of a simulated USB reader to its host.
struct USBOutbox: Sendable {
    /// A transfer, or `nil` for one request of the host without a result.
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
