// SPDX-License-Identifier: Apache-2.0

extension DecodingWarning {
    /// What is wrong with a day and a time that should both be there.
    static func invalid(_ date: CalendarDate?, _ time: ClockTime?) -> [DecodingWarning] {
        (date == nil ? [.invalidDate] : []) + (time == nil ? [.invalidTime] : [])
    }
}
