// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import TestSupport
import Testing

/// Files that were cut off or changed: an error that says where, or a dump; never a trap, never bytes that were not there.
@Suite struct DamagedFileTests {
    /// Short files at every length, long ones at some places: the work grows with the square of the length.
    @Test(arguments: FormatFixture.all) func cutOffAnywhere(_ fixture: FormatFixture) throws {
        let bytes = try fixture.bytes
        let whole = blocks(try DumpFormatRegistry.complete.read(bytes).dumps)
        for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / (60 * TestEffort.factor))) {
            do {
                let dumps = try DumpFormatRegistry.complete.read(Array(bytes.prefix(length))).dumps
                #expect(!dumps.isEmpty)
                #expect(blocks(dumps).isSubset(of: whole), "cut off after \(length) bytes")
            } catch {
                check(error)
            }
        }
    }

    @Test(arguments: FormatFixture.all) func changedAtRandom(_ fixture: FormatFixture) throws {
        let bytes = try fixture.bytes
        var random = SeededGenerator(seed: UInt64(bytes.count))
        for _ in TestEffort.rounds(50) {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...6, using: &random) { change(&changed, &random) }
            do {
                for dump in try DumpFormatRegistry.complete.read(changed).dumps {
                    for format in DumpFormatRegistry.complete.writable { _ = try? format.write(dump) }
                }
            } catch {
                check(error)
            }
        }
    }

    /// A format that is given a file of another one rejects it, or reads it correctly.
    @Test(arguments: FormatFixture.all) func readAsEveryOtherFormat(_ fixture: FormatFixture) throws {
        for format in DumpFormatRegistry.complete.formats where format.id != fixture.format {
            do {
                #expect(try !DumpFormatRegistry.complete.read(fixture.bytes, as: format.id).dumps.isEmpty)
            } catch let error as DocumentError {
                check(error)
            }
        }
    }

    private func blocks(_ dumps: [CardDump]) -> Set<String> {
        let memories = dumps.filter { $0.classic != nil }.flatMap(FormatFixture.lines)
        let values = dumps.flatMap(\.systems).flatMap(\.services).flatMap(\.blocks.values)
        return Set(values.map(\.description) + memories)
    }

    private func check(_ error: DocumentError) {
        switch error {
        case .malformedLine(let line, _): #expect(line >= 0)
        case .malformed: break
        case .missing(let key): #expect(!key.isEmpty)
        case .notJSON(_, let line, let byte): #expect(line >= 1 && byte >= 1)
        case .unknownFormat, .unknownSchema: break
        case .notImported(let kind): #expect(!kind.isEmpty)
        default: Issue.record("\(error)")
        }
    }

    private func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4: bytes.removeSubrange(place..<end)
        default:
            bytes.replaceSubrange(
                place..<end, with: Array("-99999999999999999999\"{[*:|".utf8).shuffled(using: &random))
        }
    }
}
