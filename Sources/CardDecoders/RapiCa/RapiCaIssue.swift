// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 000B: company in bytes 0 and 1, year, month and day of issue in 5 to 7, deposit in 12 and 13.
struct RapiCaIssue {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// The day of issue, or `nil` when the bytes name no day that exists.
    var date: CalendarDate? {
        CalendarDate(year: 2000 + Int(raw[5]), month: Int(raw[6]), day: Int(raw[7]))
    }

    var fields: [CardField] {
        (date.map { [CardField.issueDate($0)] } ?? [])
            + [.number("deposit", "Deposit, yen", "デポジット(円)", raw.uint16(at: 12, .big))]
    }
}
