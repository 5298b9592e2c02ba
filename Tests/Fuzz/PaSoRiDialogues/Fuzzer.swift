// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore

@testable import PaSoRiReader
@testable import USBTransport

/// A reader that sends what the fuzzer says: each transfer behind a byte that says how long it is and whether it is put
/// into a message that is well formed, so that what is in messages is reached, too.
private final class FuzzedLink: USBLink {
    private let isPort400: Bool
    private var rest: ArraySlice<UInt8>
    private var last: [UInt8] = []
    private(set) var transfers = 0

    init(_ bytes: [UInt8], isPort400: Bool) { (rest, self.isPort400) = (bytes[...], isPort400) }

    func send(_ bytes: [UInt8], within time: Duration) throws(USBError) {
        transfers += 1
        last = bytes
    }

    func receive(within time: Duration) throws(USBError) -> [UInt8] {
        transfers += 1
        guard let mark = rest.popFirst() else { throw .timedOut }
        let bytes = Array(rest.prefix(Int(mark & 0x3F)))
        rest = rest.dropFirst(bytes.count)
        switch mark >> 6 {
        case 0: throw bytes.isEmpty ? .timedOut : .stalled
        case 1: return bytes
        default: return isPort400 ? answer400(bytes) : answer100(bytes)
        }
    }

    func ignoreCancellation() {}
    func close() {}

    /// An acknowledgement and the answer to the last command with these bytes.
    private func answer100(_ bytes: [UInt8]) -> [UInt8] {
        guard last.count > 9 else { return [] }
        return Port100Frame.acknowledgeBytes + Port100Frame.encode([0xD7, last[9] &+ 1] + bytes)
    }

    /// A message with the last command's number, its status from the first byte, and success at its end.
    private func answer400(_ bytes: [UInt8]) -> [UInt8] {
        guard last.count > 6 else { return [] }
        let data = bytes.dropFirst() + [0x90, 0x00]
        return [0x83, UInt8(truncatingIfNeeded: data.count), 0, 0, 0, 0, last[6], (bytes.first ?? 0) & 0xC0, 0xE0, 0]
            + data
    }
}

/// Opens a reader of each kind, looks for a FeliCa card at both speeds and sends it a command: whatever comes, that ends,
/// without a trap.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    for isPort400 in [false, true] {
        let link = FuzzedLink(bytes, isPort400: isPort400)
        let (information, token) = (ReaderInformation(id: "", name: ""), CancellationToken())
        let reader: (any Reader)? =
            isPort400
            ? try? PaSoRiReader(rcs300: link, information, token, pause: { _ in })
            : try? PaSoRiReader(rcs380: link, information, token)
        _ = try? reader?.activateFeliCa(systems: [.any, .ndef])
        _ = try? reader?.transceive([0x0A, 0x0C, 1, 2, 3, 4, 5, 6, 7, 8], timeout: .milliseconds(10))
        reader?.close()
        // Every command gives up after some transfers without an answer.
        if link.transfers > 2 * count + 2000 { fatalError() }
    }
    return 0
}
