// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// Reads a file in parts, and in smaller ones after each length that the card refuses.
///
/// Plain files, residence cards and passports are all read this way; only how one part is requested differs. Chips are reported that
/// refuse more than 160, 128 or 112 bytes although they support short lengths up to 256.
package struct FallingReads {
    /// What was read, from the start of the file.
    package private(set) var data: [UInt8]
    /// The number of bytes to request next. The next file of the same card can start with it.
    package private(set) var step: Int
    /// The longest part with short lengths.
    private let longestShort: Int

    /// Why reading ended.
    package enum End: Hashable, Sendable {
        /// The requested number of bytes was read.
        case limit
        /// The card reported the end of the file with this status word.
        case file(StatusWord)
        /// The card refused to continue with this status word, even for the smallest part.
        case refused(StatusWord)
    }

    /// The lengths below 256 bytes that are tried after a refusal.
    static let lengths = [160, 112, 64, 32, 16, 8, 4, 2, 1]

    /// Starts after the bytes that are already known.
    ///
    /// - Parameters:
    ///   - data: the first bytes of the file.
    ///   - step: the number of bytes to request at first.
    ///   - longestShort: the most bytes that a command with short lengths can request; longer parts fall to it.
    package init(after data: [UInt8] = [], step: Int, longestShort: Int = 0x100) {
        self.data = data
        self.step = max(1, step)
        self.longestShort = longestShort
    }

    /// The next smaller length; `nil` if there is none. Extended lengths fall to the longest short one.
    private func length(below step: Int) -> Int? {
        step > longestShort ? longestShort : Self.lengths.first { $0 < step }
    }

    /// Reads up to this number of bytes.
    ///
    /// A part may be shorter than requested; the next one then begins after it. After an error, ``data`` has what was read until then.
    ///
    /// - Parameters:
    ///   - size: the number of bytes of the file to read.
    ///   - smallest: the length below which no part is requested.
    ///   - isTooLong: whether a status word may refuse the length, besides `6700` and `6Cxx`.
    ///   - part: requests bytes at an offset, and returns the card's answer.
    package mutating func read<Failure: Error>(
        _ size: Int, smallest: Int = 1, isTooLong: (StatusWord) -> Bool = { _ in false },
        _ part: (_ offset: Int, _ count: Int) throws(Failure) -> ResponseAPDU
    ) throws(Failure) -> End {
        while data.count < size {
            let count = min(step, size - data.count)
            let response = try part(data.count, count)
            data += response.data.prefix(size - data.count)
            switch response.status {
            case .success where !response.data.isEmpty: continue
            case .success, .endOfFile, .wrongParameters: return .file(response.status)
            case let status where response.data.isEmpty && (status.refusesLength || isTooLong(status)):
                guard let next = length(below: count), next >= smallest else { return .refused(status) }
                step = next
            default: return .refused(response.status)
            }
        }
        return .limit
    }

    /// What was read of a file that must not be empty.
    ///
    /// - Throws: ``ISO7816Error/status(_:_:)`` if the card refused, or gave nothing.
    func contents(_ end: End) throws(ISO7816Error) -> [UInt8] {
        switch end {
        case .refused(let status): throw .status(.readBinary, status)
        case .file(let status) where data.isEmpty: throw .status(.readBinary, status)
        case .file, .limit: return data
        }
    }
}

extension FileContents.End {
    /// The end of reading in parts.
    init(_ end: FallingReads.End) {
        switch end {
        case .limit: self = .limit
        case .file: self = .file
        case .refused(let status): self = .refused(status)
        }
    }
}

extension StatusWord {
    /// Whether it refuses the length that was requested: `6700` or `6Cxx`.
    fileprivate var refusesLength: Bool { self == .wrongLength || correctLength != nil }
}
