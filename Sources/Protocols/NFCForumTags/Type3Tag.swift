// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
internal import FeliCa
package import NDEF
package import ReaderCore

/// A Type 3 Tag: FeliCa with the NDEF system 12FC.
package final class Type3Tag {
    /// The NDEF system, from its answer to a Polling.
    package let target: FeliCaTarget
    private let reader: any Reader
    private let cancellation: CancellationToken

    /// The system code of NDEF.
    package static let system = SystemCode(rawValue: 0x12FC)
    /// The service that allows reading without a key.
    static let readService = ServiceCode(rawValue: 0x000B)
    /// The service that allows writing without a key.
    static let writeService = ServiceCode(rawValue: 0x0009)
    /// The memory configuration (MC) block of FeliCa Lite and Lite-S, which lists what can be written.
    static let memoryConfiguration: UInt16 = 0x88

    package init(reader: any Reader, target: FeliCaTarget, cancellation: CancellationToken = CancellationToken()) {
        self.reader = reader
        self.target = target
        self.cancellation = cancellation
    }

    /// Reads the attribute information, without checking it.
    ///
    /// - Throws: ``TagError``.
    package func attributes() throws(TagError) -> Type3Attributes {
        let blocks = try read([0])
        guard let block = blocks.first else { throw .badAnswer }
        return Type3Attributes(block)
    }

    /// Reads blocks of the tag's service in one command.
    func read(_ numbers: [UInt16]) throws(TagError) -> [Block] {
        try ask { system throws(FeliCaError) in
            try system.readWithoutEncryption(
                services: [Type3Tag.readService], blocks: BlockList(numbers: numbers))
        }
    }

    /// Writes blocks of the tag's service in one command.
    func write(_ blocks: [(number: UInt16, block: Block)]) throws(TagError) {
        _ = try ask { system throws(FeliCaError) in
            try system.writeWithoutEncryption(
                services: [Type3Tag.writeService], blocks: BlockList(numbers: blocks.map(\.number)),
                data: blocks.map(\.block))
        }
    }

    /// Returns a block that is locked or needs the card key, according to FeliCa Lite's memory configuration.
    ///
    /// Returns `nil` for other products and if it cannot be read.
    func lockedBlock(among numbers: [UInt16]) throws(TagError) -> TagError.WriteReason? {
        guard (0xF0...0xF2).contains(target.pmm.icType) else { return nil }
        let block: Block
        do throws(TagError) {
            guard let first = try read([Type3Tag.memoryConfiguration]).first else { return nil }
            block = first
        } catch .felica {
            return nil
        } catch {
            throw error
        }
        // Bits 0 to 13 are the user blocks: set while one can be written. Lite-S has two more maps.
        let writable = block.uint16(at: 0, .little)
        let keyed = target.pmm.icType == 0xF0 ? 0 : block.uint16(at: 8, .little) | block.uint16(at: 10, .little)
        for number in numbers where number < 14 {
            if writable & 1 << number == 0 { return .locked(page: number) }
            if keyed & 1 << number != 0 { return .passwordProtected(page: number) }
        }
        return nil
    }

    /// Returns how many blocks one command can read, limited by the tag and by the reader.
    func blocksPerRead(_ attributes: Type3Attributes) -> Int {
        max(1, min(attributes.blocksPerRead, reader.information.blocksPerRead, 15))
    }

    /// Returns how many blocks one command can write.
    ///
    /// The limits are the tag and the length of a packet with block numbers above 255.
    func blocksPerWrite(_ attributes: Type3Attributes) -> Int {
        max(1, min(attributes.blocksPerWrite, 12, ICProfile.of(target.pmm)?.blocksPerWrite ?? 12))
    }

    /// Sends a command until the tag answers it or cannot.
    private func ask<Value>(_ command: (FeliCaSystem) throws(FeliCaError) -> Value) throws(TagError) -> Value {
        let system = FeliCaSystem(channel: reader, target: target)
        var (damaged, silent) = (0, 0)
        while true {
            if cancellation.isCancelled { throw .cancelled }
            let result = Result { () throws(FeliCaError) in try command(system) }
            switch result {
            case .success(let value): return value
            case .failure(.transport(.noAnswer)), .failure(.transport(.cardReleased)):
                silent += 1
                guard try isPresent() else { throw .tagLost }
                if silent == Attempts.silent { throw .felica(.transport(.noAnswer)) }
            case .failure(.transport(.cancelled)): throw .cancelled
            case .failure(.transport(let error)):
                damaged += 1
                guard error.isTransient, damaged < Attempts.damaged else { throw .transport(error) }
            case .failure(.malformed(let code, let flaw)):
                damaged += 1
                guard damaged < Attempts.damaged else { throw .felica(.malformed(code, flaw)) }
            case .failure(let error): throw .felica(error)
            }
        }
    }

    /// Returns whether the tag still answers a Polling.
    private func isPresent() throws(TagError) -> Bool {
        for _ in 0..<Attempts.activation {
            let result = Result { () throws(TransportError) in
                try reader.activate(.felica(Type3Tag.system, bitRate: target.bitRate))
            }
            switch result {
            case .success(.felica(let found)?) where found.idm == target.idm: return true
            case .success: continue
            case .failure(.cancelled): throw .cancelled
            case .failure(let error): guard error.isTransient else { throw .transport(error) }
            }
        }
        return false
    }
}

extension Type3Tag: NDEFTag {
    package var typeNumber: Int { 3 }

    /// Reads the message that the attribute information describes.
    package func readNDEF() throws(TagError) -> NDEFArea {
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

    /// Returns the writable area; a message that was left half written does not prevent a new one.
    package func writableArea() throws(TagError) -> NDEFArea {
        try area(checkedAttributes(), [])
    }

    /// Checks the memory configuration of FeliCa Lite for block 0 and each block of the message.
    package func checkPlaces(of bytes: [UInt8]) throws(TagError) {
        let numbers = (0...(bytes.count + 15) / 16).map { UInt16(clamping: $0) }
        if let obstacle = try lockedBlock(among: numbers) { throw .notWritable(obstacle) }
    }

    /// Marks the tag as being written, writes the blocks, then the attributes with the new length.
    package func writeUnchecked(_ bytes: [UInt8]) throws(TagError) {
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

    /// Returns the attributes of a tag that can be used.
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
