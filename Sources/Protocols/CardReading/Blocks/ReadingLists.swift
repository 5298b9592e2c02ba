// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import FeliCa
internal import ReaderCore

extension FeliCaSystem {
    /// Reads chosen blocks of any number of services that need no key, in as few commands as the card and the reader allow.
    ///
    /// ```swift
    /// let blocks = try system.read([.init(rawValue: 0x008B): [0], .init(rawValue: 0x090F): 0..<20])
    /// ```
    ///
    /// It begins with as many blocks a command as are known for the IC, and goes on with fewer when the card answers that they
    /// are too many, or not at all; nothing else is repeated.
    ///
    /// - Parameter list: the numbers of the blocks to read of each service.
    /// - Returns: the blocks by service and number.
    /// - Throws: ``FeliCaError``; ``FeliCaError/status(_:)`` with `A8` past the end of a service, `A6` for a service that
    ///   the card does not have, `A5` for one that needs a key. `Card.read(_:blocks:)` returns what can be read of such a list.
    public func read(
        _ list: [ServiceCode: some Sequence<UInt16>]
    ) throws(FeliCaError) -> [ServiceCode: [UInt16: Block]] {
        var waiting: [ListedBlock] = []
        // Services in ascending order, which all cards accept.
        for (service, numbers) in list.sorted(by: { $0.key < $1.key }) {
            var known: Set<UInt16> = []
            waiting += numbers.filter { known.insert($0).inserted }.map { ListedBlock(service: service, number: $0) }
        }
        let limits = CardLimits(pmm: pmm, reader: (channel as? any Reader)?.information ?? .unlimited)
        var blocks: [ServiceCode: [UInt16: Block]] = list.mapValues { _ in [:] }
        while !waiting.isEmpty {
            let (services, elements) = Self.command(from: waiting, limits)
            do throws(FeliCaError) {
                let answer = try readWithoutEncryption(services: services, blocks: BlockList(elements))
                for (asked, block) in zip(waiting, answer) { blocks[asked.service]?[asked.number] = block }
                waiting.removeFirst(elements.count)
            } catch {
                guard limits.lower(after: error, blocks: elements.count, services: services.count) else { throw error }
            }
        }
        return blocks
    }

    /// The lists of one command, for the blocks that wait first.
    private static func command(
        from waiting: [ListedBlock], _ limits: CardLimits
    ) -> (services: [ServiceCode], elements: [BlockListElement]) {
        var services: [ServiceCode] = []
        var elements: [BlockListElement] = []
        // LEN, code, IDm and two counts.
        var length = 12
        for block in waiting.prefix(limits.blocks) {
            let isNew = services.last != block.service
            length += (isNew ? 2 : 0) + (block.number > 0xFF ? 3 : 2)
            guard length <= 255, !isNew || services.count < limits.services else { break }
            if isNew { services.append(block.service) }
            elements.append(BlockListElement(serviceIndex: services.count - 1, number: block.number))
        }
        return (services, elements)
    }
}

/// A block of a service that is to be read.
private struct ListedBlock {
    var service: ServiceCode
    var number: UInt16
}

extension CardLimits {
    /// Goes one step down after a command that may have been too long.
    ///
    /// - Returns: whether a smaller one is possible.
    fileprivate func lower(after error: FeliCaError, blocks count: Int, services: Int) -> Bool {
        switch error {
        case .status(let flags) where flags.isTooMany:
            flags.flag2 == .wrongServiceCount && services > 1 ? lowerServices() : count > 1 && lowerBlocks(below: count)
        // A card whose limit is not known may be silent in place of a refusal.
        case .transport(.noAnswer): !areKnown && count > 1 && lowerBlocks(below: count)
        default: false
        }
    }
}

extension ReaderInformation {
    /// What a channel carries that is not a reader: it has no known limits.
    fileprivate static var unlimited: ReaderInformation { ReaderInformation(id: "", name: "", technologies: [.felica]) }
}
