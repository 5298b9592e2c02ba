// SPDX-License-Identifier: Apache-2.0

internal import ISO7816
internal import NDEF
internal import NFCTransport

extension Type4Tag: NDEFTag {
    /// 4
    public var typeNumber: Int { 4 }

    /// Reads the message of the NDEF file. An exchange that failed is tried again from the start.
    public func readNDEF() throws(TagError) -> NDEFArea {
        try twice { () throws(TagError) in try readOnce() }
    }

    /// The room of the NDEF file, whatever its length field says.
    public func writableArea() throws(TagError) -> NDEFArea {
        try twice { () throws(TagError) in
            let file = try selectFile(capability())
            return NDEFArea(message: [], capacity: file.capacity, obstacle: file.isWritable ? nil : .readOnly)
        }
    }

    /// UPDATE BINARY cannot name an offset above 32,767: a message that goes further is refused.
    public func checkPlaces(of bytes: [UInt8]) throws(TagError) {
        try twice { () throws(TagError) in
            let reach = try Type4Tag.reach(selectFile(capability()))
            guard bytes.count <= reach else { throw .tooLong(length: bytes.count, capacity: reach) }
        }
    }

    /// Sets the length to 0, writes the message, then its length; a message that fits into one command goes there with its
    /// length, which the card writes as one.
    public func writeUnchecked(_ bytes: [UInt8]) throws(TagError) {
        try twice { () throws(TagError) in
            let capability = try capability()
            let file = try selectFile(capability)
            let most = max(1, min(capability.longestWrite, 0xFF))
            let length = Type4Tag.field(bytes.count, file.lengthBytes)
            if length.count + bytes.count <= most {
                try write(at: 0, length + bytes, most: most)
                return
            }
            try write(at: 0, Type4Tag.field(0, file.lengthBytes), most: most)
            try write(at: file.lengthBytes, bytes, most: most)
            try write(at: 0, length, most: most)
        }
    }

    private static func reach(_ file: Type4Capability.File) -> Int {
        CommandAPDU.highestBinaryOffset - file.lengthBytes
    }

    private func readOnce() throws(TagError) -> NDEFArea {
        let capability = try capability()
        let file = try selectFile(capability)
        let most = max(1, capability.longestRead)
        let field = try read(from: 0, count: file.lengthBytes, most: most)
        guard field.count == file.lengthBytes else { throw .noNDEF(.brokenCapability) }
        let length = field.reduce(0) { $0 << 8 | Int($1) }
        guard length <= file.capacity else { throw .noNDEF(.lengthBeyondEnd) }
        let message = try read(from: file.lengthBytes, count: length, most: most)
        guard message.count == length else { throw .noNDEF(.lengthBeyondEnd) }
        return NDEFArea(message: message, capacity: file.capacity, obstacle: file.isWritable ? nil : .readOnly)
    }

    private static func field(_ length: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: length >> (8 * (count - 1 - $0))) }
    }

    /// Does work that begins with SELECT of the application; when the card did not answer, or not well, once more.
    private func twice<Value>(_ work: () throws(TagError) -> Value) throws(TagError) -> Value {
        do throws(TagError) {
            return try work()
        } catch .tagLost {
            return try work()
        } catch .transport(let error) where error.isTransient {
            return try work()
        } catch {
            throw error
        }
    }
}
