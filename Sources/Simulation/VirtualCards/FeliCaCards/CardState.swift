// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ReaderCore

/// The state of a virtual card, and its handling of a packet.
///
/// Each command reads its parameters in order; when they end too early the card does not answer, which is the meaning
/// of `ByteCodecError` here.
struct CardState {
    var profile: CardProfile
    var lite: LiteMemory?
    private var standardSystems: [VirtualSystem]
    /// The index of the addressed system.
    private var current = 0
    /// The mutual authentication or session; `nil` in mode 0.
    var secure: SecureMode?
    /// The system as it was before the first issuing command that is not made permanent yet.
    var unissued: VirtualSystem?
    /// The random numbers of mutual authentication.
    var random = CardRandom()
    /// The source of the time slots of Polling answers: the same for the same card.
    var slots: SplitMix64

    init(systems: [VirtualSystem], profile: CardProfile) {
        self.profile = profile
        standardSystems = systems
        slots = SplitMix64(seed: systems.first?.idm.rawValue ?? 0)
    }

    init(lite: LiteMemory, profile: CardProfile) {
        self.profile = profile
        self.lite = lite
        standardSystems = []
        slots = SplitMix64(seed: lite.idm.rawValue)
    }

    /// The systems that answer a Polling, in the card's order.
    var systems: [VirtualSystem] {
        guard let lite else { return standardSystems }
        let codes: [SystemCode] = lite.answersNDEF ? [.lite, .ndef] : [.lite]
        return codes.map { VirtualSystem(code: $0, idm: lite.idm, pmm: lite.pmm) }
    }

    /// The addressed system.
    var system: VirtualSystem? {
        systems.element(at: current) ?? systems.first
    }

    /// Changes the blocks of the addressed system.
    mutating func store(_ memory: [UInt16: BlockStore]) {
        guard standardSystems.indices.contains(current) else { return }
        standardSystems[current].memory = memory
    }

    /// Replaces the addressed system.
    mutating func store(_ system: VirtualSystem) {
        guard standardSystems.indices.contains(current) else { return }
        standardSystems[current] = system
    }

    mutating func renumber(_ number: UInt64) {
        for index in standardSystems.indices {
            let own = standardSystems[index].idm.systemNumber
            standardSystems[index].idm = IDm(rawValue: number).inSystem(own)
        }
        slots = SplitMix64(seed: number)
    }

    mutating func losePower() {
        if let unissued, !profile.keepsUncommittedNodes { store(unissued) }
        unissued = nil
        current = 0
        secure = nil
        if let idm = systems.first?.idm, let number = profile.oddities.losePower(idm) { renumber(number) }
        lite?.losePower()
    }

    mutating func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        switch profile.oddities.receive(frame) {
        case .ignored: return nil
        case .answered(let answer): return CardAnswer(answer, thinkingTime: .zero)
        case .handled(let frame):
            guard var answer = usualAnswer(frame, at: bitRate) else { return nil }
            answer.frame = profile.oddities.send(answer.frame, to: frame)
            return answer
        }
    }

    /// The answer without ``FeliCaOddities``.
    private mutating func usualAnswer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        guard profile.bitRates.contains(bitRate), frame.count <= 255, let length = frame.element(at: 0),
            Int(length) == frame.count
        else { return nil }
        if let command = frame.element(at: 1).flatMap(SecureCommand.init), !profile.isMute {
            guard let reply = secureAnswer(command, frame), let answer = reply.frame(for: command.rawValue) else {
                return nil
            }
            let pmm = system?.pmm ?? PMm(rawValue: 0)
            let longest = ResponseTime.maximum(pmm, byte: command.responseTimeByte, units: reply.units)
            return CardAnswer(answer, thinkingTime: longest * profile.answerTimePercent / 100)
        }
        guard let code = frame.element(at: 1).flatMap(CommandCode.init(rawValue:)),
            profile.commands.contains(code), !profile.isMute || code == .polling
        else { return nil }
        var next = self
        var parameters = ByteReader(frame[2...])
        guard let reply = try? next.reply(to: code, &parameters),
            parameters.remaining == 0 || !profile.strictCommands.contains(code),
            let answer = reply.frame(for: code)
        else { return nil }
        self = next
        return CardAnswer(answer, thinkingTime: thinkingTime(code, reply))
    }

    /// Addresses the system with this IDm, staying in the current one when it has that IDm already.
    mutating func select(_ idm: UInt64) -> Bool {
        if system?.idm.rawValue == idm { return true }
        guard let place = systems.firstIndex(where: { $0.idm.rawValue == idm }) else { return false }
        select(place: place)
        return true
    }

    /// Addresses the system at `place`.
    mutating func select(place: Int) {
        if place != current { secure = nil }
        current = place
    }

    private func thinkingTime(_ code: CommandCode, _ reply: Reply) -> Duration {
        if code == .polling { return ResponseTime.polling(slot: reply.units) }
        let pmm = system?.pmm ?? PMm(rawValue: 0)
        let longest = ResponseTime.maximum(pmm, byte: code.responseTimeByte, units: reply.units)
        return longest * profile.answerTimePercent / 100
    }

    private mutating func reply(
        to code: CommandCode, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        guard code.carriesIDm else {
            return switch code {
            case .polling: try polling(&parameters)
            case .echo: try echo(&parameters)
            case .getContainerID: try containerID(&parameters)
            case .getContainerProperty: try containerProperty(&parameters)
            default: nil
            }
        }
        guard select(try parameters.readUInt64(.big)), let system else { return nil }
        var reply = try reply(to: code, in: system, &parameters)
        reply?.idm = system.idm
        return reply
    }

    private mutating func reply(
        to code: CommandCode, in system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        switch code {
        case .requestService: try requestService(system, &parameters)
        case .requestServiceV2: try requestServiceV2(system, &parameters)
        case .requestResponse: Reply([secure == nil ? 0 : secure?.number == nil ? 1 : 2])
        case .readWithoutEncryption where secure != nil: nil
        case .writeWithoutEncryption where secure != nil: nil
        case .readWithoutEncryption: try readWithoutEncryption(system, &parameters)
        case .writeWithoutEncryption: try writeWithoutEncryption(system, &parameters)
        case .searchServiceCode: try searchServiceCode(system, &parameters)
        case .requestSystemCode: requestSystemCode()
        case .requestCodeList: try requestCodeList(system, &parameters)
        case .requestBlockInformation: try requestBlockInformation(system, &parameters)
        case .requestBlockInformationEx: try requestBlockInformationEx(system, &parameters)
        case .getAreaInformation: try getAreaInformation(system, &parameters)
        case .getNodeProperty: try getNodeProperty(system, &parameters)
        case .getContainerIssueInformation: try productData(profile.product.containerIssue, &parameters, flags: false)
        case .getSystemStatus: try productData(profile.product.systemStatus, &parameters)
        case .requestSpecificationVersion: try productData(profile.product.specificationVersion, &parameters)
        case .requestProductInformation: productInformation()
        case .resetMode: try resetMode(&parameters)
        case .polling, .echo, .getContainerID, .getContainerProperty: nil
        }
    }
}

