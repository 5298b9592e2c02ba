// SPDX-License-Identifier: Apache-2.0

import ReaderCore

/// A card with one file, read by hand; it has a manner of its own to say that the file ends.
final class FileCard: CardChannel {
    enum Manner: Hashable, Sendable, CaseIterable {
        /// `6282` with what is left.
        case warning
        /// What is left with `9000`, then `6B00`.
        case shortAnswer
        /// `6Cxx` with the right length, then `6B00`.
        case corrects
        /// `6700` for a length that goes past the end.
        case wrongLength
        /// What is left with `9000`, and nothing with `9000` behind it.
        case emptyAnswer
        /// Everything by GET RESPONSE, the end by a warning.
        case fetched
        /// At most seven bytes at a time.
        case sevenBytes
    }

    let file: [UInt8]
    let manner: Manner
    let longest: Int
    private(set) var exchanges = 0
    private var waiting: [UInt8] = []

    init(_ file: [UInt8], _ manner: Manner, longest: Int = 258) {
        self.file = file
        self.manner = manner
        self.longest = longest
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        exchanges += 1
        let answer = answer(frame)
        guard answer.count <= longest else { throw .answerTooLong }
        return answer
    }

    private func answer(_ frame: [UInt8]) -> [UInt8] {
        let expected = frame.last.map { $0 == 0 ? 256 : Int($0) } ?? 0
        switch frame[1] {
        case 0xA4: return [0x90, 0x00]
        case 0xB0 where frame[2] < 0x80: return read(Int(frame[2]) << 8 | Int(frame[3]), expected)
        case 0xB1:
            let offset = frame[7..<frame.count - 1].reduce(0) { $0 << 8 | Int($1) }
            let answer = read(offset, max(0, expected - (expected < 131 ? 2 : 3)))
            let data = answer.dropLast(2)
            // The right length is that of the whole object.
            if data.isEmpty, let right = answer.last, answer.first == 0x6C {
                return [0x6C, right + (right < 128 ? 2 : 3)]
            }
            if manner == .fetched, answer.first == 0x61 {
                waiting = FileCard.object(waiting[...])
                return [0x61, UInt8(min(waiting.count, 255))]
            }
            return data.isEmpty ? answer : FileCard.object(data) + answer.suffix(2)
        case 0xC0:
            defer { waiting.removeFirst(min(expected, waiting.count)) }
            let left = waiting.count - expected
            return Array(waiting.prefix(expected)) + (left > 0 ? [0x61, UInt8(min(left, 255))] : [0x90, 0x00])
        default: return [0x6D, 0x00]
        }
    }

    private static func object(_ data: ArraySlice<UInt8>) -> [UInt8] {
        [0x53] + (data.count < 128 ? [UInt8(data.count)] : [0x81, UInt8(data.count)]) + data
    }

    private func read(_ offset: Int, _ expected: Int) -> [UInt8] {
        guard offset < file.count else { return manner == .emptyAnswer ? [0x90, 0x00] : [0x6B, 0x00] }
        let rest = file[offset...].prefix(expected)
        let isShort = rest.count < expected
        switch manner {
        case .warning: return rest + (isShort ? [0x62, 0x82] : [0x90, 0x00])
        case .shortAnswer, .emptyAnswer: return rest + [0x90, 0x00]
        case .corrects: return isShort ? [0x6C, UInt8(rest.count & 0xFF)] : rest + [0x90, 0x00]
        case .wrongLength: return isShort ? [0x67, 0x00] : rest + [0x90, 0x00]
        case .fetched:
            waiting = Array(rest)
            return [0x61, UInt8(min(rest.count, 255))]
        case .sevenBytes: return rest.prefix(7) + [0x90, 0x00]
        }
    }
}
