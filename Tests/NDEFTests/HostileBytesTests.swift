// SPDX-License-Identifier: Apache-2.0

import NDEF
import TestSupport
import Testing

@Suite("Whatever bytes come")
struct HostileBytesTests {
    @Test("A message that can be read is written and read again as the same", arguments: 1...8 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var read = 0
        for _ in 0..<4000 {
            var bytes = (0..<Int.random(in: 0...48, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Most random flags are refused at once: half of the messages begin as one may begin.
            if Bool.random(using: &generator), bytes.count > 2 {
                bytes[0] = [0xD1, 0x91, 0xD2, 0xB1, 0xC1, 0xD9].randomElement(using: &generator) ?? 0xD1
                bytes[1] = UInt8.random(in: 0...3, using: &generator)
                bytes[2] = UInt8.random(in: 0...40, using: &generator)
            }
            guard let message = try? NDEFMessage(decoding: bytes, allowingTrailingBytes: true) else { continue }
            read += 1
            let again = try NDEFMessage(decoding: message.encoded())
            #expect(again == message)
            for record in message.records {
                _ = record.json
                guard let content = try? record.content() else { continue }
                let made = try? NDEFRecord(content, id: record.id)
                if let made { #expect(try Said(made.content()) == Said(content)) }
            }
        }
        #expect(read > 100)
    }

    @Test("Every message of the vectors with every byte changed", arguments: MessageVectorTests.valid)
    func mutated(_ vector: MessageVectorTests.Valid) throws {
        let bytes = try NDEFMessage(vector.contents.map { try NDEFRecord($0) }).encoded()
        for place in bytes.indices {
            for value in UInt8.min...UInt8.max {
                var changed = bytes
                changed[place] = value
                guard let message = try? NDEFMessage(decoding: changed) else { continue }
                for record in message.records { _ = record.json }
                #expect(try NDEFMessage(decoding: message.encoded()) == message)
            }
            #expect((try? NDEFMessage(decoding: Array(bytes[..<place]))) == nil, "cut off at \(place)")
        }
    }

    @Test("Posters in posters, however deep")
    func nestedPosters() throws {
        var payload = try NDEFSmartPoster(NDEFURI("http://a")).payload()
        for _ in 0..<2000 {
            let record = NDEFRecord(format: .wellKnown, type: "Sp", payload: payload)
            payload = try NDEFMessage([record]).encoded()
        }
        let record = NDEFRecord(format: .wellKnown, type: "Sp", payload: payload)
        #expect(throws: NDEFError(.nestedPoster)) { try record.content() }
    }
}