/// The result of a command, before it is encoded as a packet.
struct Reply {
    /// The IDm after the response code; `nil` for the commands without one.
    var idm: IDm?
    /// The data after it.
    var payload: [UInt8]
    /// Whether the payload is the packet itself.
    var isWhole = false
    /// The number of nodes or blocks processed, for the PMm's time; the time slot of a Polling.
    var units: Int

    init(_ payload: [UInt8], units: Int = 0) {
        self.payload = payload
        self.units = units
    }

    /// A packet that is complete, LEN first.
    init(whole frame: [UInt8], units: Int = 0) {
        self.init(frame, units: units)
        isWhole = true
    }

    /// The same with the IDm of a system.
    func from(_ idm: IDm) -> Reply {
        var reply = self
        reply.idm = idm
        return reply
    }

    /// The packet with its LEN byte; `nil` when it exceeds the range of LEN.
    func frame(for code: CommandCode) -> [UInt8]? { frame(for: code.rawValue) }

    /// The packet in answer to a command with this code.
    func frame(for code: UInt8) -> [UInt8]? {
        if isWhole { return payload }
        let responseCode = code == CommandCode.echo.rawValue ? code : code &+ 1
        let body = [responseCode] + (idm?.bytes ?? []) + payload
        return UInt8(exactly: body.count + 1).map { [$0] + body }
    }
}

/// A refusal: no answer, or status flag 2 and the place in the list that it belongs to, if any.
enum StatusError: Error {
    case silence
    /// Both flags, unchanged.
    case literal(UInt16)
    /// Status flag 2 and the place, counted from 0; `nil` when the error belongs to none.
    case coded(UInt8, place: Int?)

    init(_ code: UInt8, at place: Int? = nil) {
        self = .coded(code, place: place)
    }

    /// The same at a place in a list.
    func at(_ place: Int) -> StatusError {
        if case .coded(let code, _) = self { .coded(code, place: place) } else { self }
    }

    /// Status flags 1 and 2; `nil` for no answer.
    func flags(_ style: StatusStyle) -> [UInt8]? {
        switch self {
        case .silence: nil
        case .literal(let flags): [UInt8(truncatingIfNeeded: flags >> 8), UInt8(truncatingIfNeeded: flags)]
        case .coded(let code, let place): [place.map(style.flag) ?? 0xFF, code]
        }
    }
}

/// A service's answer to every read and write.
package enum InjectedRefusal: Hashable, Sendable {
    /// No answer.
    case silence
    /// Status flags 1 and 2, as one four-digit number.
    case status(UInt16)
}

