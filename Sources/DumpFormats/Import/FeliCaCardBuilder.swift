// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel
internal import FoundationEssentials

/// Builds the dump of a FeliCa card from a file that is read element by element, as formats in other modules do.
public struct FeliCaCardBuilder: Sendable {
    private var card = ImportedCard()

    /// An empty card.
    public init() {}

    /// Notes the ID of the tag as it stands beside the card, as hexadecimal digits; anything else is passed over.
    public mutating func setID(hex: String) {
        if let bytes = try? Hex.decode(hex), let idm = IDm(bytes) { card.idm = idm }
    }

    /// Notes when the card was read, in milliseconds since 1970.
    public mutating func setMoment(milliseconds: Int64) {
        card.readAt = UnixTime.text(milliseconds: milliseconds)
    }

    /// Notes the IDm.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 8 bytes.
    public mutating func setIDm(base64 text: [UInt8], line: Int) throws(DocumentError) {
        guard let idm = IDm(decoded(text)) else { throw .malformedLine(line: line, expected: "8 bytes in base64") }
        card.idm = idm
    }

    /// Notes the PMm.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 8 bytes.
    public mutating func setPMm(base64 text: [UInt8], line: Int) throws(DocumentError) {
        guard let pmm = PMm(decoded(text)) else { throw .malformedLine(line: line, expected: "8 bytes in base64") }
        card.pmm = pmm
    }

    /// Begins a system; the services that follow belong to it.
    public mutating func beginSystem(_ code: SystemCode) {
        card.systems.append(ImportedSystem(code: code))
    }

    /// Notes a service of the system that was begun last.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when no system was begun.
    public mutating func note(_ code: ServiceCode, line: Int) throws(DocumentError) {
        guard !card.systems.isEmpty else { throw .malformedLine(line: line, expected: "a service in a system") }
        card.systems[card.systems.count - 1].note(code)
    }

    /// Adds a block to a service of the system that was begun last.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 16 bytes, or the block
    ///   is there already with other bytes.
    public mutating func add(
        base64 text: [UInt8], at number: UInt16, of code: ServiceCode, line: Int
    ) throws(DocumentError) {
        guard let block = Block(decoded(text)) else { throw .malformedLine(line: line, expected: "16 bytes in base64") }
        guard !card.systems.isEmpty, card.systems[card.systems.count - 1].add(block, at: number, of: code) else {
            throw .malformedLine(line: line, expected: "a block that stands once")
        }
    }

    /// The dump.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when there is no IDm.
    public func finish(line: Int) throws(DocumentError) -> CardDump {
        guard card.idm != nil else { throw .malformedLine(line: line, expected: "a card with its IDm") }
        return try card.dump()
    }

    private func decoded(_ text: [UInt8]) -> [UInt8] {
        Data(base64Encoded: Data(text), options: .ignoreUnknownCharacters).map { [UInt8]($0) } ?? []
    }
}
