// SPDX-License-Identifier: Apache-2.0

/// What a simulated USB reader has ready for its host.
struct USBOutbox: Sendable {
    /// A transfer, or `nil` for one time that the host asks in vain.
    private var transfers: [[UInt8]?]

    init(_ leftover: [[UInt8]]) {
        transfers = leftover
    }

    mutating func add(_ transfer: [UInt8]) {
        transfers.append(transfer)
    }

    mutating func addPause() {
        transfers.append(nil)
    }

    mutating func next() -> [UInt8]? {
        transfers.isEmpty ? nil : transfers.removeFirst()
    }
}
