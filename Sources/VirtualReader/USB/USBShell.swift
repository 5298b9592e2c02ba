// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A plug with a chip behind it, for one thread at a time: what every simulated USB reader has in common.
final class USBShell<Firmware: USBFirmware>: Sendable {
    private struct State {
        var port: USBPort
        var firmware: Firmware
    }

    private let state: Mutex<State>

    init(_ firmware: sending Firmware, _ field: any RadioField, _ faults: USBFaultPlan) {
        state = Mutex(State(port: USBPort(field, faults), firmware: firmware))
    }

    /// What was counted so far.
    var statistics: USBChipStatistics {
        state.withLock { state in
            var statistics = state.port.statistics
            state.firmware.complete(&statistics)
            if state.port.isUnplugged { statistics.isFieldOn = false }
            return statistics
        }
    }

    /// Whether the plug was pulled.
    var isUnplugged: Bool { state.withLock(\.port.isUnplugged) }

    /// Pulls the plug.
    func unplug() {
        state.withLock { $0.port.unplug() }
    }

    /// Does something to the chip that no host asks for.
    func withFirmware(_ body: (inout Firmware) -> Void) {
        state.withLock { body(&$0.firmware) }
    }

    /// Takes one transfer from the host.
    func receive(_ transfer: [UInt8]) {
        state.withLock { state in
            if state.port.arrives() { state.firmware.serve(transfer, &state.port) }
        }
    }

    /// Gives the next transfer to the host.
    func nextTransfer() -> [UInt8]? {
        state.withLock { $0.port.nextTransfer() }
    }
}
