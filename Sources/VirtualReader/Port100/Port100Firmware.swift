// SPDX-License-Identifier: Apache-2.0

/// What a Port-100 does with its host's frames.
struct Port100Firmware: USBFirmware {
    private let field: any RadioField
    private var registers = Port100Registers()

    private static let acknowledge: [UInt8] = [0, 0, 0xFF, 0, 0xFF, 0]
    private static let error: [UInt8] = [0, 0, 0xFF, 1, 0xFF, 0x7F, 0x81, 0]

    init(_ field: any RadioField) {
        self.field = field
    }

    func complete(_ statistics: inout USBChipStatistics) {
        statistics.isFieldOn = registers.isFieldOn
    }

    mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        // An ACK of the host ends a command that is under way; here none takes time.
        if transfer == Self.acknowledge { return }
        guard let command = Port100HostFrame.command(in: transfer) else {
            port.complain("no frame came from the host")
            port.add(Self.error)
            return
        }
        let code = command.first ?? 0
        let fault = port.begin()
        port.count(code)
        if fault == .nothing || fault == .dead { return }
        var answer = Self.error
        if let data = carryOut(code, Array(command.dropFirst()), &port) {
            answer = Port100HostFrame.encode([0xD7, fault == .wrongCode ? code &+ 3 : code &+ 1] + data)
        }
        switch fault {
        case .errorFrame: answer = Self.error
        case .wrongDataChecksum: answer[answer.count - 2] &+= 1
        case .wrongLengthChecksum: answer[7] &+= 1
        default: break
        }
        port.answer(answer, after: Self.acknowledge, with: fault)
    }

    // MARK: Commands

    /// What follows the answer's code; `nil` for a command that the chip does not know.
    private mutating func carryOut(_ code: UInt8, _ parameters: [UInt8], _ port: inout USBPort) -> [UInt8]? {
        switch code {
        case 0x00: return [registers.setRadio(parameters)]
        case 0x02: return [registers.setProtocol(parameters)]
        case 0x04: return communicate(parameters, &port)
        case 0x06:
            registers.isFieldOn = parameters.first == 0x01
            if registers.isFieldOn { field.switchOn() } else { field.switchOff() }
            return [0x00]
        case 0x20: return [0x11, 0x01]
        case 0x22: return [0x00, 0x01]
        // Types 0 and 1.
        case 0x28: return [0, 0, 0, 0, 0, 0, 0, 3]
        case 0x2A:
            let isKnown = parameters == [0x00] || parameters == [0x01]
            registers.isCommandTypeSet = isKnown
            return [isKnown ? 0x00 : 0x01]
        default: return nil
        }
    }

    private mutating func communicate(_ parameters: [UInt8], _ port: inout USBPort) -> [UInt8] {
        guard parameters.count >= 2 else { return [0x01, 0, 0, 0] }
        if !registers.isCommandTypeSet { port.complain("InCommRF before SetCommandType") }
        let timeout = Int(parameters[0]) | Int(parameters[1]) << 8
        guard let frame = registers.frame(Array(parameters.dropFirst(2))) else {
            port.complain("InCommRF before InSetRF and InSetProtocol")
            return [0x00, 0x04, 0, 0]
        }
        registers.isFieldOn = true
        port.statistics.exchanges += 1
        switch field.exchange(frame) {
        case .silence: return [0x80, 0, 0, 0]
        case .damaged(let status): return [Self.statusBit(ofChipStatus: status), 0, 0, 0]
        case .answer(let answer):
            if timeout != 0, answer.thinkingTime > .microseconds(timeout * 100) { return [0x80, 0, 0, 0] }
            guard let air = registers.received(answer) else { return [0x04, 0, 0, 0] }
            port.statistics.answeredExchanges += 1
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
}
