// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa
import Testing

/// IDm `0102030405060708`, which the vectors write `<I>`.
let testIDm = IDm(rawValue: 0x0102_0304_0506_0708)
/// IDm `01020304050607FF` of felica-tool's tests.
let otherIDm = IDm(rawValue: 0x0102_0304_0506_07FF)
/// IDm `0123456789ABCDEF` of felica-tool's tests.
let digitsIDm = IDm(rawValue: 0x0123_4567_89AB_CDEF)

/// The bytes of a vector; `<I>` stands for ``testIDm``.
func packet(_ text: String) throws -> [UInt8] {
    var parts = ""
    var rest = Substring(text)
    while let mark = rest.firstIndex(of: "<") {
        parts += rest[..<mark] + testIDm.description
        rest = rest[mark...].dropFirst(3)
    }
    return try Hex.decode(parts + rest)
}

/// What a command makes of an answer written as hexadecimal.
func answer<Command: FeliCaCommand>(
    to command: Command, _ text: String, idm: IDm = testIDm
) throws -> Command.Response {
    try command.response(from: packet(text), idm: idm)
}

/// The error that a command gives for an answer, or `nil` when it gives none.
func refusal<Command: FeliCaCommand>(
    of command: Command, _ text: String, idm: IDm = testIDm
) throws -> FeliCaError? {
    let bytes = try packet(text)
    do {
        _ = try command.response(from: bytes, idm: idm)
        return nil
    } catch {
        return error
    }
}

/// Sixteen bytes counting up from `first`.
func counting(from first: UInt8 = 0) throws -> Block {
    try #require(Block((0..<16).map { first &+ $0 }))
}
