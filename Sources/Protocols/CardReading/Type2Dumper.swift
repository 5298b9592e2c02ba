// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import NDEF
package import NFCForumTags
internal import ReaderCore

/// Reads every page of a Type 2 Tag that needs no password, and can resume an interrupted dump.
package struct Type2Dumper: Dumper {
    private let tag: Type2Tag
    private let earlier: CardDump?

    /// Makes a dumper for a tag.
    ///
    /// - Parameter earlier: an incomplete dump of the same tag; the pages that it contains are not read again.
    package init(tag: Type2Tag, resuming earlier: CardDump? = nil) {
        self.tag = tag
        self.earlier = earlier
    }

    /// Returns whether the dump has the UID of this tag.
    package func isSameCard(_ dump: CardDump) -> Bool {
        dump.card.uid == tag.target.uid
    }

    /// Reads the tag. The dump contains what was read before an interruption; its `missing` lists the rest.
    package func dump() -> DumpOutcome {
        var memory = earlier?.type2 ?? Type2Dump(pages: [:])
        // A key may have become available since.
        memory.closedFrom = nil
        var interruption: ReadingError?
        var next: UInt16 = 0
        do throws(TagError) {
            memory.version = try tag.version()
            let product = try tag.product()
            if let product { memory.product = product.name }
            // An NTAG counts the first READ after it got power: its counter is read before any page.
            for number in product?.counters ?? [] { memory.counters[number] = try tag.counter(number) }
            try pages(product, into: &memory, next: &next)
            if product?.hasSignature == true { memory.signature = try tag.signature() }
        } catch {
            interruption = ReadingError(error) ?? .radio(.corrupted(status: 0))
        }
        memory.notAsked = tag.notPassed.sorted().compactMap(Type2Command.name(of:))
        var dump = CardDump(
            card: earlier?.card ?? CardIdentity(.typeA(tag.target)), type2: memory,
            extra: earlier?.extra ?? JSONObject())
        if let interruption {
            dump.isComplete = false
            dump.missing = [MissingPart(fromPage: next, reason: interruption.word)]
        }
        return DumpOutcome(dump: dump, interruption: interruption)
    }

    /// The maximum number of pages in the first sector of any Type 2 Tag.
    private static let sector: UInt16 = 256

    private func pages(
        _ product: Type2Product?, into memory: inout Type2Dump, next: inout UInt16
    ) throws(TagError) {
        let count = product?.readablePageCount
        while next < count ?? Type2Dumper.sector {
            if memory.pages[next] == nil {
                if let count, product?.hasSignature == true {
                    // Pages that cannot be read in one go are read one by one below.
                    _ = try tag.fastRead(next...min(count - 1, next + 31))
                }
                do throws(TagError) {
                    _ = try tag.page(next)
                } catch .refused(let page, _) {
                    // Without a table, the first refused page is taken as the end.
                    guard count != nil else { return }
                    memory.closedFrom = page
                    return
                } catch {
                    throw error
                }
                for (page, bytes) in tag.memory.pages where page < count ?? Type2Dumper.sector {
                    memory.pages[page] = bytes
                }
            }
            next += 1
        }
    }
}
