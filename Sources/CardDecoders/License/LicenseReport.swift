// SPDX-License-Identifier: Apache-2.0

/// All that a dump of a licence says.
public struct LicenseReport: Hashable, Sendable {
    /// On which card.
    public var kind: LicenseKind
    /// Every item that was read, file by file in the card's order, as it stands on the card.
    public var fields: [LicenseField]
    /// What the card said of PIN 1, on a My Number card of its only one; `nil` when it was not asked.
    public var pin1: CardPINState?
    /// What the card said of PIN 2.
    public var pin2: CardPINState?
    /// Files that need a PIN that the card was not given, or did not take.
    public var withheldFiles: [LicenseFile]
    /// What is wrong, file by file.
    public var faults: [LicenseFault]

    /// The PIN that the withheld files lack: the one that was refused, 1 or 2, and why; else the first that was not given,
    /// without a refusal. `nil` when nothing is withheld.
    package var missingPIN: (number: Int, refusal: CardPINState.Refusal?)? {
        guard !withheldFiles.isEmpty else { return nil }
        if let refusal = pin1?.refusal { return (1, refusal) }
        if let refusal = pin2?.refusal { return (2, refusal) }
        return (pin1?.isVerified == true ? 2 : 1, nil)
    }

    /// The items that need a PIN that was not given or not taken, each once; items that were read in another file are not among them.
    public var withheld: [LicenseItem] {
        var items: [LicenseItem] = []
        for file in withheldFiles {
            for item in DecoderTables.licenseItems.items(of: file)
            where !items.contains(item) && item.member != nil { items.append(item) }
        }
        return items
    }

    /// Every item of a kind, in the card's order.
    public func fields(_ item: LicenseItem) -> [LicenseField] { fields.filter { $0.item == item } }

    /// The first item of a kind, or `nil` when it was not read.
    public func field(_ item: LicenseItem) -> LicenseField? { fields.first { $0.item == item } }

    /// The text of an item as it was issued; `nil` when it was not read or the card has none.
    public func text(_ item: LicenseItem) -> JISText? {
        if case .text(let text)? = field(item)?.value { text } else { nil }
    }

    /// The characters of an item; `nil` when it was not read, the card has none, or it holds something else.
    public func code(_ item: LicenseItem) -> String? {
        if case .code(let text)? = field(item)?.value { text } else { nil }
    }

    /// The date of an item; `nil` when it was not read or the card has none.
    public func date(_ item: LicenseItem) -> LicenseDate? {
        if case .date(let date)? = field(item)?.value { date } else { nil }
    }

    /// The bytes of an item; `nil` when it was not read or is empty.
    public func bytes(_ item: LicenseItem) -> [UInt8]? {
        guard let raw = field(item)?.raw, !raw.isEmpty else { return nil }
        return raw
    }
}
