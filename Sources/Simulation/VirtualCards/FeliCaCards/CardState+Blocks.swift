// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension CardState {
    func readWithoutEncryption(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        let request = try BlockRequest(
            &parameters, limit: profile.blocksPerRead, overLimit: profile.overLimitStatus)
        do throws(StatusError) {
            let blocks = try read(request, in: system)
            let head: [UInt8] = [0, 0, UInt8(truncatingIfNeeded: blocks.count)]
            return Reply(head + blocks.flatMap(\.bytes), units: blocks.count)
        } catch {
            var refusal = refuse(error, units: request.elements.count)
            if profile.countsAfterRefusal { refusal?.payload.append(0x00) }
            return refusal
        }
    }

    private func read(_ request: BlockRequest, in system: VirtualSystem) throws(StatusError) -> [Block] {
        if let refusal = request.refusal { throw refusal }
        try checkServices(request.services, in: system)
        var blocks: [Block] = []
        for (place, element) in request.elements.enumerated() {
            let service = try self.service(of: element, at: place, in: request.services)
            guard element.accessMode == 0 else { throw StatusError(StatusCode.accessMode, at: place) }
            if lite != nil { continue }
            guard let block = system.blocks(service)[element.number] else {
                throw StatusError(StatusCode.blockNumber, at: place)
            }
            blocks.append(block)
        }
        return try lite?.read(request.elements.map(\.number)) ?? blocks
    }

    /// Checks that every service exists and needs no key; the first that fails is refused by its place in the list.
    func checkServices(_ services: [ServiceCode], in system: VirtualSystem) throws(StatusError) {
        if lite != nil, services.count != 1 { throw StatusError(StatusCode.serviceCount) }
        for (place, service) in services.enumerated() {
            if lite != nil {
                guard service.rawValue == 0x0009 || service.rawValue == 0x000B else {
                    throw StatusError(StatusCode.nodeAbsent, at: place)
                }
                continue
            }
            guard let node = system.node(service.rawValue) else { throw StatusError(StatusCode.nodeAbsent, at: place) }
            switch node.refusal {
            case .silence?: throw .silence
            case .status(let flags)?: throw .literal(flags)
            case nil: break
            }
            // Whether an attribute without a source needs a key is not known; the file gives its blocks.
            let needsKey = service.kind != nil && (service.requiresAuthentication || service.requiresPIN)
            guard !node.isArea, !needsKey else {
                throw StatusError(profile.refusalStatus, at: place)
            }
        }
    }

    /// The service that an element refers to.
    func service(
        of element: BlockListElement, at place: Int, in services: [ServiceCode]
    ) throws(StatusError) -> ServiceCode {
        guard let service = services.element(at: element.serviceIndex) else {
            throw StatusError(StatusCode.serviceIndex, at: place)
        }
        return service
    }
}

extension CardState {
    /// Write Without Encryption: all blocks or none.
    mutating func writeWithoutEncryption(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        // A Lite-S accepts one block more when it is the MAC.
        let limit = profile.blocksPerWrite + (lite?.kind == .liteS ? 1 : 0)
        let request = try BlockRequest(&parameters, limit: limit, overLimit: profile.overLimitStatus)
        var data: [Block] = []
        for _ in request.elements {
            if let block = Block(try parameters.readBytes(16)) { data.append(block) }
        }
        do throws(StatusError) {
            if let refusal = request.refusal { throw refusal }
            try checkServices(request.services, in: system)
            let warns = lite == nil ? false : try writeLite(request, data)
            if lite == nil {
                store(
                    try written(
                        BlockWriteRequest(services: request.services, elements: request.elements, data: data),
                        in: system))
            }
            return Reply(warns ? [0xFF, StatusCode.worn] : [0, 0], units: data.count)
        } catch {
            return refuse(error, units: data.count)
        }
    }

    /// Writes to a FeliCa Lite: one block, or on a Lite-S one block and MAC_A.
    ///
    /// - Returns: whether the card warns that its memory is wearing out.
    private mutating func writeLite(_ request: BlockRequest, _ data: [Block]) throws(StatusError) -> Bool {
        guard var changed = lite else { return false }
        for (place, element) in request.elements.enumerated() {
            let service = try self.service(of: element, at: place, in: request.services)
            guard service.access == .readWrite else { throw StatusError(StatusCode.nodeAbsent, at: 0) }
            guard element.accessMode == 0 else { throw StatusError(StatusCode.accessMode, at: place) }
        }
        var writes = Array(zip(request.elements.map(\.number), data))
        var mac: Block?
        if changed.kind == .liteS, writes.count == 2, let last = writes.last, last.0 == LiteMemory.Number.macA {
            mac = last.1
            writes.removeLast()
        }
        guard writes.count <= profile.blocksPerWrite else {
            throw StatusError(StatusCode.macNeeded, at: writes.count - 1)
        }
        var warns = false
        for (place, write) in writes.enumerated() {
            do {
                warns = try changed.write(write.0, write.1, mac: mac, refusal: profile.refusalStatus) || warns
            } catch {
                throw place == 0 ? error : error.at(place)
            }
        }
        lite = changed
        return warns
    }

