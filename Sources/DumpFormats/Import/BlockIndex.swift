// SPDX-License-Identifier: Apache-2.0

import CardModel

/// The number of a block, written as four hexadecimal digits.
struct BlockIndex: FourDigitCode {
    let rawValue: UInt16

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
