// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension CardState {
    /// Write Without Encryption: all blocks or none.
    mutating func writeWithoutEncryption(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        // A Lite-S takes one block more when it is the MAC.
        let limit = profile.blocksPerWrite + (lite?.kind == .liteS ? 1 : 0)
        let request = try BlockRequest(&parameters, limit: limit, overLimit: profile.overLimitStatus)
        var data: [Block] = []
        for _ in request.elements {
            if let block = Block(try parameters.readBytes(16)) { data.append(block) }
        }
        do throws(Refusal) {
            if let refusal = request.refusal { throw refusal }
            try checkServices(request.services, in: system)
            if lite == nil { try write(request, data, in: system) } else { try writeLite(request, data) }
            return Reply([0, 0], units: data.count)
        } catch {
            return refuse(error, units: data.count)
        }
    }

    private mutating func writeLite(_ request: BlockRequest, _ data: [Block]) throws(Refusal) {
        guard var changed = lite else { return }
        if request.elements.count > profile.blocksPerWrite {
            let last = request.elements.last?.number
            throw last == LiteMemory.Number.macA
                ? Refusal(StatusCode.macNeeded, at: request.elements.count - 1) : Refusal(profile.overLimitStatus)
        }
        for (place, (element, block)) in zip(request.elements, data).enumerated() {
            let service = try self.service(of: element, at: place, in: request.services)
            guard element.accessMode == 0 else { throw Refusal(StatusCode.accessMode, at: place) }
            guard service.access == .readWrite else { throw Refusal(profile.refusalStatus, at: place) }
            do {
                try changed.write(element.number, block, refusal: profile.refusalStatus)
            } catch {
                throw error.at(place)
            }
        }
        lite = changed
    }

    private mutating func write(_ request: BlockRequest, _ data: [Block], in system: VirtualSystem) throws(Refusal) {
        var memory = system.memory
        var cyclic: [UInt16: Int] = [:]
        for (place, (element, block)) in zip(request.elements, data).enumerated() {
            let service = try self.service(of: element, at: place, in: request.services)
            let cashback = element.accessMode == 1 && service.access == .cashback
            guard element.accessMode == 0 || cashback else { throw Refusal(StatusCode.accessMode, at: place) }
            guard service.access != .readOnly, service.access != nil else {
                throw Refusal(profile.refusalStatus, at: place)
            }
            var store = memory[service.overlapGroup] ?? BlockStore()
            guard let old = store[element.number] else { throw Refusal(StatusCode.blockNumber, at: place) }
            switch service.kind {
            case .cyclic:
                let written = cyclic[service.overlapGroup, default: 0] + 1
                guard written <= store.count else { throw Refusal(StatusCode.tooManyCyclic, at: place) }
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

    /// A purse after an amount was taken off, or given back: bytes 0–3 are the value, 4–7 what was taken last (both
    /// least significant first); the rest comes from the command.
    private static func purse(_ old: Block, _ new: Block, cashback: Bool, at place: Int) throws(Refusal) -> Block {
        let value = old.uint32(at: 0, .little)
        let amount = new.uint32(at: 0, .little)
        let given = old.uint32(at: 4, .little)
        if cashback, amount > given { throw Refusal(StatusCode.cashbackTooLarge, at: place) }
        let (result, overflow) =
            cashback ? value.addingReportingOverflow(amount) : value.subtractingReportingOverflow(amount)
        guard !overflow else { throw Refusal(StatusCode.purseOutOfRange, at: place) }
        var bytes = ByteWriter()
        bytes.write(result, .little)
        bytes.write(cashback ? given - amount : amount, .little)
        bytes.write(new.bytes.dropFirst(8))
        return Block(bytes.bytes) ?? old
    }
}
