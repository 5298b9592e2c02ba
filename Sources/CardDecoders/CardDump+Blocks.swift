// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension CardDump {
    /// Whether the card has this service, as far as the dump tells: a service that the card refused is none.
    func holds(_ system: SystemCode, _ service: ServiceCode) -> Bool {
        guard let entry = self.system(system)?.service(service) else { return false }
        if !entry.blocks.isEmpty { return true }
        return switch entry.state {
        case .read, .lost, .skipped: true
        case .refused, .keyRequired: false
        }
    }

    /// The blocks that were read of what a service opens, also when they were read through an overlapped service.
    func openedBlocks(_ system: SystemCode, _ service: ServiceCode) -> [UInt16: Block]? {
        guard let found = self.system(system), let entry = found.service(service) else { return nil }
        guard entry.blocks.isEmpty, entry.state == .skipped else { return entry.blocks }
        return found.services.first { $0.code.overlapGroup == service.overlapGroup && !$0.blocks.isEmpty }?.blocks
            ?? entry.blocks
    }

    /// One block of a service.
    ///
    /// - Throws: ``DecodingFailure`` that says why it is not there.
    func block(
        _ request: ReadRequest, number: UInt16 = 0, card: String, field: String, offset: Int
    ) throws(DecodingFailure) -> Block {
        if let block = openedBlocks(request.system, request.service)?[number] { return block }
        let reason: DecodingFailure.Reason =
            switch system(request.system)?.service(request.service)?.state {
            case nil: .noSuchService
            case .read, .skipped: .notRead
            case .keyRequired: .keyRequired
            case .refused: .refused
            case .lost: .lost
            }
        throw DecodingFailure(
            card: card, field: field, system: request.system, service: request.service, block: number, offset: offset,
            reason: reason)
    }
}
