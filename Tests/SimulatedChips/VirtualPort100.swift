// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
package import VirtualReader

/// An RC-S380 ("NFC Port-100") between the USB and a field.
///
/// Behavior as nfcpy 1.0.4 and the kernel's `drivers/nfc/port100.c` require and accept it; Sony publishes no manual.
/// Host actions that are not known to be allowed are recorded in the statistics as complaints.
package typealias VirtualPort100 = VirtualUSBReader<Port100Firmware>

extension VirtualPort100 {
    /// Creates a reader over a field.
    ///
    /// - Parameter refusesFasterRates: whether the chip refuses type A and B above 106 kbit/s.
    package convenience init(
        field: any RadioField, faults: InjectedUSBFaults = InjectedUSBFaults(), refusesFasterRates: Bool = false
    ) {
        var faults = faults
        if field.readerQuirks.port100.hasStaleAnswer {
            faults.leftover += [Port100Firmware.acknowledge, Port100HostFrame.encode([0xD7, 0x05, 0, 0, 0, 0, 8, 1])]
        }
        self.init(Port100Firmware(field, refusesFasterRates: refusesFasterRates), field, faults)
    }
}

/// Handles the frames of a Port-100's host.
package struct Port100Firmware: USBFirmware {
    private let field: any RadioField
    private var registers: Port100Registers
    private let quirks: Port100Quirks
    /// The number of exchanges with a card so far.
    private var exchanges = 0

    static let acknowledge: [UInt8] = [0, 0, 0xFF, 0, 0xFF, 0]
    private static let shortError: [UInt8] = [0, 0, 0xFF, 0xFF, 0xFF]
    private static let error: [UInt8] = [0, 0, 0xFF, 1, 0xFF, 0x7F, 0x81, 0]

    init(_ field: any RadioField, refusesFasterRates: Bool) {
        self.field = field
        registers = Port100Registers(refusesFasterRates: refusesFasterRates)
        quirks = field.readerQuirks.port100
    }

    package func complete(_ statistics: inout USBChipStatistics) {
        statistics.isFieldOn = registers.isFieldOn
    }

    package mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        // An ACK of the host aborts a running command; here none takes time.
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
        if code == 0x04, quirks.garblesFirstExchange, exchanges == 1 { answer = Self.shortError }
        guard quirks.splitsAnswers else { return port.answer(answer, after: Self.acknowledge, with: fault) }
        port.add(Self.acknowledge)
        for start in stride(from: 0, to: answer.count, by: 64) { port.add(Array(answer[start...].prefix(64))) }
    }

    // MARK: Commands

    /// Returns the bytes after the answer's code; `nil` for a command that the chip does not support.
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
        case 0x28: return [0, 0, 0, 0, 0, 0, 0, quirks.lacksType1 ? 1 : 3]
        case 0x2A:
            let isKnown = parameters == [0x00] || parameters == [0x01] && !quirks.lacksType1
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
        exchanges += 1
        if exchanges <= quirks.hotExchanges { return [0x40, 0, 0, 0] }
        port.statistics.exchanges += 1
        switch field.exchange(frame) {
        case .silence: return [0x80, 0, 0, 0]
        case .damaged(let status): return [Self.statusBit(ofChipStatus: status), 0, 0, 0]
        // At another speed it is noise.
        case .answer(let answer) where answer.bitRate != frame.bitRate: return [0x80, 0, 0, 0]
        case .answer(let answer):
            if timeout != 0, answer.thinkingTime > .microseconds(timeout * 100) { return [0x80, 0, 0, 0] }
            guard let received = registers.received(answer) else { return [0x04, 0, 0, 0] }
            port.statistics.answeredExchanges += 1
            return [0, 0, 0, 0, UInt8(truncatingIfNeeded: answer.lastByteBits)] + received
        }
    }

    /// The bit of InCommRF's status for a PN53x status, as fields report it.
    private static func statusBit(ofChipStatus status: UInt8) -> UInt8 {
        switch status {
        case 0x02: 0x04
        case 0x03: 0x02
        case 0x06: 0x08
        default: 0x01
        }
    }
}

