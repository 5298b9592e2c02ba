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
            if lite == nil { try write(request, data, in: system) }
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

    private mutating func write(_ request: BlockRequest, _ data: [Block], in system: VirtualSystem) throws(StatusError)
    {
        var memory = system.memory
        var cyclic: [UInt16: Int] = [:]
        for (place, (element, block)) in zip(request.elements, data).enumerated() {
            let service = try self.service(of: element, at: place, in: request.services)
            let cashback = element.accessMode == 1 && service.access == .cashback
            guard element.accessMode == 0 || cashback else { throw StatusError(StatusCode.accessMode, at: place) }
            guard service.access != .readOnly, service.access != nil else {
                throw StatusError(profile.refusalStatus, at: place)
            }
            var store = memory[service.overlapGroup] ?? BlockStore()
            guard let old = store[element.number] else { throw StatusError(StatusCode.blockNumber, at: place) }
            switch service.kind {
            case .cyclic:
                let written = cyclic[service.overlapGroup, default: 0] + 1
                guard written <= store.count else { throw StatusError(StatusCode.tooManyCyclic, at: place) }
                cyclic[service.overlapGroup] = written
                store.push(block)
            case .purse where service.access != .direct:
                store.replace(
                    element.number, with: try CardState.purse(old, block, cashback: cashback, at: place))
            default: store.replace(element.number, with: block)
            }
            memory[service.overlapGroup] = store
        }
        store(memory)
    }

    /// A purse after a debit or a cashback: bytes 0–3 are the value, 4–7 the last amount (both least significant
    /// first); the rest comes from the command.
    private static func purse(_ old: Block, _ new: Block, cashback: Bool, at place: Int) throws(StatusError) -> Block {
        let value = old.uint32(at: 0, .little)
        let amount = new.uint32(at: 0, .little)
        let given = old.uint32(at: 4, .little)
        if cashback, amount > given { throw StatusError(StatusCode.cashbackTooLarge, at: place) }
        let (result, overflow) =
            cashback ? value.addingReportingOverflow(amount) : value.subtractingReportingOverflow(amount)
        guard !overflow else { throw StatusError(StatusCode.purseOutOfRange, at: place) }
        var bytes = ByteWriter()
        bytes.write(result, .little)
        bytes.write(cashback ? given - amount : amount, .little)
        bytes.write(new.bytes.dropFirst(8))
        return Block(bytes.bytes) ?? old
    }
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