/// The values of status flag 2; the codes are those of the FeliCa documents.
enum StatusCode {
    static let purseOutOfRange: UInt8 = 0x01
    static let cashbackTooLarge: UInt8 = 0x02
    static let worn: UInt8 = 0x71
    static let serviceCount: UInt8 = 0xA1
    static let serviceIndex: UInt8 = 0xA3
    static let notAService: UInt8 = 0xA4
    static let refused: UInt8 = 0xA5
    static let nodeAbsent: UInt8 = 0xA6
    static let accessMode: UInt8 = 0xA7
    static let blockNumber: UInt8 = 0xA8
    static let keyChange: UInt8 = 0xAA
    static let tooManyCyclic: UInt8 = 0xAF
    static let twoMACs: UInt8 = 0xB0
    static let authenticationNeeded: UInt8 = 0xB1
    static let macNeeded: UInt8 = 0xB2
    static let writeFailed: UInt8 = 0xA9
    static let packageMAC: UInt8 = 0xAB
    static let parameter: UInt8 = 0xAC
    static let exists: UInt8 = 0xAD
    static let systemCode: UInt8 = 0xAE
    static let otherCode: UInt8 = 0xC1
    static let disabled: UInt8 = 0xC2
    static let attribute: UInt8 = 0xC3
    static let rootArea: UInt8 = 0xE0
    static let notAnArea: UInt8 = 0xE2
    static let noAreaInformation: UInt8 = 0xE7
}

/// How status flag 1 identifies the place in a list that an error belongs to; the raw values are those of card files.
///
/// Source: the unofficial user's manual (ordinal, bitmap) and felica-tool (a third kind that never identifies it).
package enum StatusStyle: String, Hashable, Sendable, CaseIterable {
    /// The place counted from 1: the tenth element is 0A.
    case ordinal
    /// A separate bit for each of eight places, used again for the next eight: the tenth element is 02.
    case bitmap
    /// Always FF.
    case always255

    /// Status flag 1 for the element at `place`, counted from 0.
    func flag(at place: Int) -> UInt8 {
        switch self {
        case .ordinal: UInt8(clamping: place + 1)
        case .bitmap: 1 << UInt8(truncatingIfNeeded: place & 7)
        case .always255: 0xFF
        }
    }
}

extension CardState {
    /// Polling: the first system with a matching code, FF matching any byte, answers and becomes the addressed one.
    package mutating func polling(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let wanted = try parameters.readUInt16(.big)
        let requestCode = try parameters.readUInt8()
        let slotMask = try parameters.readUInt8()
        guard requestCode <= 2, [0x00, 0x01, 0x03, 0x07, 0x0F].contains(slotMask),
            let place = systems.firstIndex(where: { CardState.matches($0.code.rawValue, wanted) }),
            let system = systems.element(at: place), secure == nil || place != current
        else { return nil }
        select(place: place)
        var answer = ByteWriter(system.idm.bytes + system.pmm.bytes)
        if profile.requestCodes.contains(requestCode) {
            switch requestCode {
            case 1: answer.write(system.code.rawValue, .big)
            case 2: answer.write(communicationPerformance, .big)
            default: break
            }
        }
        return Reply(answer.bytes, units: Int(slots.next() & UInt64(slotMask)))
    }

    private static func matches(_ code: UInt16, _ wanted: UInt16) -> Bool {
        (wanted >> 8 == 0xFF || wanted >> 8 == code >> 8) && (wanted & 0xFF == 0xFF || wanted & 0xFF == code & 0xFF)
    }

    /// The answer to request code 2: bit 0 is 212 kbit/s, bit 1 is 424, bit 7 that the card detects the speed by
    /// itself.
    private var communicationPerformance: UInt16 {
        profile.bitRates.contains(.kbps424) ? profile.bitRates.contains(.kbps212) ? 0x0083 : 0x0082 : 0x0081
    }
}

/// The commands that identify the card.
extension CardState {
    /// Handles the commands with two reserved bytes and an answer from the card file.
    func productData(
        _ data: [UInt8]?, _ parameters: inout ByteReader, flags: Bool = true
    ) throws(ByteCodecError) -> Reply? {
        _ = try parameters.readUInt16(.little)
        return data.map { Reply((flags ? [0, 0] : []) + $0) }
    }

    /// Request Product Information.
    func productInformation() -> Reply? {
        guard let data = profile.product.productInformation, let length = UInt8(exactly: data.count) else { return nil }
        return Reply([0, 0, length] + data)
    }

    /// Reset Mode: back to mode 0.
    mutating func resetMode(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        _ = try parameters.readUInt16(.little)
        secure = nil
        return Reply([0, 0])
    }

    /// Get Container ID: two reserved bytes, no IDm.
    func containerID(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        _ = try parameters.readUInt16(.little)
        return profile.product.containerID.map { Reply($0) }
    }

    /// Get Container Property: an index, no IDm.
    func containerProperty(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let index = try parameters.readUInt16(.little)
        return profile.product.containerProperties[index].map { Reply($0) }
    }

    /// Echo: the second byte of its code is 00; the data after it is returned unchanged.
    func echo(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        guard try parameters.readUInt8() == 0x00 else { return nil }
        let data = parameters.readRest()
        return data.count <= profile.echoLimit ? Reply([0x00] + data) : nil
    }
}
