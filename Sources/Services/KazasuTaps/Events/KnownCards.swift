// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Cards that have names: by their numbers, or by the keyed hashes that replace those in events.
package struct KnownCards: Sendable, Hashable {
    private var names: [String: String] = [:]

    /// Why a card is not added.
    package enum Refusal: Error, Hashable, Sendable {
        case notANumber
        case noName
        /// It has a name already.
        case twice

        /// The same in words.
        package var words: LocalizedText {
            switch self {
            case .notANumber: LocalizedText("this is not the number of a card", "カードの番号ではありません")
            case .noName: LocalizedText("a card needs one name", "カードには名前が 1 つ必要です")
            case .twice: LocalizedText("this card is listed twice", "同じカードが 2 回あります")
            }
        }
    }

    /// Cards with their names, as a client sends them.
    package init(_ names: JSONObject) throws(Refusal) {
        for member in names.members {
            guard case .string(let name) = member.value, !name.isEmpty else { throw .noName }
            try add(member.key, name: name)
        }
    }

    /// Knows no card.
    package init() {}

    /// The names, each once.
    package var allNames: Set<String> { Set(names.values) }

    /// Adds a card.
    ///
    /// - Parameter tag: an IDm, UID or keyed hash in hexadecimal digits, packed or with a space, colon or hyphen between bytes.
    package mutating func add(_ tag: String, name: String) throws(Refusal) {
        let digits = tag.filter { !" :-".contains($0) }
        guard let bytes = try? Hex.decode(digits), [4, 7, 8, 10, 16].contains(bytes.count) else { throw .notANumber }
        let key = Self.key(bytes, isIDm: bytes.count == 8)
        guard names[key] == nil else { throw .twice }
        names[key] = name
    }

    /// The name of a card.
    ///
    /// - Parameters:
    ///   - number: the bytes of its IDm or UID.
    ///   - tag: its identifier in events.
    func name(of technology: Technology, number: [UInt8], tag: String?) -> String? {
        if names.isEmpty { return nil }
        return names[Self.key(number, isIDm: technology == .felica)] ?? tag.flatMap { names[$0] }
    }

    /// The name of a card of an event.
    package func name(of card: TapEvent.Card) -> String? {
        guard let tag = card.tag, let number = try? Hex.decode(tag) else { return nil }
        return name(of: card.technology, number: number, tag: tag)
    }

    /// The systems of a card have IDms that differ in the first digit, and any of them may answer.
    private static func key(_ number: [UInt8], isIDm: Bool) -> String {
        Hex.encode((isIDm ? IDm(number)?.inSystem(0).bytes : nil) ?? number)
    }
}
