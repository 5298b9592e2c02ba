// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Finds the years of records that tell month and day only.
///
/// Block 0 of 004B dates the last ride to the minute. When the newest record tells the same month, day, hour and
/// minute, its year is that one. Each older record is of the same year, or of the year before when its day lies later
/// in the year. From the first record on that was not read, names no day, or would lie before the day of issue, the
/// years are unknown. Two records more than a year apart cannot be told from two within one: hence the warning.
struct RapiCaYears {
    private let lastRide: (day: CalendarDate, time: ClockTime)?
    private let issued: CalendarDate?

    /// - Parameters:
    ///   - block: block 0 of 004B: year, month, day, hour and minute in bytes 0 to 4.
    ///   - issued: the day of issue, or `nil` when it is not known.
    init(lastRide block: Block?, issued: CalendarDate?) {
        let day = block.flatMap { CalendarDate(year: 2000 + Int($0[0]), month: Int($0[1]), day: Int($0[2])) }
        let time = block.flatMap { ClockTime(hour: Int($0[3]), minute: Int($0[4])) }
        lastRide = day.flatMap { day in time.map { (day, $0) } }
        self.issued = issued
    }

    /// Dates the records as far as the years can be known.
    func apply(to history: inout LocalHistory) {
        var newer = anchor(history)
        let isWhole = !history.isIncomplete
        history.update { place, record in
            guard let partial = record.partial, let month = partial.month, let day = partial.day, isWhole,
                let limit = newer, let date = latest(month, day, notAfter: limit), issued.map({ $0 <= date }) ?? true
            else {
                newer = nil
                if record.partial != nil { record.warnings.append(.yearUnknown) }
                return
            }
            newer = date
            record.date = date
            record.partial = nil
            record.warnings.append(.yearInferred)
        }
    }

    /// The day of the newest record, when it is the last ride's.
    private func anchor(_ history: LocalHistory) -> CalendarDate? {
        guard let lastRide, let newest = history.records.first, newest.time == lastRide.time,
            newest.partial == PartialMoment(month: lastRide.day.month, day: lastRide.day.day)
        else { return nil }
        return lastRide.day
    }

    /// The last such day that is not after `limit`, this year or the year before.
    private func latest(_ month: Int, _ day: Int, notAfter limit: CalendarDate) -> CalendarDate? {
        if (month, day) <= (limit.month, limit.day) {
            return CalendarDate(year: limit.year, month: month, day: day)
        }
        return CalendarDate(year: limit.year - 1, month: month, day: day)
    }
}
