// SPDX-License-Identifier: Apache-2.0

/// What a UART reads from bits that were sent at another speed than its own.
///
/// A byte is a start bit (low), eight data bits, least significant first, and a stop bit (high). A receiver waits for
/// the line to fall and then looks at the middle of each bit, as long as it believes bits to be. After a stop bit that
/// is low it waits for the line to rise.
enum SerialSampling {
    private static let bitsPerByte = 10

    /// The bytes that a receiver makes of these, in bits a second; both speeds are above 0.
    static func received(_ bytes: [UInt8], sentAt: Int, sampledAt: Int) -> [UInt8] {
        guard sentAt != sampledAt else { return bytes }
        // In a unit in which both bits are whole and even.
        let (sentBit, readBit) = (2 * sampledAt, 2 * sentAt)
        let end = bytes.count * bitsPerByte
        func isHigh(_ bit: Int) -> Bool {
            guard bit < end else { return true }
            let place = bit % bitsPerByte
            if place == 0 { return false }
            return place > 8 || bytes[bit / bitsPerByte] >> (place - 1) & 1 == 1
        }
        var received: [UInt8] = []
        var time = 0
        while true {
            var bit = time / sentBit
            while bit < end, isHigh(bit) { bit += 1 }
            guard bit < end else { return received }
            let start = max(time, bit * sentBit)
            func sample(_ place: Int) -> Bool { isHigh((start + place * readBit + readBit / 2) / sentBit) }
            received.append((0..<8).reduce(0) { sample($1 + 1) ? $0 | 1 << UInt8($1) : $0 })
            time = start + 9 * readBit + readBit / 2
            if !sample(9) {
                bit = time / sentBit
                while !isHigh(bit) { bit += 1 }
                time = bit * sentBit
            }
        }
    }
}
