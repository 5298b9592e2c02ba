// SPDX-License-Identifier: Apache-2.0

/// A message of a host to a Port-400, read by hand, and the reader's answer to it.
struct Port400HostMessage: Sendable {
    let sequence: UInt8
    let command: [UInt8]

    /// `6B`, four bytes of length from the lowest, slot 0, a number, three bytes; `nil` for anything else.
    init?(_ transfer: [UInt8]) {
        guard transfer.count >= 10, transfer[0] == 0x6B, transfer[5] == 0 else { return nil }
        let length = transfer[1...4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length == transfer.count - 10 else { return nil }
        sequence = transfer[6]
        command = Array(transfer[10...])
    }

    /// An answer.
    ///
    /// - Parameter status: 00 done, 40 failed, 80 more time; and 02: no card with contacts, as always.
    static func answer(_ sequence: UInt8, status: UInt8 = 0x02, error: UInt8 = 0x00, _ data: [UInt8] = []) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: data.count >> ($0 * 8)) }
        return [0x83] + length + [0x00, sequence, status, error, 0x00] + data
    }
}
