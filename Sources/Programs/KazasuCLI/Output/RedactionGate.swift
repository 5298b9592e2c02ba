// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import Kazasu
import MIFAREClassic
import Synchronization

/// The gate of `--redact`: everything that goes to standard output, standard error or an output file passes
/// ``masked(_:)``, which hides the numbers and names that this run has met.
///
/// A command does not have to know it. The gate learns the cards of every reader that a command opens, every dump that
/// is read from a file or a card, the numbers on the command line, and the members of JSON that name a card. A view
/// masks what it shows itself (``Redaction``) because only it knows where a name ends; what a view forgets is caught
/// here.
///
/// A program that runs for months meets more cards than it can look for. Numbers of the command line are kept for good; of the
/// others, the oldest are forgotten. A forgotten card is learned again when a later document names it.
package final class RedactionGate: Sendable {
    /// The gate of this process.
    package static let shared = RedactionGate()

    private let state: Mutex<State>

    /// - Parameter recent: how many sequences are not forgotten before as many others were learned.
    package init(recent: Int = 1 << 16) {
        state = Mutex(
            State(
                digits: Needles(head: 8, bits: 4, recent: recent), texts: Needles(head: 6, bits: 8, recent: recent)))
    }

    fileprivate struct State {
        var isOn = false
        /// Numbers as hexadecimal or decimal digits, found in any notation.
        var digits: Needles
        /// Texts in UTF-8.
        var texts: Needles

        /// Whether what is learned now may be forgotten again.
        var isLasting = false {
            didSet { (digits.isLasting, texts.isLasting) = (isLasting, isLasting) }
        }
    }

    /// Whether anything is masked.
    package var isOn: Bool { state.withLock { $0.isOn } }

    /// Begins to mask, for a command line with `--redact`.
    package func start(_ arguments: [String]) {
        state.withLock { $0.isOn = true }
        for argument in arguments {
            // A card's number that the user typed, also as part of a file's name.
            for run in argument.split(whereSeparator: { !$0.isHexDigit }) where run.utf8.count == 16 {
                if let number = try? Hex.decode(run) {
                    learn(number: number, keeping: 2, isLasting: true)
                }
            }
        }
    }

    // MARK: What is hidden

    package func learn(_ card: CardIdentity) {
        if let idm = card.idm { learn(number: idm.bytes, keeping: 2) }
        if let uid = card.uid { learn(number: uid, keeping: 1) }
        if let pupi = card.pupi { learn(number: pupi, keeping: 0) }
    }

    /// Learns everything in a dump that belongs to the card's owner.
    package func learn(_ dump: CardDump) {
        guard isOn else { return }
        learn(dump.card)
        if let signature = dump.type2?.signature { learn(bytes: signature) }
        if let memory = dump.classic {
            let keys = (0..<memory.kind.sectorCount).flatMap { sector in
                ClassicKeyType.allCases.compactMap { memory.key($0, of: sector) }
            }
            for key in Set(keys).subtracting(ClassicKey.transport) { learn(bytes: key.bytes) }
        }
        for system in dump.systems {
            learn(number: system.idm.bytes, keeping: 2)
            for service in system.services {
                for (number, block) in service.blocks {
                    let masked = PersonalData.standard.masked(
                        block, at: number, of: service.code, in: system.systemCode)
                    learn(block, masked: masked)
                }
            }
        }
        for decoder in DecoderRegistry.standard.recognizing(dump) {
            for field in ((try? decoder.decode(dump))?.fields ?? []) where field.isPersonal { learn(text: field.value) }
        }
        func learned(_ value: String) -> String {
            learn(text: value)
            return value
        }
        for document in IdentityReport.all(in: dump) { _ = document.document.json(.japanese, redact: learned) }
    }

    /// Learns the bytes of a block that masking changes.
    package func learn(_ block: Block, masked: Block) {
        let (bytes, others) = (block.bytes, masked.bytes)
        let changed = bytes.indices.filter { bytes[$0] != others[$0] }
        if let first = changed.first, let last = changed.last { learn(bytes: Array(bytes[first...last])) }
    }

    /// How many sequences are looked for.
    package var size: Int { state.withLock { $0.digits.count + $0.texts.count } }

    /// Learns a name or a number in print. Short texts, and days, which records have as well, are left to the views.
    ///
    /// - Parameter isLasting: whether it is never forgotten, as what settings have.
    package func learn(text: String, isLasting: Bool = false) {
        let symbols = Array(text.utf8)
        let digits = symbols.compactMap(Hex.value)
        guard symbols.count >= 6, Set(symbols).count > 2, CalendarDate(text) == nil else { return }
        state.withLock { state in
            guard state.isOn else { return }
            state.isLasting = isLasting
            if digits.count < symbols.count || digits.count >= 8 { state.texts.insert(symbols) }
            // A number that is printed in groups.
            if digits.count >= 9, text.allSatisfy({ $0.isHexDigit || " :-".contains($0) }) {
                state.digits.insert(digits)
            }
        }
    }

    /// Learns a card's number, of which the first bytes are not its own.
    private func learn(number: [UInt8], keeping kept: Int, isLasting: Bool = false) {
        let own = Array(number.dropFirst(kept))
        guard own.contains(where: { $0 != 0 }) else { return }
        state.withLock { state in
            guard state.isOn else { return }
            state.isLasting = isLasting
            state.digits.insert(bytes: own.count < 4 ? number : own, keeping: own.count < 4 ? kept : 0)
            state.digits.insert(bytes: own.count < 4 ? number.reversed() : own.reversed())
            // The second page of a tag with seven bytes.
            if own.count == 6 { state.digits.insert(bytes: Array(own.suffix(4))) }
            guard number.count <= 8 else { return }
            for bytes in [number, number.reversed()] {
                let decimal = String(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
                state.digits.insert(decimal.utf8.compactMap(Hex.value))
            }
        }
    }

    /// Learns bytes whose meaning is unknown; those that could be anything are left to the views.
    private func learn(bytes: [UInt8]) {
        guard bytes.filter({ $0 != 0 && $0 != 0xFF && $0 != 0x20 }).count > 2, bytes.count > 3 else { return }
        state.withLock { state in
            guard state.isOn else { return }
            state.isLasting = false
            state.digits.insert(bytes: bytes)
        }
        if bytes.allSatisfy({ (0x20...0x7E).contains($0) }) { learn(text: String(decoding: bytes, as: UTF8.self)) }
    }

    // MARK: Masking

    /// What may be written in place of a text in UTF-8.
    package func masked(_ output: [UInt8]) -> [UInt8] {
        guard isOn else { return output }
        learn(json: output)
        return state.withLock { state in
            defer {
                state.digits.forgetOldest()
                state.texts.forgetOldest()
            }
            return state.masked(output)
        }
    }

    /// What may be written in place of a text.
    package func masked(_ output: String) -> String { String(decoding: masked(Array(output.utf8)), as: UTF8.self) }

    /// What may be given in place of a document.
    package func masked(_ document: JSONValue) -> JSONValue {
        guard isOn else { return document }
        learn(document)
        return state.withLock { $0.masked(document) }
    }

    /// Learns the cards that a document names.
    package func learn(_ document: JSONValue) {
        guard isOn else { return }
        switch document {
        case .array(let values): for value in values { learn(value) }
        case .object(let object):
            for member in object.members {
                if case .string(let text) = member.value {
                    learn(text, ofMember: member.key)
                } else {
                    learn(member.value)
                }
            }
        default: break
        }
    }

    /// The members of JSON that name a card, and how many bytes are not its own.
    private static let members: [(name: String, kept: Int)] = [
        ("idm", 2), ("uid", 1), ("pupi", 0), ("tag", 0), (homeAssistantTag, 0),
    ]
    /// What Home Assistant's app has written to a tag: a text, and no number of the card.
    private static let homeAssistantTag = "homeAssistantTag"

    /// Learns the cards that documents name. It is text that is searched, so that it does not matter how it was written.
    private func learn(json text: [UInt8]) {
        guard isOn else { return }
        for (name, _) in RedactionGate.members {
            let member = Array("\"\(name)\":".utf8)
            var rest = text[...]
            while let start = rest.firstRange(of: member) {
                rest = rest[start.upperBound...].drop { $0 == UInt8(ascii: " ") }
                guard rest.first == UInt8(ascii: "\"") else { continue }
                let value = rest.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
                rest = rest[value.endIndex...]
                learn(String(decoding: value, as: UTF8.self), ofMember: name)
            }
        }
    }

    private func learn(_ text: String, ofMember name: String) {
        if name == Self.homeAssistantTag { return learn(text: text) }
        guard let kept = RedactionGate.members.first(where: { $0.name == name })?.kept,
            let number = try? Hex.decode(text), number.count >= 4
        else { return }
        // A tag is an IDm, a UID, or its keyed hash.
        learn(number: number, keeping: name != "tag" ? kept : number.count == 8 ? 2 : 0)
    }
}

extension RedactionGate.State {
    fileprivate func masked(_ output: [UInt8]) -> [UInt8] {
        var result = output
        maskDigits(&result)
        maskTexts(&result)
        return result
    }

    /// A document with its texts and numbers masked; a number that is hidden becomes null.
    fileprivate func masked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool: return value
        case .integer, .number:
            let text = Array(value.compactText.utf8)
            return masked(text) == text ? value : .null
        case .string(let text): return .string(masked(text))
        case .array(let values): return .array(values.map { masked($0) })
        case .object(let object):
            return .object(JSONObject(object.members.map { (masked($0.key), masked($0.value)) }))
        }
    }

    private func masked(_ text: String) -> String { String(decoding: masked(Array(text.utf8)), as: UTF8.self) }

    /// Masks numbers whose digits are packed or have a space, colon or hyphen between them.
    private func maskDigits(_ output: inout [UInt8]) {
        guard !digits.isEmpty else { return }
        var (run, offsets): ([UInt8], [Int]) = ([], [])
        var hidden: [Int] = []
        for (offset, byte) in output.enumerated() {
            if let digit = Hex.value(of: byte) {
                run.append(digit)
                offsets.append(offset)
            } else if offsets.last != offset - 1 || ![0x20, 0x3A, 0x2D].contains(byte) {
                digits.forEachMatch(in: run) { hidden += offsets[$0] }
                run.removeAll(keepingCapacity: true)
                offsets.removeAll(keepingCapacity: true)
            }
        }
        digits.forEachMatch(in: run) { hidden += offsets[$0] }
        for offset in hidden { output[offset] = UInt8(ascii: "0") }
    }

    /// Masks texts, with an asterisk for each character.
    private func maskTexts(_ output: inout [UInt8]) {
        guard !texts.isEmpty else { return }
        var hidden: Set<Int> = []
        texts.forEachMatch(in: output) { hidden.formUnion($0) }
        guard !hidden.isEmpty else { return }
        output = output.enumerated().compactMap { offset, byte in
            guard hidden.contains(offset) else { return byte }
            return byte & 0xC0 == 0x80 ? nil : UInt8(ascii: "*")
        }
    }
}

