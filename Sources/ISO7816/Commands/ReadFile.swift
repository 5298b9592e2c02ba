// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

extension ISO7816Session {
    /// The most bytes that are read of one file unless more is asked for.
    package static let longestFile = 0x10000

    /// Reads the current EF in blocks that the reader can pass on.
    ///
    /// A block may be shorter than was asked for; the next one then begins behind it. Where the card calls the length
    /// wrong (`6700`), half as much is asked for. Reading ends as ``FileContents/End`` lists, and after a few more
    /// exchanges at most than there are bytes.
    ///
    /// - Parameters:
    ///   - limit: how many bytes at most, when the size of the file is known before or no more is wanted.
    ///   - bytesPerRead: the most that one command asks for; what the reader can pass on by default.
    /// - Returns: what was read, also when an exchange failed on the way.
    package func readFile(limit: Int = longestFile, bytesPerRead: Int? = nil) -> FileContents {
        var step = max(1, min(bytesPerRead ?? limits.bytesPerRead, limits.longestExpected))
        var data: [UInt8] = []
        while data.count < limit {
            let response: ResponseAPDU
            do throws(ISO7816Error) {
                response = try readBinary(offset: data.count, count: min(step, limit - data.count))
            } catch {
                return FileContents(data: data, end: .failed(error))
            }
            data += response.data.prefix(limit - data.count)
            switch response.status {
            case .success where !response.data.isEmpty: continue
            case .wrongLength where response.data.isEmpty && step > 1: step /= 2
            case .success, .endOfFile, .wrongParameters: return FileContents(data: data, end: .file)
            default: return FileContents(data: data, end: .refused(response.status))
            }
        }
        return FileContents(data: data, end: .limit)
    }

    /// Selects an EF of the current DF and reads it, as ``readFile(limit:bytesPerRead:)`` does.
    ///
    /// - Throws: ``ISO7816Error`` when it cannot be selected, and when not a byte of it could be read.
    package func readFile(
        _ file: FileIdentifier, limit: Int = longestFile, bytesPerRead: Int? = nil
    ) throws(ISO7816Error) -> FileContents {
        try select(.childEF(file))
        let contents = readFile(limit: limit, bytesPerRead: bytesPerRead)
        guard contents.data.isEmpty else { return contents }
        switch contents.end {
        case .refused(let status): throw .status(.readBinary, status)
        case .failed(let error): throw error
        case .limit, .file: return contents
        }
    }

    /// Reads the one data object in BER-TLV that the current EF begins with: its tag and length tell how far to read.
    ///
    /// - Parameter limit: the longest object that is read, its tag and length included.
    /// - Returns: the object as far as it was read, and nothing behind it.
    /// - Throws: ``ISO7816Error``; ``ISO7816Error.Reason/notADataObject`` when the file begins with no tag and length.
    package func readDataObject(limit: Int = longestFile) throws(ISO7816Error) -> FileContents {
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
}

/// What could be read of a transparent EF.
package struct FileContents: Hashable, Sendable {
    /// The bytes from the start of the file.
    package var data: [UInt8]
    /// Why there are no more.
    package var end: End

    /// Why reading came to an end.
    @nonexhaustive
    package enum End: Hashable, Sendable {
        /// As many bytes as were asked for are there.
        case limit
        /// The card says that the file ends here: by `6282`, by `6B00` for an offset behind the end, or by an answer
        /// without bytes.
        case file
        /// The card refused to go on with this status word; there may be more.
        case refused(StatusWord)
        /// An exchange failed; there may be more.
        case failed(ISO7816Error)
    }

    /// Whether nothing is missing of what was asked for or of the file.
    package var isComplete: Bool { end == .limit || end == .file }

    /// Bytes and why there are no more.
    package init(data: [UInt8], end: End) {
        self.data = data
        self.end = end
    }
}
