// SPDX-License-Identifier: Apache-2.0

package import NDEF

extension Type2Tag: NDEFTag {
    package var typeNumber: Int { 2 }

    /// Returns the layout of the data area; reads no more pages than necessary.
    ///
    /// - Throws: ``TagError``; ``TagError/noNDEF(_:)`` for a tag without a usable Capability Container.
    package func layout() throws(TagError) -> Type2Layout {
        _ = try product()
        guard let capability = Type2Capability(try page(3)) else { throw .noNDEF(.notFormatted) }
        guard capability.isSupported else { throw .noNDEF(.unknownVersion) }
        guard isGranted(capability.readAccess) else { throw .noNDEF(.notReadable) }
        return try Type2Layout(capability) { address throws(TagError) in
            let page = UInt16(clamping: address / Type2Memory.pageSize)
            try fetch(page, within: capability)
            return memory.byte(at: address)
        }
    }

    /// Reads the first NDEF message of the data area.
    package func readNDEF() throws(TagError) -> NDEFArea {
        let layout = try layout()
        guard let message = layout.message else { throw .noNDEF(Type2Tag.obstacle(layout)) }
        return try area(layout, message.value)
    }

    /// Returns the writable area; a data area without a message block can hold one after its other blocks.
    package func writableArea() throws(TagError) -> NDEFArea {
        let layout = try layout()
        if layout.message == nil {
            let obstacle = Type2Tag.obstacle(layout)
            guard obstacle == .noMessageBlock else { throw .noNDEF(obstacle) }
        }
        return try area(layout, layout.message?.value ?? [])
    }

    /// Checks the locks and the protection of each page that would change.
    package func checkPlaces(of bytes: [UInt8]) throws(TagError) {
        let layout = try layout()
        let pages = try plan(bytes, layout).writes.map(\.page)
        if let obstacle = try obstacle(to: pages, layout) { throw .notWritable(obstacle) }
    }

    /// Writes the message block page by page.
    package func writeUnchecked(_ bytes: [UInt8]) throws(TagError) {
        let plan = try plan(bytes, layout())
        defer { forget() }
        for write in plan.writes { try self.write(page: write.page, write.bytes) }
    }

    /// Compares the message, without the bytes that the tag replaces by its UID or counter.
    package func isStored(_ bytes: [UInt8]) throws(TagError) -> Bool {
        let layout = try layout()
        guard let message = layout.message, message.value.count == bytes.count else { return false }
        let mirrored = try configuration()?.mirroredBytes ?? 0..<0
        let addresses = layout.addresses(from: message.lengthAddress)
            .dropFirst(bytes.count < 0xFF ? 1 : 3).prefix(bytes.count)
        return zip(addresses, zip(message.value, bytes)).allSatisfy { address, pair in
            pair.0 == pair.1 || mirrored.contains(address)
        }
    }

    private func plan(_ bytes: [UInt8], _ layout: Type2Layout) throws(TagError) -> Type2WritePlan {
        for page in Type2WritePlan.pages(layout, length: bytes.count) { _ = try self.page(page) }
        guard let plan = Type2WritePlan(message: bytes, layout: layout, memory: memory) else {
            throw .tooLong(length: bytes.count, capacity: Type2WritePlan.capacity(layout))
        }
        return plan
    }

    /// Returns the pages for user data.
    ///
    /// They come from the table or, for another product, from the data area of its Capability Container, excluding what
    /// control blocks point to; there are none if neither exists.
    ///
    /// - Throws: ``TagError``.
    package func userPages() throws(TagError) -> [UInt16] {
        if let pages = try product()?.userPages { return Array(pages) }
        do throws(TagError) {
            let addresses = Set(try layout().addresses(from: 0))
            let starts = addresses.filter { start in
                start.isMultiple(of: Type2Memory.pageSize)
                    && (start..<start + Type2Memory.pageSize).allSatisfy(addresses.contains)
            }
            return starts.map { UInt16(clamping: $0 / Type2Memory.pageSize) }.sorted()
        } catch .noNDEF, .refused {
            return []
        } catch {
            throw error
        }
    }