    /// The blocks after a write: of all elements, or an error.
    ///
    /// The elements of a cyclic service are one entry, the first its newest block; an entry equal to the newest blocks is
    /// not stored again.
    func written(
        _ write: BlockWriteRequest, in system: VirtualSystem
    ) throws(StatusError) -> [UInt16: BlockStore] {
        var memory = system.memory
        var cyclic: [UInt16: [Block]] = [:]
        for (place, (element, block)) in zip(write.elements, write.data).enumerated() {
            let service = try self.service(of: element, at: place, in: write.services)
            let cashback = element.accessMode == 1 && service.access == .cashback
            guard element.accessMode == 0 || cashback else { throw StatusError(StatusCode.accessMode, at: place) }
            guard service.access != .readOnly, service.access != nil else {
                throw StatusError(profile.refusalStatus, at: place)
            }
            var store = memory[service.overlapGroup] ?? BlockStore()
            guard let old = store[element.number] else { throw StatusError(StatusCode.blockNumber, at: place) }
            switch service.kind {
            case .cyclic:
                guard element.number == 0 else { throw StatusError(StatusCode.refused, at: place) }
                cyclic[service.overlapGroup, default: []].append(block)
                guard cyclic[service.overlapGroup, default: []].count <= store.count else {
                    throw StatusError(StatusCode.tooManyCyclic, at: place)
                }
            case .purse where service.access != .direct:
                store.replace(element.number, with: try purse(old, block, cashback: cashback, at: place))
                memory[service.overlapGroup] = store
            default:
                store.replace(element.number, with: block)
                memory[service.overlapGroup] = store
            }
        }
        for (group, entry) in cyclic {
            guard var store = memory[group] else { continue }
            let newest = entry.indices.compactMap { store[UInt16(clamping: $0)] }
            guard newest != entry else { continue }
            for block in entry.reversed() { store.push(block) }
            memory[group] = store
        }
        return memory
    }

    /// A purse after a debit or a cashback.
    ///
    /// Bytes 0–3 are the value, 4–7 the last debit, 8–11 the user's data, and the last ones the execution ID; numbers are
    /// least significant byte first. Of the command, only the amount and the execution ID count. The stored ID again
    /// changes nothing. Source: felica-rs after Sony's manual.
    private func purse(_ old: Block, _ new: Block, cashback: Bool, at place: Int) throws(StatusError) -> Block {
        let kept = 16 - profile.executionIDLength
        guard new.bytes[kept...] != old.bytes[kept...] else { return old }
        let value = old.uint32(at: 0, .little)
        let amount = new.uint32(at: 0, .little)
        if cashback, amount > old.uint32(at: 4, .little) { throw StatusError(StatusCode.cashbackTooLarge, at: place) }
        let (result, overflow) =
            cashback ? value.addingReportingOverflow(amount) : value.subtractingReportingOverflow(amount)
        guard !overflow else { throw StatusError(StatusCode.purseOutOfRange, at: place) }
        var bytes = ByteWriter()
        bytes.write(result, .little)
        bytes.write(cashback ? UInt32(0) : amount, .little)
        bytes.write(old.bytes[8..<kept] + new.bytes[kept...])
        return Block(bytes.bytes) ?? old
    }
}

/// The blocks of one write, with or without keys.
struct BlockWriteRequest {
    var services: [ServiceCode]
    var elements: [BlockListElement] = []
    /// One block for each element.
    var data: [Block] = []
}

/// One element of a block list as encoded in the air.
struct BlockListElement: Hashable {
    /// Bits 6–4 of the first byte.
    var accessMode: UInt8
    /// Bits 3–0: an index into the service list.
    var serviceIndex: Int
    /// One byte when bit 7 is set, else two, least significant first.
    var number: UInt16

    init(_ parameters: inout ByteReader) throws(ByteCodecError) {
        let head = try parameters.readUInt8()
        accessMode = head >> 4 & 0x07
        serviceIndex = Int(head & 0x0F)
        number = head & 0x80 != 0 ? UInt16(try parameters.readUInt8()) : try parameters.readUInt16(.little)
    }
}

/// The two lists at the start of Read and Write Without Encryption.
struct BlockRequest {
    var services: [ServiceCode] = []
    var elements: [BlockListElement] = []
    /// The error in the number of services or blocks; the lists are then not parsed completely.
    var refusal: StatusError?

    /// Parses both lists.
    ///
    /// - Parameter limit: the maximum number of blocks, beyond which the card answers `overLimit`.
    init(_ parameters: inout ByteReader, limit: Int, overLimit: UInt8) throws(ByteCodecError) {
        let serviceCount = try parameters.readUInt8()
        guard (1...16).contains(serviceCount) else {
            refusal = StatusError(StatusCode.serviceCount)
            _ = parameters.readRest()
            return
        }
        for _ in 0..<serviceCount { services.append(ServiceCode(rawValue: try parameters.readUInt16(.little))) }
        let blockCount = Int(try parameters.readUInt8())
        guard (1...max(limit, 1)).contains(blockCount) else {
            refusal = StatusError(overLimit)
            _ = parameters.readRest()
            return
        }
        for _ in 0..<blockCount { elements.append(try BlockListElement(&parameters)) }
    }
}
