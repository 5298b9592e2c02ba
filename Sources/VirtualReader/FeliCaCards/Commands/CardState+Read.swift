// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension CardState {
    /// Read Without Encryption.
    func readWithoutEncryption(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        let request = try BlockRequest(
            &parameters, limit: profile.blocksPerRead, overLimit: profile.overLimitStatus)
        do throws(Refusal) {
            let blocks = try read(request, in: system)
            let head: [UInt8] = [0, 0, UInt8(truncatingIfNeeded: blocks.count)]
            return Reply(head + blocks.flatMap(\.bytes), units: blocks.count)
        } catch {
            return refuse(error, units: request.elements.count)
        }
    }

    private func read(_ request: BlockRequest, in system: VirtualSystem) throws(Refusal) -> [Block] {
        if let refusal = request.refusal { throw refusal }
        try checkServices(request.services, in: system)
        var blocks: [Block] = []
        for (place, element) in request.elements.enumerated() {
            let service = try self.service(of: element, at: place, in: request.services)
            guard element.accessMode == 0 else { throw Refusal(StatusCode.accessMode, at: place) }
            blocks.append(try read(element.number, of: service, at: place, in: system))
        }
        return blocks
    }

    private func read(
        _ number: UInt16, of service: ServiceCode, at place: Int, in system: VirtualSystem
    ) throws(Refusal) -> Block {
        if let lite {
            do {
                return try lite.read(number)
            } catch {
                throw error.at(place)
            }
        }
        guard let block = system.blocks(service)[number] else { throw Refusal(StatusCode.blockNumber, at: place) }
        return block
    }

    /// Checks that every service is there and needs no key; the first that is not is refused by its place in the list.
    func checkServices(_ services: [ServiceCode], in system: VirtualSystem) throws(Refusal) {
        for (place, service) in services.enumerated() {
            if lite != nil {
                guard service.rawValue == 0x0009 || service.rawValue == 0x000B else {
                    throw Refusal(StatusCode.nodeAbsent, at: place)
                }
                continue
            }
            guard let node = system.node(service.rawValue) else { throw Refusal(StatusCode.nodeAbsent, at: place) }
            switch node.refusal {
            case .silence?: throw .silence
            case .status(let flags)?: throw .literal(flags)
            case nil: break
            }
            // Of an attribute that no source names nobody knows whether it needs a key; the file gives its blocks.
            let needsKey = service.kind != nil && (service.requiresAuthentication || service.requiresPIN)
            guard !node.isArea, !needsKey else {
                throw Refusal(profile.refusalStatus, at: place)
            }
        }
    }

    /// The service that an element means.
    func service(
        of element: BlockListElement, at place: Int, in services: [ServiceCode]
    ) throws(Refusal) -> ServiceCode {
        guard let service = services.element(at: element.serviceIndex) else {
            throw Refusal(StatusCode.serviceIndex, at: place)
        }
        return service
    }
}
