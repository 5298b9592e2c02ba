// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import Kazasu

/// A card as PC/SC programs see it: its ATR, and its answers to their APDUs.
///
/// A card in ISO-DEP gets the APDUs as they are. FeliCa cards and Type 2 Tags have none: for them, and for the number of
/// any card, there are the commands of PC/SC part 3 with class FF.
struct BridgedCard: Sendable {
    /// A status word that the bridge itself answers.
    enum Status {
        static let done: [UInt8] = [0x90, 0x00]
        /// The card did not answer.
        static let noAnswer: [UInt8] = [0x6F, 0x00]
        /// The reader cannot carry the command or its answer.
        static let wrongLength: [UInt8] = [0x67, 0x00]
        static let conditionsNotSatisfied: [UInt8] = [0x69, 0x85]
        static let functionNotSupported: [UInt8] = [0x6A, 0x81]
        static let notFound: [UInt8] = [0x6A, 0x82]
        static let classNotSupported: [UInt8] = [0x6E, 0x00]
        /// The card did not answer a command of PC/SC part 3.
        static let noInformation: [UInt8] = [0x63, 0x00]
    }

    let picc: PICC
    private let limits: APDULimits
    /// Whether commands that can lock a PIN are refused when one try is left.
    private let guardsPINs: Bool
    /// The FeliCa service that the last `FF A4` selected.
    private var service: ServiceCode?

    /// How long a card in ISO-DEP may take; one that needs longer asks for more time itself.
    private static let longestAnswerTime = ISO7816Session.usualTimeout

    init(_ picc: PICC, on reader: ReaderInformation, guardsPINs: Bool) {
        (self.picc, self.guardsPINs) = (picc, guardsPINs)
        limits = APDULimits(reader)
    }

    /// The card was selected again.
    mutating func reset() { service = nil }

    // MARK: ATR

    /// The ATR by PC/SC part 3 §3.1.3.
    var answerToReset: [UInt8] {
        switch picc {
        case .felica: Self.atr(ofMemory: 0x11, name: 0x003B)
        case .typeA(let target) where !target.isISODEP:
            Self.atr(ofMemory: 0x03, name: Self.memoryName(sak: target.sak ?? 0))
        case .typeA(let target): Self.atr(historical: Self.historicalBytes(ats: target.ats ?? []))
        case .typeB(let target):
            // The application data and the protocol info of the ATQB, and the MBLI of the answer to ATTRIB, which is
            // not known here.
            Self.atr(
                historical: Self.padded(target.applicationData, 4) + Self.padded(target.protocolInfo, 3) + [0x00])
        }
    }

    /// T=0 and T=1, then the historical bytes and the check byte.
    private static func atr(historical: some Collection<UInt8>) -> [UInt8] {
        let historical = historical.prefix(15)
        let bytes = [0x80 | UInt8(historical.count), 0x80, 0x01] + historical
        return [0x3B] + bytes + [bytes.reduce(0, ^)]
    }

    /// The identifier of the PC/SC workgroup, the standard and the name of the card.
    private static func atr(ofMemory standard: UInt8, name: UInt16) -> [UInt8] {
        atr(
            historical: [
                0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, standard, UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0,
                0,
            ])
    }

    /// The name of a memory card of type A (PC/SC part 3 supplement, `NN`).
    private static func memoryName(sak: UInt8) -> UInt16 {
        switch sak {
        case 0x08: 0x0001
        case 0x18: 0x0002
        case 0x09: 0x0026
        default: 0x0003
        }
    }

    private static func padded(_ bytes: [UInt8]?, _ count: Int) -> [UInt8] {
        let bytes = bytes ?? []
        return Array((bytes + [UInt8](repeating: 0, count: count)).prefix(count))
    }

    /// The bytes of an ATS after TL, T0 and the interface bytes that T0 names (ISO/IEC 14443-4 §5.2).
    private static func historicalBytes(ats: [UInt8]) -> ArraySlice<UInt8> {
        guard let length = ats.first, let format = ats.element(at: 1) else { return [] }
        let interface = [0x10, 0x20, 0x40].count { format & $0 != 0 }
        return ats.prefix(Int(length)).dropFirst(2 + interface)
    }

    // MARK: APDUs

    /// Answers an APDU.
    ///
    /// - Parameter channel: the reader with this card selected.
    /// - Returns: the response APDU, two bytes at least.
    /// - Throws: ``TransportError`` if the reader failed or was cancelled, or the card may have left.
    mutating func answer(_ apdu: [UInt8], over channel: any CardChannel) throws(TransportError) -> Answer {
        guard apdu.count >= 4 else { return Answer(Status.wrongLength) }
        if apdu[0] == 0xFF { return try pseudo(apdu, channel) }
        guard picc.isISODEP else { return Answer(Status.classNotSupported) }
        if guardsPINs, try !isSafe(apdu, channel) { return Answer(Status.conditionsNotSatisfied) }
        return try pass(apdu, channel)
    }

