// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardModel

/// The commands of mutual authentication, which only systems with keys answer.
enum SecureCommand: UInt8 {
    case authentication1 = 0x10
    case authentication2 = 0x12
    case read = 0x14
    case write = 0x16
    case authentication1V2 = 0x40
    case authentication2V2 = 0x42
    case readV2 = 0x44
    case writeV2 = 0x46
    case registerIssueID = 0x80
    case registerArea = 0x82
    case registerService = 0x84
    case changeSystemBlock = 0x8E

    var scheme: StandardScheme {
        switch self {
        case .authentication1, .authentication2, .read, .write, .registerIssueID, .registerArea, .registerService,
            .changeSystemBlock:
            .des
        case .authentication1V2, .authentication2V2, .readV2, .writeV2: .aes
        }
    }

    /// The byte of the PMm with the longest time of an answer.
    var responseTimeByte: Int {
        switch self {
        case .authentication1, .authentication2, .authentication1V2, .authentication2V2: 4
        case .read, .readV2: 5
        case .write, .writeV2: 6
        case .registerIssueID, .registerArea, .registerService, .changeSystemBlock: 7
        }
    }

    /// Whether it is a secure message, of an open session.
    var isMessage: Bool { responseTimeByte > 4 }
}

/// FeliCa Standard with keys, written by hand from the unofficial user's manual.
///
/// The lists of nodes are checked more strictly than by some cards: areas from the root to the innermost one, every
/// listed service in it, and none left out.
extension CardState {
    /// The answer to a command of mutual authentication.
    mutating func secureAnswer(_ command: SecureCommand, _ frame: [UInt8]) -> Reply? {
        var parameters = ByteReader(frame[2...])
        var next = self
        let reply = try? next.secureReply(command, &parameters, frame)
        guard let reply, parameters.remaining == 0 || command.isMessage else { return nil }
        self = next
        return reply
    }

    private mutating func secureReply(
        _ command: SecureCommand, _ parameters: inout ByteReader, _ frame: [UInt8]
    ) throws(ByteCodecError) -> Reply? {
        switch command {
        case .read, .readV2, .write, .writeV2, .registerIssueID, .registerArea, .registerService, .changeSystemBlock:
            return message(command, frame)
        case .authentication1, .authentication1V2:
            guard select(try parameters.readUInt64(.big)), let system else { return nil }
            if lite?.kind == .liteS, command == .authentication1 {
                _ = parameters.readRest()
                return Reply([UInt8](repeating: 0, count: 16)).from(system.idm)
            }
            guard let keys = system.keys else { return nil }
            let reply =
                try command == .authentication1
                ? desChallenge(system, keys, &parameters) : aesChallenge(system, keys, &parameters)
            return reply?.from(system.idm)
        case .authentication2, .authentication2V2:
            // Another IDm would be that of another system, which is in mode 0.
            guard select(try parameters.readUInt64(.big)), let system, let keys = system.keys, var mode = secure,
                mode.scheme == command.scheme,
                Array(try parameters.readBytes(mode.proof.count)) == mode.proof
            else { return nil }
            let number = random.firstNumber
            mode.number = number
            guard let frame = mode.frame(keys.issueID + keys.issueParameter, code: command.rawValue + 1, number: number)
            else { return nil }
            secure = mode
            return Reply(whole: frame)
        }
    }

    /// Authentication1 of DES: counts and codes of areas and services, and the reader's challenge.
    private mutating func desChallenge(
        _ system: VirtualSystem, _ keys: VirtualKeys, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        guard let areas = try CardState.nodeList(&parameters, allowed: 1...8),
            let services = try CardState.nodeList(&parameters, allowed: 1...8), let systemKey = keys.des[0xFFFF],
            isPath(areas, of: services, in: system)
        else { return nil }
        let challenge = try parameters.readUInt64(.big)
        var layers: [UInt64] = []
        for node in areas + services where !isOpen(node) {
            guard let key = keys.des[node] else { return nil }
            layers.append(UInt64(block: key))
        }
        guard services.contains(where: { !isOpen($0) }) else { return nil }
        let start = UInt64(block: systemKey)
        let group = layers.prefix(areas.count).reduce(start) { CardDES.encrypt($1, $0) }
        let user = layers.dropFirst(areas.count).reduce(group) { CardDES.encrypt($1, $0) }
        let link = group ^ system.idm.rawValue
        let alpha = CardDES.encrypt(link, user)
        let beta = CardDES.encrypt(alpha, link)
        let readers = CardDES.decrypt(alpha, link, challenge)
        let own = random.bytes(8)
        secure = SecureMode(
            scheme: .des, nodes: services, proof: CardDES.encrypt(alpha, link, UInt64(block: own)).block, key: own,
            transaction: Array(readers.block[2...]), nonce: [])
        return Reply(
            CardDES.encrypt(link, beta, readers).block + CardDES.encrypt(link, beta, UInt64(block: own)).block,
            units: areas.count + services.count)
    }

