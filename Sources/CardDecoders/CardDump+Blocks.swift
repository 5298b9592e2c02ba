// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension CardDump {
    /// Whether the card has this service, as far as the dump tells: a service that the card refused is none.
    func holds(_ request: ReadRequest) -> Bool {
        guard let service = system(request.system)?.service(request.service) else { return false }
        if !service.blocks.isEmpty { return true }
        return switch service.state {
        case .read, .lost, .skipped: true
        case .refused, .keyRequired: false
        }
    }

    /// The service that gave the blocks of a request: itself, or an overlapped one when it was skipped because its
    /// blocks had been read; `nil` when nothing of it was read.
    func opened(_ request: ReadRequest) -> ServiceDump? {
        guard let found = system(request.system), let service = found.service(request.service) else { return nil }
        if !service.blocks.isEmpty || service.state == .read { return service }
        guard service.state == .skipped else { return nil }
        return found.services.first {
            $0.code.overlapGroup == service.code.overlapGroup && $0.code.kind == service.code.kind && !$0.blocks.isEmpty
        }
    }

    /// The first block of a request.
    ///
    /// - Throws: ``DecodingFailure`` that says why it is not there.
    func block(_ request: ReadRequest, card: String, field: String, offset: Int) throws(DecodingFailure) -> Block {
        let number = request.blocks.lowerBound
        if let block = opened(request)?.blocks[number] { return block }
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