    struct Answer {
        var apdu: [UInt8]
        /// Whether the card did not answer, so that it may have left.
        var isMissing = false

        init(_ apdu: [UInt8], isMissing: Bool = false) { (self.apdu, self.isMissing) = (apdu, isMissing) }
    }

    private func pass(_ apdu: [UInt8], _ channel: any CardChannel) throws(TransportError) -> Answer {
        let command = try? CommandAPDU(decoding: apdu)
        let expected = min(command?.ne ?? 0, 0x10000) + 2
        if apdu.count <= limits.longestCommand, expected <= max(limits.longestResponse, 258) {
            return try Self.exchange(channel) { channel throws(TransportError) in
                try channel.transceive(apdu, timeout: Self.longestAnswerTime)
            }
        }
        // The reader is too small for it: the card may take it in parts.
        guard var command, !command.ins.needsGuard else { return Answer(Status.wrongLength) }
        let wasExtended = command.ne > 0x100
        command.lengthForm = .automatic
        command.ne = min(command.ne, 0x100)
        var short = limits
        short.allowsExtended = false
        let session = ISO7816Session(channel: channel, limits: short, timeout: Self.longestAnswerTime) { true }
        do throws(ISO7816Error) {
            let response = try session.transmit(command)
            // A card that does not offer the rest may have more, which the program would never learn.
            if wasExtended, response.data.count == 0x100, response.status == .success {
                return Answer(Status.wrongLength)
            }
            return Answer(response.encoded())
        } catch .transport(let error) {
            return try Self.answer(to: error)
        } catch {
            return Answer(Status.wrongLength)
        }
    }

    /// The bridge's answer where there is none of the card.
    private static func answer(to error: TransportError) throws(TransportError) -> Answer {
        switch error {
        case .frameTooLong, .answerTooLong, .unsupported: Answer(Status.wrongLength)
        case .noAnswer, .corrupted, .cardReleased, .cardTooSlow: Answer(Status.noAnswer, isMissing: true)
        default: throw error
        }
    }

    private static func exchange(
        _ channel: any CardChannel, _ body: (any CardChannel) throws(TransportError) -> [UInt8]
    ) throws(TransportError) -> Answer {
        do throws(TransportError) {
            let apdu = try body(channel)
            return apdu.count >= 2 ? Answer(apdu) : Answer(Status.noAnswer, isMissing: true)
        } catch {
            return try answer(to: error)
        }
    }

    /// Whether a command cannot lock a PIN: it is not for a PIN, or the card says that more than one try is left.
    private func isSafe(_ apdu: [UInt8], _ channel: any CardChannel) throws(TransportError) -> Bool {
        let (cla, instruction) = (ClassByte(rawValue: apdu[0]), Instruction(rawValue: apdu[1]))
        guard instruction.needsGuard || cla.maySmuggle(instruction) else { return true }
        // Without data it asks for the tries itself.
        if instruction == .verify, apdu.count <= 5, apdu.element(at: 4) ?? 0 == 0 { return true }
        guard cla.isInterindustry, !cla.isChaining, instruction.usesTries else { return false }
        let query = [apdu[0], Instruction.verify.rawValue, 0x00, apdu[3]]
        let answer = try Self.exchange(channel) { channel throws(TransportError) in
            try channel.transceive(query, timeout: Self.longestAnswerTime)
        }
        guard let response = ResponseAPDU(decoding: answer.apdu), response.data.isEmpty else { return false }
        switch TriesLeft(query: response.status) {
        case .count(let count): return count > 1
        case .notNeeded: return true
        default: return false
        }
    }

    // MARK: Commands of PC/SC part 3

    private mutating func pseudo(_ apdu: [UInt8], _ channel: any CardChannel) throws(TransportError) -> Answer {
        guard let command = try? CommandAPDU(decoding: apdu) else { return Answer(Status.wrongLength) }
        switch (command.ins.rawValue, command.p1, command.p2) {
        case (0xCA, 0x00, 0x00): return Self.give(number, command.ne)
        case (0xCA, 0x01, 0x00): return Self.give(detail, command.ne)
        case (0xA4, 0x00, 0x01): return select(command.data)
        case (0xB0, _, _): return try read(UInt16(command.p1) << 8 | UInt16(command.p2), command.ne, channel)
        case (0xD6, 0x00, let page): return try write(page, command.data, channel)
        case (0x00, 0x00, 0x00): return try direct(command.data, channel)
        default: return Answer(Status.functionNotSupported)
        }
    }

