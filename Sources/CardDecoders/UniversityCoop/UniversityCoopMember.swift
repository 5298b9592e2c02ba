// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 50CB: member number (block 0, six bytes), meal plan (block 1: flag, then the day of the last meal and what
/// was eaten for, three bytes of binary-coded decimal each from byte 2), points in tenths (block 2, four bytes,
/// big-endian).
struct UniversityCoopMember {
    private let blocks: BlockTable

    init(_ service: ServiceDump) {
        blocks = service.blocks
    }

    /// The number of the member, or `nil` when its block was not read.
    var number: CardNumber? { blocks[0].map { CardNumber($0.bytes.prefix(6)) } }

    /// What else it says.
    var fields: [CardField] {
        var fields: [CardField] = []
        if let meals = blocks[1] {
            fields.append(.flag("mealPlan", "Meal plan", "ミールプラン", meals[0] != 0))
            if let day = CalendarDate(decimalYear: meals[2], month: meals[3], day: meals[4]) {
                fields.append(
                    CardField(
                        key: "lastMealDate", name: LocalizedText("Last meal", "最終ミール利用日"), value: day.description,
                        isPersonal: true))
                if let amount = meals.decimal(at: 5, count: 3) {
                    fields.append(.number("mealAmount", "Spent on meals that day", "同日のミール利用額", amount))
                }
            }
        }
        if let points = blocks[2] { fields.append(.points(tenths: points.uint32(at: 0, .big))) }
        return fields
    }
}

extension CardReport {
    /// Takes what the card says of the member.
    mutating func take(_ member: UniversityCoopMember) {
        if let number = member.number { take(number, LocalizedText("Member number", "組合員番号")) }
        fields += member.fields
    }
}