    /// Authentication1 v2: the operation parameter, count and codes of nodes, and the reader's challenge.
    private mutating func aesChallenge(
        _ system: VirtualSystem, _ keys: VirtualKeys, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        guard try parameters.readUInt8() == 0, let nodes = try CardState.nodeList(&parameters, allowed: 1...16),
            nodes.contains(where: { !isOpen($0) }),
            nodes.allSatisfy({ system.keyVersion(of: $0) != nil })
        else { return nil }
        let challenge = Array(try parameters.readBytes(16))
        var value = [1, 1] + [UInt8](repeating: 0, count: 13) + [0x80]
        for node in nodes where !isOpen(node) {
            guard let key = keys.aes[node], let next = CardAES.encrypt(key, value) else { return nil }
            value = next
        }
        let group = zip(value, keys.individual).map { $0 ^ $1 }
        let tail = [0, 0, 0, 0] + system.idm.bytes + [1, 0]
        let nonce = random.bytes(4)
        let own = random.bytes(16)
        guard let alpha = CardAES.encrypt(group, [1, 2] + tail), var beta = CardAES.encrypt(group, [2, 2] + tail) else {
            return nil
        }
        for index in 0..<4 { beta[index] ^= nonce[index] }
        let rest = [3] + [UInt8](repeating: 0, count: 12) + [1, 0]
        guard let readers = CardAES.decrypt(alpha, challenge), let proof = CardAES.encrypt(alpha, own),
            let encryption = CardAES.encrypt(own, [1] + rest), let mac = CardAES.encrypt(own, [2] + rest),
            let first = CardAES.encrypt(beta, readers), let second = CardAES.encrypt(beta, own)
        else { return nil }
        secure = SecureMode(
            scheme: .aes, nodes: nodes, proof: proof, key: encryption + mac, transaction: Array(readers[2..<8]),
            nonce: Array(nonce[1...]))
        return Reply(first + second + nonce, units: nodes.count)
    }

    /// Whether a node adds nothing to the keys: a service that needs none.
    private func isOpen(_ node: UInt16) -> Bool {
        let service = ServiceCode(rawValue: node)
        return service.kind != nil && !service.requiresAuthentication
    }

    /// Whether the areas lead from the root to the innermost area around every one of the services.
    private func isPath(_ areas: [UInt16], of services: [UInt16], in system: VirtualSystem) -> Bool {
        let listed = areas.compactMap { system.node($0) }
        guard listed.count == areas.count, listed.allSatisfy(\.isArea), let inner = listed.last else { return false }
        let around = system.nodes.filter { $0.isArea && $0.codes.contains(inner.code.rawValue) }
        guard around.map(\.code.rawValue).sorted() == areas else { return false }
        return services.allSatisfy { code in
            if code == 0xFFFF || areas.contains(code) { return true }
            guard system.node(code)?.isArea == false else { return false }
            return system.nodes.filter { $0.isArea && $0.codes.contains(code) }.count == areas.count
                && inner.codes.contains(code)
        }
    }

    /// A secure message of an open session.
    private mutating func message(_ command: SecureCommand, _ frame: [UInt8]) -> Reply? {
        guard var mode = secure, let last = mode.number, mode.scheme == command.scheme, let system,
            let message = mode.opened(frame), message.number > last, message.number < 0xFFFF
        else { return nil }
        var payload = ByteReader(message.payload[...])
        var units = 0
        let answer: [UInt8]
        do throws(StatusError) {
            switch command {
            case .read, .readV2:
                let blocks = try secureBlocks(mode, &payload, in: system)
                units = blocks.count
                answer = [0, 0, UInt8(truncatingIfNeeded: blocks.count)] + blocks.flatMap(\.bytes)
            case .write, .writeV2:
                units = try secureWrite(mode, &payload, in: system)
                answer = [0, 0]
            default: answer = [0, 0] + (try issue(command, mode, message.payload, in: system))
            }
        } catch {
            guard let flags = error.flags(profile.statusStyle) else { return nil }
            answer = flags
        }
        guard let frame = mode.frame(answer, code: command.rawValue + 1, number: message.number + 1) else { return nil }
        mode.number = message.number + 1
        secure = mode
        return Reply(whole: frame, units: units)
    }