    /// What identifies the card: the UID, the IDm or the PUPI.
    private var number: [UInt8]? {
        switch picc {
        case .felica(let target): target.idm.bytes
        case .typeA(let target): target.uid
        case .typeB(let target): target.pupi
        }
    }

    /// The historical bytes; of a FeliCa card the PMm, as Sony's readers give it.
    private var detail: [UInt8]? {
        switch picc {
        case .felica(let target): target.pmm.bytes
        case .typeA(let target) where target.isISODEP: Array(Self.historicalBytes(ats: target.ats ?? []))
        default: nil
        }
    }

    /// Answers with data of this length, which a program may ask for exactly.
    private static func give(_ data: [UInt8]?, _ expected: Int) -> Answer {
        guard let data else { return Answer(Status.functionNotSupported) }
        switch expected {
        case 0, 0x100, data.count, 0x10000: return Answer(data + Status.done)
        case ..<data.count: return Answer([0x6C, UInt8(truncatingIfNeeded: data.count)])
        // PC/SC part 3: the end of the data came before Le.
        default: return Answer(data + [0x62, 0x82])
        }
    }

    /// Sony's SELECT FILE: the service, two bytes, little-endian.
    private mutating func select(_ data: [UInt8]) -> Answer {
        guard case .felica = picc else { return Answer(Status.functionNotSupported) }
        guard data.count == 2 else { return Answer(Status.wrongLength) }
        service = ServiceCode(rawValue: UInt16(data[1]) << 8 | UInt16(data[0]))
        return Answer(Status.done)
    }

    private func read(_ number: UInt16, _ expected: Int, _ channel: any CardChannel) throws(TransportError) -> Answer {
        switch picc {
        case .felica(let target):
            guard let service else { return Answer(Status.conditionsNotSatisfied) }
            // Read Without Encryption of one block, with a list element of two or three bytes.
            let element: [UInt8] =
                number < 0x100 ? [0x80, UInt8(number)] : [0x00, UInt8(number & 0xFF), UInt8(number >> 8)]
            let list = [0x01, UInt8(service.rawValue & 0xFF), UInt8(service.rawValue >> 8), 0x01] + element
            let packet = [0x06] + target.idm.bytes + list
            return try answer(channel, [UInt8(packet.count + 1)] + packet) { answer in
                guard answer.count >= 12, answer[1] == 0x07 else { return nil }
                guard answer[10] == 0, answer.count == 29 else { return Answer(Status.notFound) }
                return Self.give(Array(answer[13...]), expected)
            }
        case .typeA(let target) where Type2Tag.mayBe(target):
            guard number < 0x100 else { return Answer(Status.notFound) }
            return try answer(channel, [0x30, UInt8(number)]) { answer in
                guard answer.count == 16 else { return Answer(Status.notFound) }
                return Answer((expected == 0 ? answer : Array(answer.prefix(expected))) + Status.done)
            }
        default: return Answer(Status.functionNotSupported)
        }
    }

    private func write(_ page: UInt8, _ data: [UInt8], _ channel: any CardChannel) throws(TransportError) -> Answer {
        guard case .typeA(let target) = picc, Type2Tag.mayBe(target) else { return Answer(Status.functionNotSupported) }
        guard data.count == 4 else { return Answer(Status.wrongLength) }
        return try answer(channel, [0xA2, page] + data) { answer in
            answer == [0x0A] ? Answer(Status.done) : Answer(Status.notFound)
        }
    }

    /// `FF 00 00 00 Lc frame`, as ACS readers have it: a packet of FeliCa, or a command of a Type 2 Tag.
    private func direct(_ frame: [UInt8], _ channel: any CardChannel) throws(TransportError) -> Answer {
        guard !picc.isISODEP else { return Answer(Status.functionNotSupported) }
        guard !frame.isEmpty else { return Answer(Status.wrongLength) }
        return try answer(channel, frame) { Answer($0 + Status.done) }
    }

    /// Sends a frame of a memory card.
    private func answer(
        _ channel: any CardChannel, _ frame: [UInt8], _ read: ([UInt8]) -> Answer?
    ) throws(TransportError) -> Answer {
        do throws(TransportError) {
            let answer = try channel.transceive(frame, timeout: .milliseconds(500))
            return read(answer) ?? Answer(Status.noInformation, isMissing: true)
        } catch {
            switch error {
            case .noAnswer, .corrupted, .cardReleased: return Answer(Status.noInformation, isMissing: true)
            default: return try Self.answer(to: error)
            }
        }
    }
}

extension Instruction {
    /// Whether VERIFY with the same reference tells how many tries are left.
    fileprivate var usesTries: Bool {
        [.verify, .changeReferenceData, .disableVerification, .enableVerification].contains(self)
    }
}
