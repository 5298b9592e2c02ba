// SPDX-License-Identifier: Apache-2.0

/// A name that somebody looks for, compared with those of tables as people write them.
///
/// Case, hyphens, apostrophes, blanks and a final 駅 do not count; ヶ is ケ and ッ is ツ. A name in kana is also compared, as it sounds, with
/// names in Latin script: なんば finds 難波 (Namba).
package struct NameQuery: Sendable {
    private let text: String
    /// The name in Latin letters without long vowels, if it is in kana.
    private let reading: String?

    package init(_ text: String) {
        self.text = NameQuery.folded(text)
        reading = Kana.latin(NameQuery.folded(text, keepsSmallKana: true)).map(NameQuery.withoutLongVowels)
    }

    /// Whether nothing is left to look for.
    var isEmpty: Bool { text.isEmpty }

    /// Whether a name of a table is this one.
    package func equals(_ name: String) -> Bool {
        let name = NameQuery.folded(name)
        return name == text || reading.map { $0 == NameQuery.sound(name) } ?? false
    }

    /// Whether a name of a table contains this one.
    func isPart(of name: String) -> Bool {
        let name = NameQuery.folded(name)
        if name.contains(text) { return true }
        guard let reading, text.count > 1 else { return false }
        return NameQuery.sound(name)?.contains(reading) ?? false
    }

    /// Whether a name of a table was probably meant: the same but for the small kana between characters, as in 四谷 for 四ツ谷, or
    /// with one letter left out, added or replaced in a name of four letters and more.
    func isNear(_ name: String) -> Bool {
        let name = NameQuery.folded(name)
        guard name != text, text.count > 1 else { return false }
        let (own, other) = (NameQuery.withoutLinks(text), NameQuery.withoutLinks(name))
        if own.count > 1, own == other { return true }
        return min(text.count, name.count) >= 4 && NameQuery.differInOneLetter(Array(text), Array(name))
    }

    private static func withoutLinks(_ name: String) -> String { name.filter { !"ケカツノのが之".contains($0) } }

    private static func differInOneLetter(_ first: [Character], _ second: [Character]) -> Bool {
        let start = zip(first, second).prefix { $0 == $1 }.count
        let (rest, other) = (first.dropFirst(start), second.dropFirst(start))
        return rest.dropFirst() == other.dropFirst() || rest.dropFirst() == other || rest == other.dropFirst()
    }

    private static func folded(_ name: String, keepsSmallKana: Bool = false) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in name.lowercased().unicodeScalars where !" 　-'’".unicodeScalars.contains(scalar) {
            scalars.append(keepsSmallKana ? scalar : same[scalar] ?? scalar)
        }
        let name = String(scalars)
        return name.count > 1 && name.hasSuffix("駅") ? String(name.dropLast()) : name
    }

    private static let same: [Unicode.Scalar: Unicode.Scalar] = ["ヶ": "ケ", "ヵ": "カ", "ッ": "ツ", "ゖ": "け", "っ": "つ"]

    /// A name in Latin script as it sounds; `nil` for another.
    private static func sound(_ name: String) -> String? {
        name.utf8.allSatisfy { $0 < 0x80 } ? withoutLongVowels(name) : nil
    }

    /// Station boards write no macrons: おおさか is Osaka, とうきょう is Tokyo.
    private static func withoutLongVowels(_ latin: String) -> String {
        latin.replacing("ou", with: "o").replacing("oo", with: "o").replacing("uu", with: "u")
    }
}

/// Hiragana and katakana in Hepburn romanization, as on station boards.
private enum Kana {
    /// The Latin letters of a text in kana; `nil` when it has other characters.
    static func latin(_ text: String) -> String? {
        var latin = ""
        var isDoubled = false
        for scalar in text.unicodeScalars {
            // Katakana lie 0x60 above hiragana.
            let isKatakana = (0x30A1...0x30F6).contains(scalar.value)
            guard let kana = isKatakana ? Unicode.Scalar(scalar.value - 0x60) : scalar else { return nil }
            if kana == "ー" { continue }
            if kana == "っ" {
                isDoubled = true
            } else if let glide = glides[kana] {
                // きゃ is kya, しゃ is sha, じゃ is ja.
                guard latin.hasSuffix("i") else { return nil }
                latin.removeLast()
                latin += ["sh", "ch", "j"].contains(where: latin.hasSuffix) ? String(glide.dropFirst()) : glide
            } else if let syllable = syllables[kana] {
                // Before these letters ん is written m.
                if latin.hasSuffix("n"), "bmp".contains(syllable.prefix(1)) {
                    latin.removeLast()
                    latin += "m"
                }
                // さっぽろ is Sapporo, はっちょう is Hatcho.
                latin += (isDoubled ? syllable.hasPrefix("ch") ? "t" : syllable.prefix(1) : "") + syllable
                isDoubled = false
            } else {
                return nil
            }
        }
        return latin.isEmpty ? nil : latin
    }

    private static let glides: [Unicode.Scalar: String] = ["ゃ": "ya", "ゅ": "yu", "ょ": "yo"]

    private static let syllables: [Unicode.Scalar: String] = {
        let rows: [(kana: String, latin: String)] = [
            ("あいうえお", "a i u e o"), ("かきくけこ", "ka ki ku ke ko"), ("がぎぐげご", "ga gi gu ge go"),
            ("さしすせそ", "sa shi su se so"), ("ざじずぜぞ", "za ji zu ze zo"), ("たちつてと", "ta chi tsu te to"),
            ("だぢづでど", "da ji zu de do"), ("なにぬねの", "na ni nu ne no"), ("はひふへほ", "ha hi fu he ho"),
            ("ばびぶべぼ", "ba bi bu be bo"), ("ぱぴぷぺぽ", "pa pi pu pe po"), ("まみむめも", "ma mi mu me mo"),
            ("やゆよ", "ya yu yo"), ("らりるれろ", "ra ri ru re ro"), ("わをんゔ", "wa o n vu"),
        ]
        var syllables: [Unicode.Scalar: String] = [:]
        for (kana, latin) in rows {
            for (scalar, syllable) in zip(kana.unicodeScalars, latin.split(separator: " ")) {
                syllables[scalar] = String(syllable)
            }
        }
        return syllables
    }()
}
