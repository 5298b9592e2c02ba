// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 00CF: year, month and day of a charge in bytes 0 to 2, amount in 3 and 4, premium in 5 and 6.
enum RapiCaCharges {
    /// One field a charge, newest first, as in `2024-03-09 1000 +100`; one whose day does not exist has no day.
    static func fields(_ service: ServiceDump) -> [CardField] {
        BlockSequence(service) { $0.isZero }.entries.enumerated().map { place, entry in
            let block = entry.block
            let day = CalendarDate(year: 2000 + Int(block[0]), month: Int(block[1]), day: Int(block[2]))
            let money = "\(block.uint16(at: 3, .big)) +\(block.uint16(at: 5, .big))"
            return CardField(
                key: "charge\(place + 1)",
                name: LocalizedText("Charge \(place + 1), yen and premium", "積増\(place + 1)(円・プレミアム)"),
                value: (day.map { "\($0) " } ?? "") + money, isPersonal: false)
        }
    }
}
