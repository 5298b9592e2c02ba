// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Block 1 of service 560B, which sources read in three ways.
struct NanacoPoints {
    let raw: Block

    /// Three bytes at 0, big-endian (felica2money and others).
    private var first: Int { Int(raw.uint24(at: 0, .big)) }

    /// These and the three bytes at 5: this year's points and last year's (TRETJapanNFCReader).
    private var bothYears: Int { first + Int(raw.uint24(at: 5, .big)) }

    /// Two bytes at 1, big-endian.
    private var short: Int { Int(raw.uint16(at: 1, .big)) }

    /// The points when all readings agree, else all readings.
    var field: CardField {
        guard !isDisputed else {
            let readings = [first, bothYears, short].map { String($0) }
            return CardField(
                key: "pointsReadings", name: LocalizedText("Points (readings differ)", "ポイント（諸説あり）"),
                value: readings.joined(separator: " "),
                label: LocalizedText(
                    "\(readings[0]); with the year before \(readings[1]); in two bytes \(readings[2])",
                    "\(readings[0])、前年分を含めて\(readings[1])、2バイトでは\(readings[2])"),
                isPersonal: false)
        }
        return .points(first)
    }

    /// Whether the readings differ.
    var isDisputed: Bool { first != bothYears || first != short }
}

extension CardReport {
    /// Takes the points of a nanaco.
    mutating func take(_ points: NanacoPoints) {
        fields.append(points.field)
        if points.isDisputed { warnings.append(.readingsDiffer) }
    }
}