    /// Writes all blocks of a list or none.
    ///
    /// - Returns: their number.
    private mutating func secureWrite(
        _ mode: SecureMode, _ payload: inout ByteReader, in system: VirtualSystem
    ) throws(StatusError) -> Int {
        let most = min(profile.blocksPerWrite, mode.scheme == .des ? 12 : 13)
        guard let count = try? payload.readUInt8(), (1...most).contains(Int(count)) else {
            throw StatusError(profile.overLimitStatus)
        }
        var write = BlockWriteRequest(services: mode.nodes.map { ServiceCode(rawValue: $0) })
        for _ in 0..<count {
            guard let element = try? BlockListElement(&payload) else { throw .silence }
            write.elements.append(element)
        }
        for _ in 0..<count {
            guard let block = (try? payload.readBytes(16)).flatMap({ Block($0) }) else { throw .silence }
            write.data.append(block)
        }
        if write.elements.contains(where: { $0.accessMode == 4 }) {
            guard mode.scheme == .des else { throw StatusError(StatusCode.accessMode, at: 0) }
            store(try changedKeys(write, mode, in: system))
            return Int(count)
        }
        for (place, element) in write.elements.enumerated() {
            guard let node = mode.nodes.element(at: element.serviceIndex) else {
                throw StatusError(StatusCode.serviceIndex, at: place)
            }
            guard ServiceCode(rawValue: node).kind != nil, system.node(node)?.isArea == false else {
                throw StatusError(StatusCode.notAService, at: place)
            }
        }
        store(try written(write, in: system))
        return Int(count)
    }

    /// The system after a change of all these keys, or an error.
    ///
    /// A wrong old or parent's key is refused by AA. The parent is the area around the node; of the system, its own old key. No
    /// source says what that of the root area is, so its key is not changed.
    private func changedKeys(
        _ write: BlockWriteRequest, _ mode: SecureMode, in system: VirtualSystem
    ) throws(StatusError) -> VirtualSystem {
        var changed = system
        for (place, (element, sealed)) in zip(write.elements, write.data).enumerated() {
            guard let node = mode.nodes.element(at: element.serviceIndex) else {
                throw StatusError(StatusCode.serviceIndex, at: place)
            }
            guard element.accessMode == 4 else { throw StatusError(StatusCode.accessMode, at: place) }
            let parent = node == NodeCode.system.rawValue ? node : changed.area(around: node)?.code.rawValue
            guard let old = changed.keys?.des[node], let wrap = parent.flatMap({ changed.keys?.des[$0] }) else {
                throw StatusError(StatusCode.keyChange, at: place)
            }
            func opened(_ bytes: ArraySlice<UInt8>) -> UInt64 {
                CardDES.decrypt(UInt64(block: old), CardDES.decrypt(UInt64(block: wrap), UInt64(block: bytes)))
            }
            let (proof, key) = (opened(sealed.bytes[..<8]), opened(sealed.bytes[8...]))
            let version = UInt64(element.number.byteSwapped)
            guard element.number != 0xFFFF, CardDES.decrypt(key, proof) == version else {
                throw StatusError(StatusCode.keyChange, at: place)
            }
            changed.keys?.des[node] = key.block
            changed.setKeyVersion(KeyVersion(rawValue: element.number), of: node)
        }
        return changed
    }

    private func secureBlocks(
        _ mode: SecureMode, _ payload: inout ByteReader, in system: VirtualSystem
    ) throws(StatusError) -> [Block] {
        let most = min(profile.blocksPerRead, mode.scheme == .des ? 14 : 15)
        guard let count = try? payload.readUInt8(), (1...most).contains(Int(count)) else {
            throw StatusError(profile.overLimitStatus)
        }
        var blocks: [Block] = []
        for place in 0..<Int(count) {
            guard let element = try? BlockListElement(&payload) else { throw .silence }
            guard let node = mode.nodes.element(at: element.serviceIndex) else {
                throw StatusError(StatusCode.serviceIndex, at: place)
            }
            let service = ServiceCode(rawValue: node)
            guard service.kind != nil, system.node(node)?.isArea == false else {
                throw StatusError(StatusCode.notAService, at: place)
            }
            guard element.accessMode == 0 else { throw StatusError(StatusCode.accessMode, at: place) }
            guard let block = system.blocks(service)[element.number] else {
                throw StatusError(StatusCode.blockNumber, at: place)
            }
            blocks.append(block)
        }
        return blocks
    }
}
