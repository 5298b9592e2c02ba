// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
package import VirtualReader

/// An RC-S320 or RC-S310 between the USB and a field: control transfers from the host, interrupt packets of 8 bytes to it.
///
/// Behavior as libpafe, felica-rs and pasorich require it; Sony publishes no manual, and no capture of a real device is
/// public.
package typealias VirtualRCS320 = VirtualUSBReader<RCS320Firmware>

extension VirtualRCS320 {
    /// Creates a reader over a field.
    ///
    /// - Parameters:
    ///   - isRCS310: whether it knows 54 and 5C alone.
    ///   - acknowledges: whether it acknowledges commands.
    ///   - isMuteWithoutCard: whether it answers nothing to a command that no card answers; else with an empty packet.
    ///   - sendsEmptyPackets: whether an empty packet ends an answer of whole packets.
    package convenience init(
        field: any RadioField, faults: InjectedUSBFaults = InjectedUSBFaults(), isRCS310: Bool = false,
        acknowledges: Bool = true, isMuteWithoutCard: Bool = false, sendsEmptyPackets: Bool = false
    ) {
        let firmware = RCS320Firmware(
            field, isRCS310: isRCS310, acknowledges: acknowledges, isMuteWithoutCard: isMuteWithoutCard,
            sendsEmptyPackets: sendsEmptyPackets)
        self.init(firmware, field, faults)
    }
}

/// Handles the frames of an RC-S320's host.
package struct RCS320Firmware: USBFirmware {
    private let field: any RadioField
    private let isRCS310: Bool
    private let acknowledges: Bool
    private let isMuteWithoutCard: Bool
    private let sendsEmptyPackets: Bool
    private var isFieldOn = false
    private var registers: [UInt8: UInt8] = [0x82: 0x88, 0x80: 0xCC, 0x81: 0x88, 0x87: 0x01, 0x25: 0x00]

    private static let acknowledge: [UInt8] = [0, 0, 0xFF, 0, 0xFF, 0]
    private static let packet = 8

    init(
        _ field: any RadioField, isRCS310: Bool, acknowledges: Bool, isMuteWithoutCard: Bool, sendsEmptyPackets: Bool
    ) {
        (self.field, self.isRCS310, self.acknowledges) = (field, isRCS310, acknowledges)
        (self.isMuteWithoutCard, self.sendsEmptyPackets) = (isMuteWithoutCard, sendsEmptyPackets)
    }

    package func complete(_ statistics: inout USBChipStatistics) { statistics.isFieldOn = isFieldOn }

    package mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        guard let command = Self.content(of: transfer), let code = command.first else {
            port.complain("no frame came from the host")
            return
        }
        let fault = port.begin()
        port.count(code)
        switch fault {
        case .nothing, .dead: return
        case .late: port.add([])
        default: break
        }
        if acknowledges, fault != .noAcknowledge { add(Self.acknowledge, &port) }
        if fault == .acknowledgeOnly { return }
        guard var answer = carryOut(code, Array(command.dropFirst()), &port) else { return }
        if fault == .wrongCode { answer[0] &+= 2 }
        var frame = fault == .errorFrame ? Self.frame([0x7F]) : Self.frame(answer)
        switch fault {
        case .wrongDataChecksum: frame[frame.count - 2] &+= 1
        case .wrongLengthChecksum: frame[4] &+= 1
        case .truncated(let count): frame = Array(frame.prefix(max(0, count)))
        case .garbage(let bytes): frame = bytes
        default: break
        }
        if fault == .twice { add(frame, &port) }
        add(frame, &port)
    }

    /// Queues bytes in packets.
    private func add(_ bytes: [UInt8], _ port: inout USBPort) {
        var rest = bytes[...]
        while !rest.isEmpty {
            port.add(Array(rest.prefix(Self.packet)))
            rest = rest.dropFirst(Self.packet)
        }
        if sendsEmptyPackets, bytes.count % Self.packet == 0 { port.add([]) }
    }

    /// Returns the answer with its code; `nil` when the reader stays mute.
    private mutating func carryOut(_ code: UInt8, _ parameters: [UInt8], _ port: inout USBPort) -> [UInt8]? {
        switch code {
        case 0x54:
            // A reset takes the power from the cards.
            field.switchOff()
            isFieldOn = isRCS310
            if isFieldOn { field.switchOn() }
            return [0x55]
        case 0x5C: return communicate(parameters, &port)
        case _ where isRCS310: return [0x7F]
        case 0x58: return [0x59, 0x28, 0x01]
        case 0x5A:
            isFieldOn = parameters.first == 0x80
            if isFieldOn { field.switchOn() } else { field.switchOff() }
            return [0x5B]
        case 0x62: return access(parameters)
        default: return [0x7F]
        }
    }

    /// The first digit of the first byte is 0 to read and 2 to write, the second one the number of registers.
    private mutating func access(_ parameters: [UInt8]) -> [UInt8] {
        guard let first = parameters.first else { return [0x7F] }
        let count = Int(first & 0x0F)
        let rest = Array(parameters.dropFirst())
        switch first >> 4 {
        case 0 where rest.count == count: return [0x63, 0x00] + rest.map { registers[$0] ?? 0 }
        case 2 where rest.count == 2 * count:
            for index in 0..<count { registers[rest[2 * index]] = rest[2 * index + 1] }
            return [0x63, 0x00]
        default: return [0x7F]
        }
    }

    private mutating func communicate(_ packet: [UInt8], _ port: inout USBPort) -> [UInt8]? {
        if !isFieldOn { port.complain("a packet without a field") }
        if Int(packet.first ?? 0) != packet.count { port.complain("a packet without its LEN") }
        port.statistics.exchanges += 1
        let nothing: [UInt8]? = isMuteWithoutCard ? nil : [0x5D]
        guard case .answer(let answer) = field.exchange(RadioFrame(.felica(.kbps212), packet)) else { return nothing }
        guard answer.frame.count <= 247 else { return nothing }
        port.statistics.answeredExchanges += 1
        return [0x5D] + answer.frame
    }

    private static func content(of frame: [UInt8]) -> [UInt8]? {
        guard frame.count >= 8, frame.starts(with: [0, 0, 0xFF]), frame[3] &+ frame[4] == 0,
            frame.count == Int(frame[3]) + 7, frame.last == 0
        else { return nil }
        let sum = frame.dropFirst(5).dropLast().reduce(0, &+)
        return sum == 0 ? Array(frame.dropFirst(5).dropLast(2)) : nil
    }

    private static func frame(_ data: [UInt8]) -> [UInt8] {
        let length = UInt8(truncatingIfNeeded: data.count)
        return [0, 0, 0xFF, length, 0 &- length] + data + [0 &- data.reduce(0, &+), 0]
    }
}
