// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("PN53x frames, byte for byte as published")
struct FrameTests {
    /// Frame and what it carries: nfcpy's tests and traces in libnfc issues 278 and 671.
    static let published: [(frame: String, data: String)] = [
        ("0000FF05FBD4003132339600", "D400313233"),
        ("0000FF05FBD5013435368B00", "D501343536"),
        ("0000FF09F7D44A010100FFFF0100E100", "D44A010100FFFF0100"),
        ("0000FF09F7D44A010200FFFF0100E000", "D44A010200FFFF0100"),
        ("0000FF06FAD43205000102F200", "D43205000102"),
        ("0000FF06FAD43205FFFFFFF800", "D43205FFFFFF"),
        ("0000FF02FED4022A00", "D402"),
        ("0000FF02FED5151600", "D515"),
        ("0000FF12EED442 1006 0102030405060708 010B00018000 2300", "D44210060102030405060708010B00018000"),
        ("0000FF13EDD44001 1006 0102030405060708 010B00018000 2400", "D4400110060102030405060708010B00018000"),
    ]

    @Test(arguments: published)
    func frameIsBuilt(frame: String, data: String) throws {
        #expect(PN532Frame.encode(try Hex.decode(data)) == (try Hex.decode(frame)))
    }

    @Test(arguments: published.filter { $0.data.hasPrefix("D4") })
    func frameIsRead(frame: String, data: String) throws {
        var parser = HostFrameParser()
        parser.feed(try Hex.decode(frame))
        #expect(parser.next() == .command(Array(try Hex.decode(data).dropFirst())))
        #expect(parser.next() == nil)
    }

    @Test func shortFrames() throws {
        #expect(PN532Frame.acknowledge == (try Hex.decode("0000FF00FF00")))
        #expect(PN532Frame.notAcknowledge == (try Hex.decode("0000FFFF0000")))
        #expect(PN532Frame.syntaxError == (try Hex.decode("0000FF01FF7F8100")))
    }

    /// nfcpy's longest frame: 261 bytes, length big-endian; and the two sizes between which the layout changes.
    @Test(arguments: [
        (254, "0000fffe02"), (255, "0000ffff01"), (256, "0000ffffff0100ff"), (261, "0000ffffff0105fa"),
        (265, "0000ffffff0109f6"),
    ])
    func lengthField(size: Int, head: String) throws {
        let data = [0xD4] + [UInt8](repeating: 0x5A, count: size - 1)
        let frame = PN532Frame.encode(data)
        #expect(Hex.encode(frame).hasPrefix(head + "d4"))
        #expect(frame.dropFirst(head.count / 2).reduce(0, &+) == 0)
        var parser = HostFrameParser()
        parser.feed(frame)
        #expect(parser.next() == .command(Array(data.dropFirst())))
    }

    /// Wake-up bytes of libnfc and nfcpy, preambles of other lengths, noise with half a start code.
    @Test(arguments: ["5555000000000000000000000000000000", "00000000000000000000", "", "00", "ff00ff00", "0000ff0000"])
    func skipsLeadingBytes(before: String) throws {
        var parser = HostFrameParser()
        parser.feed(try Hex.decode(before) + (try Hex.decode("00ff02fed4022a00")))
        #expect(parser.next() == .command([0x02]))
    }

    @Test func everySplitGivesTheSameFrames() throws {
        let stream = try Hex.decode("5555 0000ff00ff00 0000ff02fed4022a00 0000ffff0000 00 0000ffffff0002fed4022a00")
        let expected: [HostFrame] = [.acknowledge, .command([0x02]), .notAcknowledge, .command([0x02])]
        for cut in stream.indices {
            var parser = HostFrameParser()
            var frames: [HostFrame] = []
            for part in [stream[..<cut], stream[cut...]] {
                parser.feed(part)
                while let frame = parser.next() { frames.append(frame) }
            }
            #expect(frames == expected, "cut at \(cut)")
        }
    }

    /// A checksum that is wrong, a length that is too long or nothing: no frame, and the next one is heard.
    @Test(arguments: [
        "0000ff02fdd4022a00", "0000ff02fed4022b00", "0000ff0000d4022a00", "0000ffffff7fff82d402",
        "0000ffffff0000000000", "0000ffffff010af5d40200",
    ])
    func damagedFrameIsForgotten(frame: String) throws {
        var parser = HostFrameParser()
        parser.feed(try Hex.decode(frame) + (try Hex.decode("0000ff02fed4022a00")))
        #expect(parser.next() == .command([0x02]))
        #expect(parser.damagedFrames > 0)
    }

    @Test func ignoresTheEchoOfAnAnswer() throws {
        var parser = HostFrameParser()
        parser.feed(try Hex.decode("0000FF06FAD50332010607E800"))
        #expect(parser.next() == nil)
        #expect(parser.damagedFrames == 0)
    }

    /// A frame without even a command code.
    @Test func emptyCommand() throws {
        var parser = HostFrameParser()
        parser.feed(try Hex.decode("0000ff01ffd42c00"))
        #expect(parser.next() == .command([]))
    }
}
