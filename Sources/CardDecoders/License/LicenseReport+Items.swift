// SPDX-License-Identifier: Apache-2.0

extension LicenseReport {
    /// The later entries in the card's order, empty ones left out.
    public var laterEntries: [(field: LicenseField, entry: LicenseLaterEntry)] {
        fields.compactMap { field in
            if case .entry(let entry) = field.value { (field, entry) } else { nil }
        }
    }

    /// The items that a later entry replaces, and which entry does.
    static let replacements: [(item: LicenseItem, change: LicenseItem)] = [
        (.name, .newName), (.nameKana, .newNameKana), (.address, .newAddress), (.commission, .newCommission),
        (.registeredDomicile, .newRegisteredDomicile),
    ]

    /// The last entry of a kind that the card has: the one that holds now.
    public func newest(_ item: LicenseItem) -> LicenseLaterEntry? {
        laterEntries.last { $0.field.item == item }?.entry
    }

    /// A text as it holds now: of the newest later entry, or as it was issued.
    private func current(_ item: LicenseItem, _ change: LicenseItem) -> JISText? {
        newest(change)?.text ?? text(item)
    }

    /// 氏名
    public var name: JISText? { current(.name, .newName) }
    /// 呼び名（カナ）
    public var nameKana: JISText? { current(.nameKana, .newNameKana) }
    /// 住所
    public var address: JISText? { current(.address, .newAddress) }
    /// 公安委員会名
    public var commission: JISText? { current(.commission, .newCommission) }
    /// 本籍
    public var registeredDomicile: JISText? { current(.registeredDomicile, .newRegisteredDomicile) }

    /// 免許の条件 as they were issued; 新条件 and 条件解除 are later entries, and what they leave standing is for people
    /// to judge.
    public var conditions: [JISText] {
        fields(.conditions).compactMap { if case .text(let text) = $0.value { text } else { nil } }
    }

    /// 免許証の色区分; `nil` when it was not read, or is none of the three that are known.
    public var colorClass: LicenseColorClass? { text(.colorClass).flatMap(LicenseColorClass.init) }

    /// 備考
    public var remarks: [JISText] {
        fields(.remarks).compactMap { field in
            switch field.value {
            case .text(let text): text
            case .entry(let entry): entry.text
            default: nil
            }
        }
    }

    /// The categories of vehicles in the card's order, held or not.
    public var categories: [LicenseCategory] { fields.compactMap(LicenseCategory.init) }

    /// The free data; `nil` when it was not read.
    public var edition: LicenseEdition? {
        if case .edition(let edition)? = field(.edition)?.value { edition } else { nil }
    }

    /// Whether the holder has set PINs; `nil` when that was not read.
    public var arePINsSet: Bool? {
        if case .flag(let flag)? = field(.pinSetting)?.value { flag } else { nil }
    }

    /// The day of issue: of the free data, or of the licence's text.
    public var issued: CalendarDate? { date(.issueDate)?.day?.date ?? edition?.issued }

    /// The last day of validity: of the licence's text, or of the free data.
    public var expires: CalendarDate? { date(.expiryDate)?.day?.date ?? edition?.expires }

    /// The photo, a JPEG 2000 file; `nil` when it was not read or there is none.
    public var photo: [UInt8]? { bytes(.photo) }
}
