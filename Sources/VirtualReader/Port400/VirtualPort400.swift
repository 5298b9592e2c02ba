// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An RC-S300 ("NFC Port-400") between the vendor's USB interface and a field.
///
/// Behaviour as felica-rs, pasorich and esp32-pasori-rcs300 need it and as they accept it; Sony publishes no manual. What a
/// host does that is not known to be allowed is in the statistics as a complaint.
public final class VirtualPort400: VirtualUSBChip {
    private struct State {
        var outbox: USBOutbox
        var session = Port400Session()
        var statistics = USBChipStatistics()
        var isUnplugged = false
        var isDead = false
        /// Whether the host cannot know yet that its session was ended.
        var mayMissSession = false

        mutating func complain(_ text: String) {
            if !mayMissSession { statistics.complaints.append(text) }
            mayMissSession = false
        }
    }

    private let field: any RadioField
    private let faults: USBFaultPlan
    private let state: Mutex<State>

    /// A reader before a field.
    ///
    /// - Parameter hasOrphan: whether a program that was killed left a session behind.
    public init(field: any RadioField, faults: USBFaultPlan = USBFaultPlan(), hasOrphan: Bool = false) {
        self.field = field
        self.faults = faults
        var state = State(outbox: USBOutbox(faults.leftover))
        state.session.isOpen = hasOrphan
        self.state = Mutex(state)
    }

