// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// A status word that is expected: four hexadecimal digits, of which any may be `x`.
struct StatusPattern: Equatable, Sendable, CustomStringConvertible {
    let description: String

    init?(_ text: Substring) {
        guard text.utf8.count == 4, text.utf8.allSatisfy({ Hex.value(of: $0) != nil || $0 | 0x20 == 0x78 }) else {
            return nil
        }
        description = text.uppercased().replacing("X", with: "x")
    }

    func matches(_ status: StatusWord) -> Bool {
        zip(description.utf8, status.description.utf8).allSatisfy { $0 == UInt8(ascii: "x") || $0 == $1 }
    }
}
