// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An RC-S380 ("NFC Port-100") between the USB and a field.
///
/// Behaviour as nfcpy 1.0.4 and the kernel's `drivers/nfc/port100.c` need it and as they accept it; Sony publishes no
/// manual. What a host does that is not known to be allowed is in the statistics as a complaint.
public final class VirtualPort100: VirtualUSBChip {
    private struct State {
        var outbox: USBOutbox
        var registers = Port100Registers()
        var statistics = USBChipStatistics()
        var isUnplugged = false
        var isDead = false
    }

    private let field: any RadioField
    private let faults: USBFaultPlan
    private let state: Mutex<State>

    /// A reader before a field.
    public init(field: any RadioField, faults: USBFaultPlan = USBFaultPlan()) {
        self.field = field
        self.faults = faults
        state = Mutex(State(outbox: USBOutbox(faults.leftover)))
    }

    /// What was counted so far.
    public var statistics: USBChipStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.isFieldOn = state.registers.isFieldOn
            return statistics
        }
    }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { state.withLock(\.isUnplugged) }

    /// Pulls the plug: cards lose their power.
    public func unplug() {
        state.withLock { unplug(&$0) }
    }

    /// Gives the next transfer to the host.
    public func nextTransfer() -> [UInt8]? {
        state.withLock { state in
            guard !plugIsPulled(&state), !state.isDead, let transfer = state.outbox.next() else { return nil }
            state.statistics.transfersToHost += 1
            return transfer
        }
    }

    /// Takes a frame from the host and does what it says.
    public func receive(_ transfer: [UInt8]) {
        state.withLock { state in
            guard !plugIsPulled(&state) else { return }
            state.statistics.transfersFromHost += 1
            guard !state.isDead else { return }
            // An ACK of the host ends a command that is under way; here none takes time.
            if transfer == VirtualPort100.acknowledge { return }
            guard let command = Port100HostFrame.command(in: transfer) else {
                state.statistics.complaints.append("no frame came from the host")
                state.outbox.add(VirtualPort100.error)
                return
            }
            serve(command, &state)
        }
    }

    private static let acknowledge: [UInt8] = [0, 0, 0xFF, 0, 0xFF, 0]
    private static let error: [UInt8] = [0, 0, 0xFF, 1, 0xFF, 0x7F, 0x81, 0]

    private func serve(_ command: [UInt8], _ state: inout State) {
        state.statistics.hostCommands += 1
        let code = command.first ?? 0
        state.statistics.commandsByCode[code, default: 0] += 1
        let fault = faults.atCommand[state.statistics.hostCommands]
        switch fault {
        case .nothing: return
        case .dead:
            state.isDead = true
            return
        case .late:
            state.outbox.addPause()
            state.outbox.add(VirtualPort100.acknowledge)
        case .noAcknowledge: break
        default: state.outbox.add(VirtualPort100.acknowledge)
        }
        guard let data = carryOut(code, Array(command.dropFirst()), &state) else {
            state.outbox.add(VirtualPort100.error)
            return
        }
        let answerCode = fault == .wrongCode ? code &+ 3 : code &+ 1
        answer(Port100HostFrame.encode([0xD7, answerCode] + data), fault, &state.outbox)
    }

    private func answer(_ frame: [UInt8], _ fault: USBFault?, _ outbox: inout USBOutbox) {
        var frame = frame
        switch fault {
        case .acknowledgeOnly: return
        case .errorFrame: frame = VirtualPort100.error
        case .garbage(let bytes): frame = bytes
        case .truncated(let count): frame = Array(frame.prefix(max(0, count)))
        case .wrongDataChecksum: frame[frame.count - 2] &+= 1
        case .wrongLengthChecksum: frame[7] &+= 1
        case .lateAnswer: outbox.addPause()
        case .twice: outbox.add(frame)
        default: break
        }
        outbox.add(frame)
    }

    // MARK: Commands

    /// What follows the answer's code; `nil` for a command that the chip does not know.
    private func carryOut(_ code: UInt8, _ parameters: [UInt8], _ state: inout State) -> [UInt8]? {
        switch code {
        case 0x00: return [state.registers.setRadio(parameters)]
        case 0x02: return [state.registers.setProtocol(parameters)]
        case 0x04: return communicate(parameters, &state)
        case 0x06:
            state.registers.isFieldOn = parameters.first == 0x01
            if !state.registers.isFieldOn { field.switchOff() }
            return [0x00]
        case 0x20: return [0x11, 0x01]
        case 0x22: return [0x00, 0x01]
        // Types 0 and 1.
        case 0x28: return [0, 0, 0, 0, 0, 0, 0, 3]
        case 0x2A:
            let isKnown = parameters == [0x00] || parameters == [0x01]
            state.registers.isCommandTypeSet = isKnown
            return [isKnown ? 0x00 : 0x01]
        default: return nil
        }
    }

    private func communicate(_ parameters: [UInt8], _ state: inout State) -> [UInt8] {
        guard parameters.count >= 2 else { return [0x01, 0, 0, 0] }
        if !state.registers.isCommandTypeSet { state.statistics.complaints.append("InCommRF before SetCommandType") }
        let timeout = Int(parameters[0]) | Int(parameters[1]) << 8
        guard let frame = state.registers.frame(Array(parameters.dropFirst(2))) else {
            state.statistics.complaints.append("InCommRF before InSetRF and InSetProtocol")
            return [0x00, 0x04, 0, 0]
        }
        state.registers.isFieldOn = true
        state.statistics.exchanges += 1
        switch field.exchange(frame) {
        case .silence: return [0x80, 0, 0, 0]
        case .damaged(let status): return [VirtualPort100.statusBit(ofChipStatus: status), 0, 0, 0]
        case .answer(let answer):
            if timeout != 0, answer.thinkingTime > .microseconds(timeout * 100) { return [0x80, 0, 0, 0] }
            guard let air = state.registers.received(answer) else { return [0x04, 0, 0, 0] }
            state.statistics.answeredExchanges += 1
            return [0, 0, 0, 0, UInt8(truncatingIfNeeded: answer.lastByteBits)] + air
        }
    }

    /// The bit of InCommRF's status for a PN53x status, in which fields speak.
    private static func statusBit(ofChipStatus status: UInt8) -> UInt8 {
        switch status {
        case 0x02: 0x04
        case 0x03: 0x02
        case 0x06: 0x08
        default: 0x01
        }
    }

    // MARK: The plug

    private func plugIsPulled(_ state: inout State) -> Bool {
        if let last = faults.unplugBeforeTransfer, state.statistics.transfers + 1 >= last { unplug(&state) }
        return state.isUnplugged
    }

    private func unplug(_ state: inout State) {
        guard !state.isUnplugged else { return }
        state.isUnplugged = true
        state.registers = Port100Registers()
        field.switchOff()
    }
}
