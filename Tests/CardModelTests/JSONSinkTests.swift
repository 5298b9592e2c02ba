// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import TestSupport
import Testing

/// Both sinks make the same document of the same calls.
struct JSONSinkTests {
    private static func document(_ sink: inout some (JSONSink & ~Copyable)) {
        sink.object { object in
            object.member("text", "a \"quote\"\n")
            object.member("none", nil as String?)
            object.member("digits", HexDigits(0x90F, digits: 4))
            object.member("nothing", nil as HexDigits?)
            object.member("number", -12_345)
            object.member("noNumber", nil as Int?)
            object.member("yes", true)
            object.member("list") { $0.array(of: [1, 20, 300]) { $0.integer($1) } }
            object.member("empty") { $0.array(of: [] as [Int]) { $0.integer(Int64($1)) } }
            object.member("made") { $0.value(["a": [nil, .number(0.5), "é"], "b": [:]]) }
            object.key("k\u{1}")
            object.object { _ in }
        }
    }

    @Test func theSameCallsMakeTheSameDocument() throws {
        var writer = JSONWriter()
        Self.document(&writer)
        let text =
            #"{"text":"a \"quote\"\n","none":null,"digits":"090F","nothing":null,"number":-12345,"noNumber":null,"#
            + #""yes":true,"list":[1,20,300],"empty":[],"made":{"a":[null,0.5,"é"],"b":{}},"k\u0001":{}}"#
        #expect(writer.text == text)
        #expect(JSONValue { Self.document(&$0) }.compactText == text)
    }

    @Test func oneWriterTakesManyDocuments() {
        var writer = JSONWriter()
        for number in 0..<3 {
            writer.object { $0.member("n", number) }
            writer.endLine()
        }
        #expect(writer.text == "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n")
        writer.removeAll()
        #expect(writer.bytes.isEmpty)
        writer.array(of: ["x"]) { $0.string($1) }
        #expect(writer.text == "[\"x\"]")
    }

    /// Around every number of digits, where the digits are put together in pieces.
    @Test func everyNumberOfDigits() {
        var numbers: [Int64] = [.min, .min + 1, .max, .max - 1, 0]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            numbers += [power - 1, power, power + 1, -power, 1 - power, power / 2, power + power / 10]
        }
        for number in numbers {
            var writer = JSONWriter()
            writer.integer(number)
            #expect(writer.text == String(number))
        }
    }

    @Test func ofANameThatIsWrittenTwiceATreeKeepsTheLastValue() {
        let value = JSONValue { sink in
            sink.object {
                $0.member("a", 1)
                $0.member("b", 2)
                $0.member("a", 3)
            }
        }
        #expect(value == ["a": 3, "b": 2])
    }

    @Test func doesNotTrapOnCallsOutOfOrder() {
        var tree = JSONTreeBuilder()
        tree.endArray()
        tree.key("a")
        tree.endObject()
        tree.beginArray()
        tree.key("b")
        tree.null()
        #expect(tree.value == .null, "nothing was ended")
        tree.endObject()
        #expect(tree.value == [nil])
        var writer = JSONWriter()
        writer.endObject()
        writer.key("a")
        #expect(writer.text == "},\"a\":")
    }
}