/// The settings of a Port-100: its modulation and its protocol.
struct Port100Registers: Sendable {
    var isFieldOn = false
    var isCommandTypeSet = false
    private var technology: RadioTechnology?
    private var bitRate = ISOBitRate.kbps106
    /// Whether the chip refuses type A and B above 106 kbit/s.
    private let refusesFasterRates: Bool

    init(refusesFasterRates: Bool = false) { self.refusesFasterRates = refusesFasterRates }

    /// The values by number, `nil` until the host has set them.
    private var values: [UInt8: UInt8]?

    /// InSetRF.
    ///
    /// - Returns: the status.
    mutating func setRadio(_ parameters: [UInt8]) -> UInt8 {
        let known: (technology: RadioTechnology, bitRate: ISOBitRate)? =
            switch parameters {
            case [0x01, 0x01, 0x0F, 0x01]: (.felica(.kbps212), .kbps106)
            case [0x01, 0x02, 0x0F, 0x02]: (.felica(.kbps424), .kbps106)
            case [0x02, 0x03, 0x0F, 0x03]: (.typeA, .kbps106)
            case [0x04, 0x04, 0x0F, 0x04]: (.typeA, .kbps212)
            case [0x05, 0x05, 0x0F, 0x05]: (.typeA, .kbps424)
            case [0x03, 0x07, 0x0F, 0x07]: (.typeB, .kbps106)
            case [0x03, 0x08, 0x0F, 0x08]: (.typeB, .kbps212)
            case [0x03, 0x09, 0x0F, 0x09]: (.typeB, .kbps424)
            default: nil
            }
        guard let known, known.bitRate == .kbps106 || !refusesFasterRates else { return 0x01 }
        (technology, bitRate) = known
        // Whether the chip keeps them is not known; a host must not rely on it.
        values = nil
        return 0x00
    }

    /// InSetProtocol.
    ///
    /// - Returns: the status.
    mutating func setProtocol(_ parameters: [UInt8]) -> UInt8 {
        guard parameters.count % 2 == 0, !parameters.isEmpty else { return 0x01 }
        var values = values ?? [:]
        for index in stride(from: 0, to: parameters.count, by: 2) {
            guard parameters[index] <= 0x13 else { return 0x01 }
            values[parameters[index]] = parameters[index + 1]
        }
        self.values = values
        return 0x00
    }

    /// Returns a host's bytes as sent into the air; `nil` before the chip was configured.
    func frame(_ bytes: [UInt8]) -> RadioFrame? {
        guard let technology, let values else { return nil }
        let bits = Int(values[0x07] ?? 8)
        var frame = RadioFrame(
            technology, bytes, lastByteBits: (1...8).contains(bits) ? bits : 8, hasCRC: values[0x01] != 0)
        frame.bitRate = bitRate
        return frame
    }

    /// Returns a card's answer as the host gets it; `nil` when the chip expects a CRC that is missing.
    func received(_ answer: CardAnswer) -> [UInt8]? {
        guard values?[0x02] != 0 else {
            // Not checked, so not removed.
            guard answer.hasCRC, let technology else { return answer.frame }
            return answer.frame + Checksum.bytes(of: answer.frame, technology)
        }
        return answer.hasCRC ? answer.frame : nil
    }
}

/// The frames of a Port-100 as the chip parses and encodes them.
enum Port100HostFrame {
    /// Returns the host's data, starting with the command code; `nil` when it is not a command frame.
    static func command(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 12, bytes[0...4] == [0, 0, 0xFF, 0xFF, 0xFF] else { return nil }
        let length = Int(bytes[5]) | Int(bytes[6]) << 8
        guard bytes[5] &+ bytes[6] &+ bytes[7] == 0, length >= 2, bytes.count == length + 10 else { return nil }
        let data = bytes[8..<8 + length]
        guard data.reduce(bytes[8 + length], &+) == 0, bytes[9 + length] == 0, bytes[8] == 0xD6 else { return nil }
        return Array(data.dropFirst())
    }

    /// Encodes an answer.
    static func encode(_ data: [UInt8]) -> [UInt8] {
        let low = UInt8(data.count & 0xFF)
        let high = UInt8(data.count >> 8 & 0xFF)
        let sum = data.reduce(0 as UInt8, &+)
        return [0, 0, 0xFF, 0xFF, 0xFF, low, high, ~(low &+ high) &+ 1] + data + [~sum &+ 1, 0]
    }
}
