// SPDX-License-Identifier: Apache-2.0

import ReaderCore

@testable import ISODEP

/// A card that answers what the fuzzer says, each answer behind a byte with its length.
private final class FuzzedCard: RawFrameChannel {
    let longestRawFrame = 64
    private var rest: ArraySlice<UInt8>
    private(set) var exchanges = 0

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        exchanges += 1
        guard let length = rest.popFirst(), length > 0 else { throw .noAnswer }
        let answer = rest.prefix(Int(length & 0x3F))
        rest = rest.dropFirst(answer.count)
        return RawAnswer(Array(answer))
    }

    func resetField() throws(TransportError) {}

    func wait(_ time: Duration) throws(TransportError) {}
}

/// Activates a card of type A or B and sends it a command; whatever it answers, that ends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let card = FuzzedCard(bytes)
    var pcd = PCD(card)
    for request in [ActivationRequest.typeA(), .typeB()] {
        _ = try? pcd.activate(request)
        _ = try? pcd.transceive([0x00, 0xA4, 0x04, 0x00, 0x00], timeout: .milliseconds(50))
    }
    // One exchange for each byte, and what it takes to give up.
    if card.exchanges > count + 200 { fatalError() }
    return 0
}
