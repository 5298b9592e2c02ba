// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension Block {
    /// The number in `count` bytes of binary-coded decimal, or `nil` when a digit is above 9.
    func decimal(at offset: Int, count: Int) -> Int? {
        var number = 0
        for place in 0..<max(0, min(count, 8)) {
            guard let value = BCD.value(self[offset + place]) else { return nil }
            number = number * 100 + value
        }
        return number
    }
}
