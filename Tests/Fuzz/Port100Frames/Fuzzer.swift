// SPDX-License-Identifier: Apache-2.0

@testable import PaSoRiReader

/// Feeds the Port-100's frame parser: the first byte says where the rest is cut into two transfers.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let rest = bytes.dropFirst()
    let cut = min(Int(first), rest.count)
    var parser = Port100FrameParser()
    for transfer in [rest.prefix(cut), rest.dropFirst(cut)] {
        parser.feed(Array(transfer))
        var left = count
        // Each frame takes bytes away, so there are fewer frames than bytes.
        while left >= 0, case .message(let frame) = parser.next() {
            left -= 1
            if case .data(let data) = frame, Port100Frame.encode(data).count != data.count + 10 { fatalError() }
        }
        if left < 0 { fatalError() }
    }
    return 0
}
