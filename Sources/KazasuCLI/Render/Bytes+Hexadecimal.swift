// SPDX-License-Identifier: Apache-2.0

import ByteCodec

extension [UInt8] {
    /// Packed lower-case digits, as documents have them.
    var hexadecimal: String { Hex.encode(self) }
}