/// Sequences of symbols that are looked for together, found by their first symbols.
private struct Needles {
    private struct Needle: Hashable {
        let symbols: [UInt8]
        /// How many of them are not hidden.
        let kept: Int
    }

    /// How many symbols select the candidates; shorter sequences are not looked for.
    private let head: Int
    private let bits: Int

    private struct Candidates {
        /// `nil` as long as there are none: a program that masks nothing makes no table.
        var needles: [UInt64: Set<Needle>]?
        var count = 0

        mutating func insert(_ needle: Needle, _ key: UInt64) {
            if needles == nil { needles = [:] }
            if needles?[key, default: []].insert(needle).inserted == true { count += 1 }
        }
    }

    private let mostRecent: Int
    private var (lasting, recent, older) = (Candidates(), Candidates(), Candidates())
    /// Whether those that are inserted now are never forgotten.
    var isLasting = false

    init(head: Int, bits: Int, recent: Int) { (self.head, self.bits, mostRecent) = (head, bits, recent) }

    private var all: [Candidates] { [lasting, recent, older] }

    var count: Int { all.reduce(0) { $0 + $1.count } }

    var isEmpty: Bool { count == 0 }

    /// Forgets the older half of what may be forgotten, once there is enough of it: between two outputs, as all that is
    /// learned for one must be known while it is written.
    mutating func forgetOldest() {
        if recent.count > mostRecent { (older, recent) = (recent, Candidates()) }
    }

