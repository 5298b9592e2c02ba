// SPDX-License-Identifier: Apache-2.0

@testable import ReaderCore
@testable import PaSoRiReader

/// Feeds the Port-400's message parser, then the parser of the data objects in each message: the first byte says where the
/// rest is cut into two transfers.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let rest = bytes.dropFirst()
    _ = TransparentAnswer(Array(rest))
    let cut = min(Int(first), rest.count)
    var parser = Port400MessageParser()
    for transfer in [rest.prefix(cut), rest.dropFirst(cut)] {
        parser.feed(Array(transfer))
        var left = count
        // Each message takes bytes away, so there are fewer messages than bytes.
        while left >= 0, case .message(let message) = parser.next() {
            left -= 1
            if let answer = TransparentAnswer(message.data), !(1...8).contains(answer.lastByteBits) { fatalError() }
        }
        if left < 0 { fatalError() }
    }
    return 0
}
