// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import TestSupport
import Testing

@Suite("Reading in falling steps")
struct FallingReadTests {
    private struct Gone: Error {}

    /// Answers like a chip that gives at most this many bytes at once.
    private static func answer(_ file: [UInt8], _ longest: Int, _ refusal: StatusWord, _ offset: Int, _ count: Int)
        -> ResponseAPDU
    {
        guard count <= longest else { return ResponseAPDU(status: refusal) }
        guard offset < file.count else { return ResponseAPDU(status: .wrongParameters) }
        let part = Array(file[offset..<min(file.count, offset + count)])
        return ResponseAPDU(data: part, status: part.count < count ? .endOfFile : .success)
    }

    @Test("Files of any size through chips with any limit, in few requests, and no longer one after a refusal")
    func limits() {
        var random = SeededGenerator(seed: 112)
        for round in TestEffort.rounds(300) {
            let file = (0..<Int.random(in: 0...1200, using: &random)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let longest = Int.random(in: 1...300, using: &random)
            let refusal: StatusWord = round.isMultiple(of: 2) ? 0x6700 : StatusWord(0x6C, UInt8(clamping: longest))
            let wanted = Int.random(in: 0...1300, using: &random)
            var reads = FallingReads(step: [0xFFFF, 256, 223].randomElement(using: &random) ?? 256)
            var (requests, refused) = (0, Int.max)
            let end = reads.read(wanted) { offset, count in
                requests += 1
                #expect(count < refused && offset + count <= wanted, "round \(round)")
                let response = Self.answer(file, longest, refusal, offset, count)
                if response.status == refusal { refused = min(refused, count) }
                return response
            }
            #expect(reads.data == Array(file.prefix(wanted)), "round \(round)")
            #expect(wanted <= file.count ? end == .limit : end != .limit)
            #expect(
                requests <= 13 + 2 * wanted / min(longest, 223) + (longest < 16 ? wanted : 0),
                "round \(round): \(requests)")
        }
    }

    @Test("Earlier parts survive an error, and nothing below the smallest part is requested")
    func ends() throws {
        var reads = FallingReads(after: [1, 2], step: 4)
        #expect(throws: Gone.self) {
            try reads.read(20) { offset, count throws(Gone) in
                guard offset < 6 else { throw Gone() }
                return ResponseAPDU(data: [UInt8](repeating: 9, count: count), status: .success)
            }
        }
        #expect(reads.data == [1, 2, 9, 9, 9, 9])
        var counts: [Int] = []
        var others = FallingReads(step: 223)
        let end = others.read(500, smallest: 16, isTooLong: { $0 == 0x6988 }) { _, count in
            counts.append(count)
            return ResponseAPDU(status: 0x6988)
        }
        #expect(end == .refused(0x6988) && counts == [223, 160, 112, 64, 32, 16] && others.step == 16)
        var strangers = FallingReads(step: 223)
        #expect(strangers.read(500) { _, _ in ResponseAPDU(status: 0x6988) } == .refused(0x6988))
        #expect(strangers.step == 223)
    }
}