    /// What was counted so far; commands are counted by the second parameter of their header where the instruction is 50,
    /// else by the instruction.
    public var statistics: USBChipStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.isFieldOn = state.session.isFieldOn
            return statistics
        }
    }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { state.withLock(\.isUnplugged) }

    /// Pulls the plug: cards lose their power.
    public func unplug() {
        state.withLock { unplug(&$0) }
    }

    /// Ends the host's session, as a reader may do in which nothing happens for long; nobody says whether it does.
    public func endSession() {
        state.withLock { state in
            state.session = Port400Session()
            state.mayMissSession = true
        }
        field.switchOff()
    }

    /// Gives the next transfer to the host.
    public func nextTransfer() -> [UInt8]? {
        state.withLock { state in
            guard !plugIsPulled(&state), !state.isDead, let transfer = state.outbox.next() else { return nil }
            state.statistics.transfersToHost += 1
            return transfer
        }
    }

    /// Takes a message from the host and does what it says.
    public func receive(_ transfer: [UInt8]) {
        state.withLock { state in
            guard !plugIsPulled(&state) else { return }
            state.statistics.transfersFromHost += 1
            guard !state.isDead else { return }
            guard let message = Port400HostMessage(transfer) else {
                state.statistics.complaints.append("no escape message came from the host")
                return
            }
            serve(message, &state)
        }
    }

    private func serve(_ message: Port400HostMessage, _ state: inout State) {
        state.statistics.hostCommands += 1
        let fault = faults.atCommand[state.statistics.hostCommands]
        let sequence = message.sequence
        switch fault {
        case .nothing, .acknowledgeOnly: return
        case .dead:
            state.isDead = true
            return
        case .busy:
            state.outbox.add(Port400HostMessage.answer(sequence, status: 0x40, error: 0xE0))
            return
        case .errorFrame:
            state.outbox.add(Port400HostMessage.answer(sequence, status: 0x40, error: 0x05))
            return
        case .sessionTaken:
            state.outbox.add(Port400HostMessage.answer(sequence, [0xC0, 0x03, 0x01, 0x69, 0x8A, 0x90, 0x00]))
            return
        case .moreTime:
            for _ in 0..<2 { state.outbox.add(Port400HostMessage.answer(sequence, status: 0x80)) }
        case .late, .lateAnswer: state.outbox.addPause()
        default: break
        }
        let data = carryOut(message.command, &state)
        answer(Port400HostMessage.answer(fault == .wrongSequence ? sequence &- 1 : sequence, data), fault, &state)
    }

    private func answer(_ message: [UInt8], _ fault: USBFault?, _ state: inout State) {
        var message = message
        switch fault {
        case .garbage(let bytes): message = bytes
        case .truncated(let count): message = Array(message.prefix(max(0, count)))
        case .wrongCode: message[0] = 0x80
        case .wrongLengthChecksum: message[1] &+= 40
        case .twice: state.outbox.add(message)
        default: break
        }
        state.outbox.add(message)
    }

    // MARK: Commands

    private static let done: [UInt8] = [0x90, 0x00]
    private static let well: [UInt8] = [0xC0, 0x03, 0x00, 0x90, 0x00]

    private func carryOut(_ command: [UInt8], _ state: inout State) -> [UInt8] {
        guard command.count >= 4, command[0] == 0xFF else { return [0x6E, 0x00] }
        let code = command[1] == 0x50 ? command[3] : command[1]
        state.statistics.commandsByCode[code, default: 0] += 1
        switch (command[1], command[2], command[3]) {
        case (0x56, 0x00, 0x00): return [0x01, 0x00, 0x00, 0x12] + Self.done
        case (0x50, 0x00, 0x00): return manageSession(command, &state)
        case (0x50, 0x00, 0x01): return exchange(command, &state)
        case (0x50, 0x00, 0x02): return switchProtocol(command, &state)
        default: return [0x6D, 0x00]
        }
    }

    private func manageSession(_ command: [UInt8], _ state: inout State) -> [UInt8] {
        guard command.count > 6, Int(command[4]) == command.count - 6, command.last == 0 else { return [0x67, 0x00] }
        switch Array(command[5..<command.count - 1]) {
        case [0x81, 0x00]:
            if state.session.isOpen {
                state.statistics.complaints.append("a session began in a session")
                return Self.failed(0x69, 0x85)
            }
            state.session = Port400Session()
            state.session.isOpen = true
            state.mayMissSession = false
        case [0x82, 0x00]:
            state.session = Port400Session()
            field.switchOff()
        case [0x83, 0x00]:
            state.session.isFieldOn = false
            field.switchOff()
        case [0x84, 0x00]: state.session.isFieldOn = true
        case let objects where objects.starts(with: [0xFF, 0x6E, 0x03, 0x05, 0x01]) && objects.count == 6:
            guard state.session.set(speed: objects[5]) else { return Self.failed(0x6A, 0x80) }
        default: return Self.failed(0x6A, 0x80)
        }
        return Self.well + Self.done
    }

    private func switchProtocol(_ command: [UInt8], _ state: inout State) -> [UInt8] {
        guard state.session.isOpen, state.session.isFieldOn else {
            state.complain("a protocol was selected without a session or with the field off")
            return Self.failed(0x69, 0x85)
        }
        guard command.count == 10, Array(command[4...6]) == [0x04, 0x8F, 0x02],
            state.session.select(Array(command[7...8]))
        else { return Self.failed(0x6A, 0x80) }
        return Self.well + Self.done
    }

    private func exchange(_ command: [UInt8], _ state: inout State) -> [UInt8] {
        guard let exchange = Port400Exchange(command) else {
            state.statistics.complaints.append("an exchange could not be read")
            return Self.failed(0x6A, 0x80)
        }
        guard state.session.isOpen, state.session.isFieldOn, let frame = state.session.frame(exchange) else {
            state.complain("an exchange without session, field or protocol, or with other flags")
            return Self.failed(0x69, 0x85)
        }
        state.statistics.exchanges += 1
        switch field.exchange(frame) {
        case .silence: return Self.failed(0x64, 0x01)
        case .damaged(let status): return Self.well + [0x96, 0x02, Self.damage(status), 0x00] + Self.done
        case .answer(let answer):
            if let limit = exchange.microseconds, limit > 0, answer.thinkingTime > .microseconds(limit) {
                return Self.failed(0x64, 0x01)
            }
            guard let air = state.session.received(answer) else {
                return Self.well + [0x96, 0x02, 0x01, 0x00] + Self.done
            }
            state.statistics.answeredExchanges += 1
            let bits = UInt8(truncatingIfNeeded: answer.lastByteBits & 0x07)
            let length =
                air.count < 0x80
                ? [UInt8(truncatingIfNeeded: air.count)]
                : [0x82, UInt8(truncatingIfNeeded: air.count >> 8), UInt8(truncatingIfNeeded: air.count)]
            return Self.well + [0x92, 0x01, bits, 0x96, 0x02, 0x00, 0x00, 0x97] + length + air + Self.done
        }
    }

    /// An inner status word that is not 9000.
    private static func failed(_ high: UInt8, _ low: UInt8) -> [UInt8] { [0xC0, 0x03, 0x01, high, low] + done }

    /// The bits of PC/SC part 3 for a PN53x status, in which fields speak.
    private static func damage(_ chipStatus: UInt8) -> UInt8 {
        switch chipStatus {
        case 0x02: 0x01
        case 0x06: 0x02
        case 0x03: 0x04
        default: 0x08
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
        state.session = Port400Session()
        field.switchOff()
    }
}
