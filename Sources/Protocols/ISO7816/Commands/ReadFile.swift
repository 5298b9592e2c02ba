// SPDX-License-Identifier: Apache-2.0

package import ByteCodec
public import CardModel

extension ISO7816Session {
    /// The maximum number of bytes read from one file unless more is requested.
    public static let longestFile = 0x10000

    /// Reads the current EF in blocks that the reader can pass on.
    ///
    /// A block may be shorter than requested; the next one then begins after it. If the card refuses a length
    /// (`6700`), less is requested. Reading ends as listed in ``FileContents/End``, after at most a few more
    /// exchanges than there are bytes.
    ///
    /// - Parameter limit: the maximum number of bytes, if the size of the file is already known or no more is wanted.
    /// - Returns: what was read, even if an exchange failed on the way.
    public func readFile(limit: Int = longestFile) -> FileContents {
        var reads = FallingReads(step: limits.bytesPerRead)
        do throws(ISO7816Error) {
            let end = try reads.read(limit) { offset, count throws(ISO7816Error) in
                try readBinary(offset: offset, count: count)
            }
            return FileContents(data: reads.data, end: FileContents.End(end))
        } catch {
            return FileContents(data: reads.data, end: .failed(error))
        }
    }

    /// Reads an EF of the current DF by its short identifier, in short commands.
    ///
    /// - Parameters:
    ///   - shortID: 1 to 30.
    ///   - size: the length of the file in bytes; a shorter one ends earlier.
    /// - Throws: ``ISO7816Error``; ``ISO7816Error/status(_:_:)`` if the card refuses.
    package func readFile(shortID: UInt8, size: Int) throws(ISO7816Error) -> [UInt8] {
        var requestsAll = size <= 0x100 && limits.longestExpected == 0x100
        var reads = FallingReads(step: requestsAll ? 0x100 : limits.bytesPerRead)
        let end = try reads.read(size) { offset, count throws(ISO7816Error) in
            // The first read names the file; from then on it is the current one.
            var response = try transmit(
                CommandAPDU(
                    .readBinary, p1: offset == 0 ? 0x80 | shortID & 0x1F : UInt8(truncatingIfNeeded: offset >> 8),
                    p2: UInt8(truncatingIfNeeded: offset), ne: requestsAll ? 0x100 : count))
            // An answer with less than everything that fits ends with the file.
            if requestsAll, response.status == .success, response.data.count < 0x100 { response.status = .endOfFile }
            requestsAll = false
            return response
        }
        return try reads.contents(end)
    }

    /// Reads the one BER-TLV data object at the start of the current EF; its tag and length determine how far to read.
    ///
    /// - Parameter limit: the longest object to read, including its tag and length.
    /// - Returns: the part of the object that was read, and nothing after it.
    /// - Throws: ``ISO7816Error``; `notADataObject` if the file does not begin with a tag and
    ///   length.
    public func readDataObject(limit: Int = longestFile) throws(ISO7816Error) -> FileContents {
        let head = readFile(limit: min(limit, 7))
        if case .failed(let error) = head.end { throw error }
        if case .refused(let status) = head.end { throw .status(.readBinary, status) }
        guard let header = try? BERHeader(head.data) else { throw .malformed(.readBinary, .notADataObject) }
        let length = min(limit, header.totalLength)
        guard length > head.data.count, head.end == .limit else {
            return FileContents(data: Array(head.data.prefix(length)), end: head.end)
        }
        return readFile(limit: length)
    }

    /// Reads the one BER-TLV data object at the start of the current EF, but not the value of one object in it: it has zeros there.
    ///
    /// The objects are found by reading the tag and length of each. Nothing behind the one that is left out is read, nor behind one that
    /// is malformed.
    ///
    /// - Parameters:
    ///   - limit: the longest object to read, including its tag and length.
    ///   - hidden: the tag of the object, one level down.
    /// - Throws: ``ISO7816Error``, as ``readDataObject(limit:)``.
    package func readDataObject(
        limit: Int, leavingOut hidden: BERTag
    ) throws(ISO7816Error) -> FileContents {
        let head = readFile(limit: min(limit, 7))
        if case .failed(let error) = head.end { throw error }
        if case .refused(let status) = head.end { throw .status(.readBinary, status) }
        guard let outer = try? BERHeader(head.data) else { throw .malformed(.readBinary, .notADataObject) }
        let end = min(limit, outer.totalLength)
        var offset = outer.size
        var zeros = 0
        while offset < end {
            let response = try readBinary(offset: offset, count: min(5, end - offset))
            guard response.status == .success || response.status == .endOfFile,
                let header = try? BERHeader(response.data)
            else { break }
            if header.tag == hidden {
                offset = min(end, offset + header.size)
                zeros = min(header.length, end - offset)
                break
            }
            offset = min(end, offset + header.totalLength)
        }
        var contents = readFile(limit: offset)
        if contents.data.count == offset { contents.data += [UInt8](repeating: 0, count: zeros) }
        return contents
    }
}

/// The part of a transparent EF that could be read.
public struct FileContents: Hashable, Sendable {
    /// The bytes from the start of the file.
    public var data: [UInt8]
    /// Why reading ended.
    public var end: End

    /// The reasons for the end of reading.
    @nonexhaustive
    public enum End: Hashable, Sendable {
        /// The requested number of bytes was read.
        case limit
        /// The card reported the end of the file.
        ///
        /// It did so with `6282`, with `6B00` for an offset after the end, or with an answer without bytes.
        case file
        /// The card refused to continue with this status word; there may be more.
        case refused(StatusWord)
        /// An exchange failed; there may be more.
        case failed(ISO7816Error)
    }

    /// Makes contents from the bytes and the reason for the end.
    package init(data: [UInt8], end: End) {
        self.data = data
        self.end = end
    }
}
