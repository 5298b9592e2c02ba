// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders

/// A day as `2026-11-20`.
struct DateArgument: ExpressibleByArgument, Equatable, Sendable {
    var date: CalendarDate

    init?(argument: String) {
        guard let date = CalendarDate(argument) else { return nil }
        self.date = date
    }
}
