// SPDX-License-Identifier: Apache-2.0

import ByteCodec

/// A block number as documents write it.
enum FourDigits {
    static func text(_ number: UInt16) -> String { Hex.encode(number, digits: 4) }
}
