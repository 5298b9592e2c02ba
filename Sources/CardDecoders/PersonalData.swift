// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Bytes of an open service that tell whose card it is: a number, a name, an ID.
public struct PersonalBytes: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service; services that open the same blocks with other rights are meant as well.
    public let service: ServiceCode
    /// The numbers of the blocks.
    public let blocks: ClosedRange<UInt16>
    /// The bytes of each of these blocks, 0 to 15.
    public let bytes: Range<Int>

    /// Bytes of some blocks of a service; without more, all of it.
    init(
        _ system: UInt16, _ service: UInt16, blocks: ClosedRange<UInt16> = 0...UInt16.max, bytes: Range<Int> = 0..<16
    ) {
        self.system = SystemCode(rawValue: system)
        self.service = ServiceCode(rawValue: service)
        self.blocks = blocks
        self.bytes = bytes
    }
}

/// What on FeliCa cards tells whose card it is, as their decoders declare it: the one place that `--redact` asks.
public struct PersonalData: Sendable {
    /// What the decoders of Kazasu declare.
    public static let standard = PersonalData(DecoderRegistry.standard)

    /// What is declared, by the group of services that open the same blocks.
    private let declared: [UInt16: [PersonalBytes]]

    /// What the decoders of a registry declare.
    public init(_ registry: DecoderRegistry) {
        declared = Dictionary(grouping: registry.decoders.flatMap(\.personal), by: \.service.overlapGroup)
    }

    /// Whether a block holds personal bytes; `system` as in ``masked(_:at:of:in:)``.
    public func isPersonal(_ number: UInt16, of service: ServiceCode, in system: SystemCode?) -> Bool {
        declared[service.overlapGroup]?.contains { row in
            row.blocks.contains(number) && (system == nil || system == row.system)
        } ?? false
    }

    /// A block with 00 in place of each personal byte.
    ///
    /// - Parameters:
    ///   - number: the number of the block in its service.
    ///   - system: the system, or `nil` where it is not known: then a byte is masked that is personal in any system.
    public func masked(
        _ block: Block, at number: UInt16, of service: ServiceCode, in system: SystemCode?
    ) -> Block {
        guard let rows = declared[service.overlapGroup] else { return block }
        return rows.reduce(block) { block, row in
            guard row.blocks.contains(number), system == nil || system == row.system else { return block }
            return block.zeroing(row.bytes)
        }
    }
}

extension Block {
    /// This block with 00 in place of some bytes.
    fileprivate func zeroing(_ range: Range<Int>) -> Block {
        if range == 0..<16 { return .zero }
        return Block(bytes.enumerated().map { range.contains($0.offset) ? 0 : $0.element }) ?? .zero
    }
}
