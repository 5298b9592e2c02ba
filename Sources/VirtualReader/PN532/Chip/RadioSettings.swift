// SPDX-License-Identifier: Apache-2.0

/// What RFConfiguration sets, with the values that a PN532 starts with.
struct RadioSettings: Sendable {
    /// How long an answer to ATR_REQ may take, as an index.
    var atrTimeout: UInt8 = 0x0B
    /// How long an answer in InDataExchange and InCommunicateThru may take, as an index.
    var exchangeTimeout: UInt8 = 0x0A
    /// How often InDataExchange sends an unanswered frame again.
    var exchangeRetries: UInt8 = 0x00
    /// How often ATR_REQ is sent again.
    var atrRetries: UInt8 = 0xFF
    /// How often InListPassiveTarget polls again.
    var activationRetries: UInt8 = 0xFF

    /// The time that an index stands for, 100 µs doubled `index` - 1 times; `nil` for 0, which waits for ever.
    ///
    /// Indexes end at 16 (3.28 s); higher ones are taken for it.
    static func timeout(_ index: UInt8) -> Duration? {
        index == 0 ? nil : .microseconds(100 << Int64(min(index, 16) - 1))
    }
}