    mutating func insert(_ symbols: [UInt8], keeping kept: Int = 0) {
        guard symbols.count >= head, symbols.contains(where: { $0 != symbols[0] }) else { return }
        let key = symbols.prefix(head).reduce(UInt64(0)) { $0 << bits | UInt64($1) }
        let needle = Needle(symbols: symbols, kept: kept)
        if isLasting { lasting.insert(needle, key) } else { recent.insert(needle, key) }
    }

    /// Adds the two hexadecimal digits of each byte.
    mutating func insert(bytes: [UInt8], keeping kept: Int = 0) {
        insert(bytes.flatMap { [$0 >> 4, $0 & 0x0F] }, keeping: 2 * kept)
    }

    /// Calls `body` with the hidden part of each match.
    func forEachMatch(in symbols: [UInt8], _ body: (Range<Int>) -> Void) {
        let candidates = all.filter { $0.count > 0 }
        let mask = UInt64(1) << (head * bits) - 1
        var key: UInt64 = 0
        for (offset, symbol) in symbols.enumerated() {
            key = (key << bits | UInt64(symbol)) & mask
            guard offset + 1 >= head else { continue }
            let start = offset + 1 - head
            for found in candidates {
                for needle in found.needles?[key] ?? [] where symbols[start...].starts(with: needle.symbols) {
                    body(start + needle.kept..<start + needle.symbols.count)
                }
            }
        }
    }
}