    /// Returns the locked pages; reads the pages with the lock bits.
    package func locks(_ layout: Type2Layout?) throws(TagError) -> Type2Locks {
        let product = try product()
        try readIfOpen(2)
        if let page = product?.dynamicLockPage {
            try readIfOpen(page)
        } else {
            for area in layout?.controlAreas ?? [] where area.lockBits != nil {
                for address in area.addresses { try readIfOpen(UInt16(clamping: address / Type2Memory.pageSize)) }
            }
        }
        return Type2Locks(memory: memory, product: product, layout: layout)
    }

    /// Returns the configuration; `nil` if the product has none, or does not allow reading it.
    package func configuration() throws(TagError) -> Type2Configuration? {
        guard let product = try product(), let page = product.configurationPage else { return nil }
        try readIfOpen(page)
        try readIfOpen(page + 1)
        return Type2Configuration(memory: memory, product: product)
    }

    private func area(_ layout: Type2Layout, _ message: [UInt8]) throws(TagError) -> NDEFArea {
        let pages = Type2WritePlan.pages(layout, length: 0)
        return NDEFArea(
            message: message, capacity: Type2WritePlan.capacity(layout), obstacle: try obstacle(to: pages, layout))
    }

    /// Returns why one of these pages cannot be written, or `nil` if no reason is known.
    ///
    /// The access that the Capability Container declares for messages is ignored.
    ///
    /// - Throws: ``TagError``.
    package func obstacle(to pages: some Sequence<UInt16>) throws(TagError) -> TagError.WriteReason? {
        let layout: Type2Layout?
        do throws(TagError) {
            layout = try self.layout()
        } catch .noNDEF, .refused {
            layout = nil
        } catch {
            throw error
        }
        return try lock(on: pages, layout)
    }

    private func obstacle(to pages: [UInt16], _ layout: Type2Layout) throws(TagError) -> TagError.WriteReason? {
        guard let access = memory.capability?.writeAccess, isGranted(access) else { return .readOnly }
        return try lock(on: pages, layout)
    }

    private func lock(
        on pages: some Sequence<UInt16>, _ layout: Type2Layout?
    ) throws(TagError) -> TagError.WriteReason? {
        let locks = try locks(layout)
        if let locked = pages.first(where: { locks.pages.contains($0) }) { return .locked(page: locked) }
        guard !isOpen, let configuration = try configuration() else { return nil }
        return pages.first(where: configuration.protects).map { .passwordProtected(page: $0) }
    }

    /// Returns whether an access nibble grants access: 0 to everyone, 8 to the holder of the key (NXP AN1303, nfcpy).
    private func isGranted(_ access: UInt8) -> Bool {
        access == 0 || access == Type2Capability.accessWithKey && isAuthenticated
    }

    private static func obstacle(_ layout: Type2Layout) -> NDEFAbsence {
        switch layout.end {
        case .lengthBeyondEnd: .lengthBeyondEnd
        case .unreadable: .notReadable
        case .message, .terminator, .dataArea: .noMessageBlock
        }
    }

    // MARK: Reading ahead

    /// How many pages are read at a time if the tag supports it.
    private static let ahead: UInt16 = 16

    /// Ensures that ``memory`` has a page of the data area, if the tag returns it.
    private func fetch(_ page: UInt16, within capability: Type2Capability) throws(TagError) {
        guard memory[page] == nil else { return }
        let last = UInt16(clamping: capability.dataArea.upperBound / Type2Memory.pageSize - 1)
        if page < last, try product()?.hasSignature == true {
            let end = min(last, page + Type2Tag.ahead - 1, page | 0xFF)
            if end > page, try fastRead(page...end) { return }
        }
        try readIfOpen(page)
    }

    /// Reads a page; a page that the tag refuses stays unknown.
    func readIfOpen(_ page: UInt16) throws(TagError) {
        do throws(TagError) {
            _ = try self.page(page)
        } catch .refused {
            return
        } catch {
            throw error
        }
    }
}
