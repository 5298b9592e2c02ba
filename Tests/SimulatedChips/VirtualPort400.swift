// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ReaderCore
package import VirtualReader

/// An RC-S300 ("NFC Port-400") between the vendor's USB interface and a field.
///
/// Behavior as in logs of real readers (EspUsbHost, simple-attendance-with-pasori, ezsign-nfc-tools), otherwise as
/// felica-rs, pasorich and esp32-pasori-rcs300 require it; Sony publishes no manual of the vendor interface. Host
/// actions that are not known to be allowed are recorded in the statistics as complaints.
///
/// Commands are counted by the second parameter of their header where the instruction is 50 or C2, else by the
/// instruction.
package typealias VirtualPort400 = VirtualUSBReader<Port400Firmware>

extension VirtualPort400 {
    /// Creates a reader over a field.
    ///
    /// - Parameter hasOrphan: whether a killed program left a session behind.
    package convenience init(
        field: any RadioField, faults: InjectedUSBFaults = InjectedUSBFaults(),
        behavior: Port400Behavior = Port400Behavior(), hasOrphan: Bool = false
    ) {
        self.init(Port400Firmware(field, behavior, hasOrphan: hasOrphan), field, faults)
    }

    /// Ends the host's session, as a reader may do after a long idle time. Whether a real one does is not documented.
    package func endSession() {
        withFirmware { $0.endSession() }
    }
}

/// The behavior of a simulated Port-400 where sources leave several possibilities, or differ.
package struct Port400Behavior: Hashable, Sendable {
    /// The effect of switching the protocol to type A or B at layer 3.
    package enum LayerThree: Hashable, Sendable {
        /// Only the switch, as felica-rs and esp32-pasori-rcs300 were understood.
        case switches
        /// Type B: REQB only. Type A: as `selects`.
        case requests
        /// REQA, anticollision and SELECT; REQB and ATTRIB.
        case selects
    }

    /// The effect of a switch to type A or B.
    package var layerThree = LayerThree.selects
    /// Whether the answer to such a switch has an object 8F, with the SAK or the protocol info.
    package var describesCard = true
    /// Whether `FF CA` returns the UID of a selected card.
    package var givesUID = true
    /// The status of such a switch without a card; 9000 as observed on an RC-S300 with firmware 1.00.
    package var statusWithoutCard: UInt16 = 0x6401
    /// The status of commands that need a session or a field when there is none: 6301 in a log, 6985 in felica-rs, 6300
    /// where a reader reports it as a transmission error.
    package var statusOutsideSession: UInt16 = 0x6301
    /// Whether that status, for an exchange, is about the object with the frame instead of the first one.
    package var blamesFrameOutsideSession = false
    /// The status of a second start: 698A in the command reference, 6985 in felica-rs.
    package var statusOfSecondStart: UInt16 = 0x698A
    /// The codes of the speeds that `FF 6E` sets.
    package var speeds: Set<UInt8> = [0x89, 0x92, 0x9B]
    /// The status for any other code.
    package var statusOfUnknownSpeed: UInt16 = 0x6A80
    /// Whether an answer that was damaged in the air gives the status 6300; otherwise bits of object 96.
    package var reportsDamageByStatus = false

    /// Creates the behavior seen in the logs of an RC-S300, where they show it.
    package init() {}
}

