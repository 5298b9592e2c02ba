// SPDX-License-Identifier: Apache-2.0

/// What a Port-400 does with its host's messages.
struct Port400Firmware: USBFirmware {
    private let field: any RadioField
    private var session = Port400Session()
    /// Whether the host cannot know yet that its session was ended.
    private var mayMissSession = false

    init(_ field: any RadioField, hasOrphan: Bool) {
        self.field = field
        session.isOpen = hasOrphan
    }

    func complete(_ statistics: inout USBChipStatistics) {
        statistics.isFieldOn = session.isFieldOn
    }

    /// Ends the host's session.
    mutating func endSession() {
        session = Port400Session()
        mayMissSession = true
        field.switchOff()
    }

    /// Notes what is not done without a session, unless the host cannot know that there is none.
    private mutating func missSession(_ complaint: String, _ port: inout USBPort) {
        if !mayMissSession { port.complain(complaint) }
        mayMissSession = false
    }

    mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        guard let message = Port400HostMessage(transfer) else {
            port.complain("no escape message came from the host")
            return
        }
        let fault = port.begin()
        var sequence = message.sequence
        switch fault {
        case .nothing, .acknowledgeOnly, .dead: return
        case .busy: return port.add(Port400HostMessage.answer(sequence, status: 0x40, error: 0xE0))
        case .errorFrame: return port.add(Port400HostMessage.answer(sequence, status: 0x40, error: 0x05))
        case .sessionTaken: return port.add(Port400HostMessage.answer(sequence, Self.failed(0x69, 0x8A)))
        case .moreTime: for _ in 0..<2 { port.add(Port400HostMessage.answer(sequence, status: 0x80)) }
        case .wrongSequence: sequence &-= 1
        default: break
        }
        var answer = Port400HostMessage.answer(sequence, carryOut(message.command, &port))
        switch fault {
        case .wrongCode: answer[0] = 0x80
        case .wrongLengthChecksum: answer[1] &+= 40
        default: break
        }
        port.answer(answer, with: fault)
    }

    // MARK: Commands

    private static let done: [UInt8] = [0x90, 0x00]
    private static let well: [UInt8] = [0xC0, 0x03, 0x00, 0x90, 0x00]

    private mutating func carryOut(_ command: [UInt8], _ port: inout USBPort) -> [UInt8] {
        guard command.count >= 4, command[0] == 0xFF else { return [0x6E, 0x00] }
        let code = command[1] == 0x50 ? command[3] : command[1]
        port.count(code)
        switch (command[1], command[2], command[3]) {
        case (0x56, 0x00, 0x00): return [0x01, 0x00, 0x00, 0x12] + Self.done
        case (0x50, 0x00, 0x00): return manageSession(command, &port)
        case (0x50, 0x00, 0x01): return exchange(command, &port)
        case (0x50, 0x00, 0x02): return switchProtocol(command, &port)
        default: return [0x6D, 0x00]
        }
    }

    private mutating func manageSession(_ command: [UInt8], _ port: inout USBPort) -> [UInt8] {
        guard command.count > 6, Int(command[4]) == command.count - 6, command.last == 0 else { return [0x67, 0x00] }
        switch Array(command[5..<command.count - 1]) {
        case [0x81, 0x00]:
            if session.isOpen {
                port.complain("a session began in a session")
                return Self.failed(0x69, 0x85)
            }
            session = Port400Session()
            session.isOpen = true
            mayMissSession = false
        case [0x82, 0x00]:
            session = Port400Session()
            field.switchOff()
        case [0x83, 0x00]:
            session.isFieldOn = false
            field.switchOff()
        case [0x84, 0x00]:
            session.isFieldOn = true
            field.switchOn()
        case let objects where objects.starts(with: [0xFF, 0x6E, 0x03, 0x05, 0x01]) && objects.count == 6:
            guard session.set(speed: objects[5]) else { return Self.failed(0x6A, 0x80) }
        default: return Self.failed(0x6A, 0x80)
        }
        return Self.well + Self.done
    }

    private mutating func switchProtocol(_ command: [UInt8], _ port: inout USBPort) -> [UInt8] {
        guard session.isOpen, session.isFieldOn else {
            missSession("a protocol was selected without a session or with the field off", &port)
            return Self.failed(0x69, 0x85)
        }
        guard command.count == 10, Array(command[4...6]) == [0x04, 0x8F, 0x02],
            session.select(Array(command[7...8]))
        else { return Self.failed(0x6A, 0x80) }
        return Self.well + Self.done
    }

    private mutating func exchange(_ command: [UInt8], _ port: inout USBPort) -> [UInt8] {
        guard let exchange = Port400Exchange(command) else {
            port.complain("an exchange could not be read")
            return Self.failed(0x6A, 0x80)
        }
        guard session.isOpen, session.isFieldOn, let frame = session.frame(exchange) else {
            missSession("an exchange without session, field or protocol, or with other flags", &port)
            return Self.failed(0x69, 0x85)
        }
        port.statistics.exchanges += 1
        switch field.exchange(frame) {
        case .silence: return Self.failed(0x64, 0x01)
        case .damaged(let status): return Self.well + [0x96, 0x02, Self.damage(status), 0x00] + Self.done
        case .answer(let answer):
            if let limit = exchange.microseconds, limit > 0, answer.thinkingTime > .microseconds(limit) {
                return Self.failed(0x64, 0x01)
            }
            guard let air = session.received(answer) else {
                return Self.well + [0x96, 0x02, 0x01, 0x00] + Self.done
            }
            port.statistics.answeredExchanges += 1
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
}
