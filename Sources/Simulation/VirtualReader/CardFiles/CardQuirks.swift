// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The member `virtual.quirks` of a card file: oddities of real cards by name, as `["fel-slow=1.5", "two-cards"]`.
struct CardQuirks {
    enum Name: String, CaseIterable {
        /// Of several cards that answer at once, nothing is understood. A FeliCa card gets a second one beside it.
        case twoCards = "two-cards"
        /// Takes so many times the longest time of its PMm; 1.2 times unless told otherwise.
        case slow = "fel-slow"
        /// A count byte follows the status flags of a refused read.
        case countAfterRefusal = "fel-count0"
        /// Request System Code names the first system twice, and 0000.
        case doubledSystem = "fel-dup-system"
        /// Answers no command but Polling.
        case mute = "fel-mute"
        /// Stops answering Search Service Code at this index.
        case searchEnds = "fel-search-ends"
        /// It answers a Polling for any system.
        case anySystem = "fel-any-system"
        /// Its PMm is zeros.
        case zeroPMm = "fel-zero-pmm"
        /// It is deaf after a read of block 20 or above, until the field is off.
        case dropsBlocks = "fel-drop-0x20"
        /// It answers Request Service for so many nodes only; for one unless told otherwise.
        case fewNodes = "fel-few-nodes"
        /// It refuses a read of several services.
        case oneService = "fel-one-service"
        /// Every fourth answer, or every so many, carries another card's IDm.
        case otherAnswer = "fel-other-answer"
        /// Neither Request System Code nor Request Service is answered, and Search Service Code finds nothing.
        case octopus = "fel-octopus"
        /// Search Service Code is not answered.
        case searchMute = "fel-search-mute"
        /// A Polling gets no system code.
        case noRequestCode = "fel-no-request-code"
        /// It takes one block a read.
        case plug = "fel-plug"
        /// Its IDm is another one each time that it gets power.
        case randomIDm = "fel-random-idm"
        /// RATS is answered by a NAK.
        case ratsRefused = "dep-rats-nak"
        /// RATS is not answered.
        case ratsMute = "dep-rats-mute"
        /// SELECT fails when it asks for an answer (Le).
        case withoutLe = "dep-no-le"
        /// The ATQB says that there is no ISO-DEP, although ATTRIB is answered.
        case withoutISODEP = "b-not-iso"
    }

    private var values: [Name: String] = [:]
    private let json: JSONCursor?

    /// - Parameters:
    ///   - json: the member, or `nil`.
    ///   - known: the quirks that a card of this kind may have.
    init(_ json: JSONCursor?, _ known: [Name] = Name.allCases) throws(DocumentError) {
        self.json = json
        for element in try json?.elements() ?? [] {
            let parts = try element.text().split(separator: "=", maxSplits: 1)
            guard let name = parts.first.flatMap({ Name(rawValue: String($0)) }), known.contains(name) else {
                throw element.malformed(.oneOf, values: known.map(\.rawValue))
            }
            values[name] = parts.count == 2 ? String(parts[1]) : ""
        }
    }

    func has(_ name: Name) -> Bool { values[name] != nil }

    /// The number after the name; `usual` without one, `nil` if the card does not have the quirk.
    func number(_ name: Name, usual: Double) throws(DocumentError) -> Double? {
        guard let text = values[name] else { return nil }
        if text.isEmpty { return usual }
        guard let number = Double(text), (0...1000).contains(number) else {
            throw json?.malformed(.oneOf, values: ["\(name.rawValue)=\(usual)"]) ?? .missing(key: "quirks")
        }
        return number
    }
}