/// Handles the messages of a Port-400's host.
package struct Port400Firmware: USBFirmware {
    private let field: any RadioField
    private let behavior: Port400Behavior
    private var session = Port400Session()
    /// Whether the host cannot know yet that its session has ended.
    private var mayMissSession = false

    init(_ field: any RadioField, _ behavior: Port400Behavior, hasOrphan: Bool) {
        self.field = field
        self.behavior = behavior
        session.isOpen = hasOrphan
    }

    package func complete(_ statistics: inout USBChipStatistics) {
        statistics.isFieldOn = session.isFieldOn
    }

    /// Ends the host's session.
    mutating func endSession() {
        session = Port400Session()
        mayMissSession = true
        field.switchOff()
    }

    /// Records a complaint about a command that needs a session, unless the host cannot know that there is none.
    private mutating func missSession(_ complaint: String, _ port: inout USBPort) {
        if !mayMissSession { port.complain(complaint) }
        // 6300 does not tell the host: it may be a transmission error.
        if behavior.statusOutsideSession != 0x6300 { mayMissSession = false }
    }

    package mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        guard let message = Port400HostMessage(transfer) else {
            port.complain("no escape message came from the host")
            return
        }
        let fault = port.begin()
        var sequence = message.sequence
        switch fault {
        case .nothing, .acknowledgeOnly, .dead: return
        case .busy: return port.add(Port400HostMessage.answer(sequence, status: 0x42, error: 0xE0))
        case .errorFrame: return port.add(Port400HostMessage.answer(sequence, status: 0x42, error: 0x05))
        case .sessionTaken: return port.add(Port400HostMessage.answer(sequence, Self.failed(0x698A)))
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
    /// From an RC-S300 with firmware 1.00.
    private static let version: [UInt8] = [
        0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0xFF, 0xFF, 0x04, 0x01, 0xFF, 0xFF, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x00,
    ]

    private mutating func carryOut(_ command: [UInt8], _ port: inout USBPort) -> [UInt8] {
        guard command.count >= 4, command[0] == 0xFF else { return [0x6E, 0x00] }
        let isSession = command[1] == 0x50 || command[1] == 0xC2
        port.count(isSession ? command[3] : command[1])
        switch (isSession ? 0x50 : command[1], command[2], command[3]) {
        case (0x56, 0x00, 0x00): return Self.version + Self.done
        case (0xCA, 0x00, 0x00): return uniqueID()
        case (0x50, 0x00, let function):
            guard let objects = Self.data(of: command) else { return [0x67, 0x00] }
            switch function {
            case 0x00: return manageSession(objects, &port)
            case 0x01: return exchange(objects, &port)
            case 0x02: return switchProtocol(objects, &port)
            default: return [0x6B, 0x00]
            }
        default: return [0x6A, 0x81]
        }
    }

    /// The data of a command with a short or an extended length; Le is ignored.
    private static func data(of command: [UInt8]) -> [UInt8]? {
        guard let short = command.element(at: 4) else { return nil }
        if short > 0 {
            guard command.count == 5 + Int(short) || command.count == 6 + Int(short) else { return nil }
            return Array(command[5..<5 + Int(short)])
        }
        guard let high = command.element(at: 5), let low = command.element(at: 6) else { return nil }
        let length = Int(high) << 8 | Int(low)
        guard command.count >= 7 + length, command.count <= 10 + length else { return nil }
        return Array(command[7..<7 + length])
    }

    private mutating func manageSession(_ objects: [UInt8], _ port: inout USBPort) -> [UInt8] {
        switch objects {
        case [0x81, 0x00]:
            if session.isOpen {
                port.complain("a session began in a session")
                return Self.failed(behavior.statusOfSecondStart)
            }
            session = Port400Session()
            session.isOpen = true
            mayMissSession = false
        case [0x82, 0x00]:
            session = Port400Session()
            field.switchOff()
        case [0x83, 0x00]:
            session.isFieldOn = false
            session.wasFieldOff = true
            session.selectedCard = nil
            field.switchOff()
        case [0x84, 0x00]:
            guard session.isOpen else {
                missSession("the field was switched on without a session", &port)
                return Self.failed(behavior.statusOutsideSession)
            }
            // A selected card is lost even when the field was on.
            if session.isFieldOn { field.switchOff() }
            session.isFieldOn = true
            field.switchOn()
            session.selectedCard = nil
        case let objects where objects.starts(with: [0xFF, 0x6E, 0x03, 0x05, 0x01]) && objects.count == 6:
            guard behavior.speeds.contains(objects[5]) else { return Self.failed(behavior.statusOfUnknownSpeed) }
            session.speed = objects[5]
        default: return Self.failed(0x6A81)
        }
        return Self.well + Self.done
    }

    private mutating func switchProtocol(_ objects: [UInt8], _ port: inout USBPort) -> [UInt8] {
        guard session.isOpen, session.isFieldOn else {
            missSession("a protocol was selected without a session or with the field off", &port)
            return Self.failed(behavior.statusOutsideSession)
        }
        guard objects.starts(with: [0x8F, 0x02]), objects.count == 4 else { return Self.failed(0x6700) }
        guard session.select(Array(objects[2...3])) else { return Self.failed(0x6A81) }
        guard session.selector?.first != 3, behavior.layerThree != .switches else { return Self.well + Self.done }
        let found = session.selector?.first == 0 ? selectTypeA() : selectTypeB()
        guard let found else {
            if behavior.statusWithoutCard == 0x9000 { return Self.well + Self.done }
            return Self.failed(behavior.statusWithoutCard)
        }
        guard behavior.describesCard else { return Self.well + Self.done }
        return Self.well + [0x8F, UInt8(truncatingIfNeeded: found.count)] + found + Self.done
    }

    /// REQA, anticollision and SELECT.
    ///
    /// - Returns: the SAK.
    private mutating func selectTypeA() -> [UInt8]? {
        guard case .found(let card) = TypeAInitiator(send: sendFrame).activate() else { return nil }
        session.selectedCard = card.uid
        return [card.sak]
    }

    /// REQB, and ATTRIB where the reader sends that, too.
    ///
    /// - Returns: the protocol info.
    private mutating func selectTypeB() -> [UInt8]? {
        let initiator = TypeBInitiator(send: sendFrame)
        guard case .found(let card) = initiator.request(applicationFamily: 0x00), let pupi = card.pupi else {
            return nil
        }
        if behavior.layerThree == .selects { _ = initiator.attribute(pupi: pupi, frameSizeIndex: 8, cid: 0) }
        session.selectedCard = pupi
        return card.protocolInfo
    }

    private var sendFrame: FrameExchange {
        { [field] frame, _ in
            switch field.exchange(frame) {
            case .silence: .failed(status: ChipStatus.timeout)
            case .damaged(let status): .failed(status: status)
            case .answer(let answer): .answer(answer)
            }
        }
    }

    private func uniqueID() -> [UInt8] {
        guard let card = session.selectedCard else { return Self.failed(0x6401) }
        return behavior.givesUID ? card + Self.done : [0x6A, 0x81]
    }

    private mutating func exchange(_ objects: [UInt8], _ port: inout USBPort) -> [UInt8] {
        let exchange: Port400Exchange
        do throws(Port400Exchange.StatusError) {
            exchange = try Port400Exchange(objects)
        } catch {
            port.complain("object \(error.object) of an exchange is refused")
            return Self.failed(error.status, object: error.object)
        }
        guard session.isOpen, session.isFieldOn, let frame = session.frame(exchange) else {
            missSession("an exchange without session, field or protocol, or with other flags", &port)
            return Self.failed(
                behavior.statusOutsideSession, object: behavior.blamesFrameOutsideSession ? exchange.frameObject : 1)
        }
        let silent = Self.failed(0x6401, object: exchange.frameObject)
        guard session.wasFieldOff else {
            port.complain("an exchange before the field was off once")
            return silent
        }
        // Too short for any answer.
        guard exchange.microseconds >= 3000 else {
            port.complain("a card is given \(exchange.microseconds) µs")
            return silent
        }
        port.statistics.exchanges += 1
        switch field.exchange(frame) {
        case .silence: return silent
        case .damaged(let status): return damaged(Self.damage(status), exchange)
        case .answer(let answer):
            if answer.thinkingTime > .microseconds(exchange.microseconds) { return silent }
            guard let received = session.received(answer) else { return damaged(0x01, exchange) }
            port.statistics.answeredExchanges += 1
            let bits = UInt8(truncatingIfNeeded: answer.lastByteBits & 0x07)
            let length =
                received.count < 0x80
                ? [UInt8(truncatingIfNeeded: received.count)]
                : [0x82, UInt8(truncatingIfNeeded: received.count >> 8), UInt8(truncatingIfNeeded: received.count)]
            return Self.well + [0x92, 0x01, bits, 0x96, 0x02, 0x00, 0x00, 0x97] + length + received + Self.done
        }
    }

    private func damaged(_ bits: UInt8, _ exchange: Port400Exchange) -> [UInt8] {
        behavior.reportsDamageByStatus
            ? Self.failed(0x6300, object: exchange.frameObject)
            : Self.well + [0x96, 0x02, bits, 0x00] + Self.done
    }

    /// An inner status word other than 9000.
    private static func failed(_ status: UInt16, object: Int = 1) -> [UInt8] {
        let object = UInt8(truncatingIfNeeded: object)
        return [0xC0, 0x03, object, UInt8(truncatingIfNeeded: status >> 8), UInt8(truncatingIfNeeded: status)] + done
    }

    /// The bits of PC/SC part 3 for a PN53x status, as fields report it.
    private static func damage(_ chipStatus: UInt8) -> UInt8 {
        switch chipStatus {
        case 0x02: 0x01
        case 0x06: 0x02
        case 0x03: 0x04
        default: 0x08
        }
    }
}

/// A message of a host to a Port-400, parsed by hand, and the reader's answer to it.
struct Port400HostMessage: Sendable {
    let sequence: UInt8
    let command: [UInt8]

    /// `6B`, four bytes of length, least significant first, slot 0, a number, three bytes; `nil` for anything else.
    init?(_ transfer: [UInt8]) {
        guard transfer.count >= 10, transfer[0] == 0x6B, transfer[5] == 0 else { return nil }
        let length = transfer[1...4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length == transfer.count - 10 else { return nil }
        sequence = transfer[6]
        command = Array(transfer[10...])
    }

    /// Encodes an answer.
    ///
    /// - Parameter status: 00 done, 40 failed, 80 more time; and 02: no card with contacts, as always.
    static func answer(_ sequence: UInt8, status: UInt8 = 0x02, error: UInt8 = 0x00, _ data: [UInt8] = []) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: data.count >> ($0 * 8)) }
        return [0x83] + length + [0x00, sequence, status, error, 0x00] + data
    }
}
