// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import NDEF

extension Type3Tag: NDEFTag {
    /// 3
    public var typeNumber: Int { 3 }

    /// Reads the message that the attribute information tells of.
    public func readNDEF() throws(TagError) -> NDEFArea {
        let attributes = try checkedAttributes()
        guard !attributes.isBeingWritten else { throw .noNDEF(.halfWritten) }
        guard attributes.length <= attributes.capacity else { throw .noNDEF(.lengthBeyondEnd) }
        let count = UInt16(clamping: (attributes.length + 15) / 16)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(count) * 16)
        let step = UInt16(clamping: blocksPerRead(attributes))
        var next: UInt16 = 1
        while next <= count {
            let last = count - next < step ? count : next + step - 1
            for block in try read(Array(next...last)) { bytes += block.bytes }
            guard last < UInt16.max else { break }
            next = last + 1
        }
        guard bytes.count >= attributes.length else { throw .noNDEF(.lengthBeyondEnd) }
        return try area(attributes, Array(bytes.prefix(attributes.length)))
    }

    /// A message that was left half written is no obstacle to a new one.
    public func writableArea() throws(TagError) -> NDEFArea {
        try area(checkedAttributes(), [])
    }

    /// Looks at the memory configuration of FeliCa Lite for block 0 and each block of the message.
    public func checkPlaces(of bytes: [UInt8]) throws(TagError) {
        let numbers = (0...(bytes.count + 15) / 16).map { UInt16(clamping: $0) }
        if let obstacle = try lockedBlock(among: numbers) { throw .notWritable(obstacle) }
    }

    /// Marks the tag as being written, writes the blocks, then the attributes with the new length.
    public func writeUnchecked(_ bytes: [UInt8]) throws(TagError) {
        let old = try checkedAttributes()
        let padded = bytes + [UInt8](repeating: 0, count: (16 - bytes.count % 16) % 16)
        var blocks: [(number: UInt16, block: Block)] = []
        for start in stride(from: 0, to: padded.count, by: 16) {
            guard let number = UInt16(exactly: start / 16 + 1), let block = Block(padded[start..<start + 16]) else {
                throw .tooLong(length: bytes.count, capacity: old.capacity)
            }
            blocks.append((number, block))
        }
        guard let begun = old.changed(isBeingWritten: true, length: old.length),
            let ended = old.changed(isBeingWritten: false, length: bytes.count)
        else { throw .tooLong(length: bytes.count, capacity: old.capacity) }
        try write([(0, begun.block)])
        let step = blocksPerWrite(old)
        for start in stride(from: 0, to: blocks.count, by: step) {
            try write(Array(blocks[start..<min(start + step, blocks.count)]))
        }
        try write([(0, ended.block)])
    }

    /// The attributes of a tag that can be followed.
    private func checkedAttributes() throws(TagError) -> Type3Attributes {
        let attributes = try attributes()
        guard attributes.isChecksumRight else { throw .noNDEF(.checksum) }
        guard attributes.majorVersion == 1 else { throw .noNDEF(.unknownVersion) }
        return attributes
    }

    private func area(_ attributes: Type3Attributes, _ message: [UInt8]) throws(TagError) -> NDEFArea {
        let obstacle = attributes.isWritable ? try lockedBlock(among: [0]) : .readOnly
        return NDEFArea(message: message, capacity: attributes.capacity, obstacle: obstacle)
    }
}
