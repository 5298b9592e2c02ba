// SPDX-License-Identifier: Apache-2.0

// A reader that Kazasu has no driver for, and a card on it.
import Kazasu

/// Lists and opens such readers; a driver of Kazasu's own is one line of its registry.
struct BridgeDriver: ReaderDriver {
    func list() -> [ReaderListing] { [ReaderListing(id: "bridge", name: "FeliCa bridge", state: .ready)] }

    func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
        id == "bridge" ? BridgeReader(cancellation: cancellation, link: link) : nil
    }
}

/// Stands in for the link: a card that answers Polling (command 00) and nothing else.
func link(_ frame: [UInt8], _ timeout: Duration) -> [UInt8]? {
    guard frame.count > 1, frame[1] == 0x00 else { return nil }
    return [0x12, 0x01] + [1, 2, 3, 4, 5, 6, 7, 8] + [0x01, 0x36, 0x8B, 0x86, 0x8F, 0xBE, 0xCB, 0xFF]
}

let cancellation = CancellationToken()
let reader = CardReader(BridgeReader(cancellation: cancellation, link: link), cancellation: cancellation)
let card = try reader.waitForCard(.feliCa)
print(card.identity.idm?.description ?? "no IDm")
