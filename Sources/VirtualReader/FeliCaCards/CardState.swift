// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NFCTransport

/// All that a virtual card remembers, and what it does with a packet.
///
/// Each command reads its parameters in order; when they end too early the card keeps silent, which is what
/// `ByteCodecError` means here.
struct CardState {
    var profile: CardProfile
    var lite: LiteMemory?
    private var standardSystems: [VirtualSystem]
    /// Which system is addressed now.
    private var current = 0
    /// Where the time slots of Polling answers come from: the same for the same card.
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

    /// The system that is addressed now.
    var system: VirtualSystem? {
        systems.element(at: current) ?? systems.first
    }

    /// Changes the blocks of the addressed system.
    mutating func store(_ memory: [UInt16: BlockStore]) {
        guard standardSystems.indices.contains(current) else { return }
        standardSystems[current].memory = memory
    }

    mutating func renumber(_ number: UInt64) {
        for index in standardSystems.indices {
            let own = standardSystems[index].idm.systemNumber
            standardSystems[index].idm = IDm(rawValue: number).inSystem(own)
        }
    }

    mutating func losePower() {
        current = 0
        lite?.losePower()
    }

    mutating func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        guard profile.bitRates.contains(bitRate), frame.count <= 255, let length = frame.element(at: 0),
            Int(length) == frame.count, let code = frame.element(at: 1).flatMap(CommandCode.init(rawValue:)),
            profile.commands.contains(code)
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

    /// Makes the system with this IDm the addressed one, staying in it when it has that IDm already.
    mutating func select(_ idm: UInt64) -> Bool {
        if system?.idm.rawValue == idm { return true }
        guard let place = systems.firstIndex(where: { $0.idm.rawValue == idm }) else { return false }
        current = place
        return true
    }

    /// Makes the system at `place` the addressed one.
    mutating func select(place: Int) {
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
        case .requestResponse: Reply([0x00])
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
