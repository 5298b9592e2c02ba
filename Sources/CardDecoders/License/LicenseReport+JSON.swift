// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension LicenseReport {
    /// The members of `kazasu.license/1` after `schema`; what was not read has no member, what the card has not is null.
    ///
    /// - Parameters:
    ///   - language: the language of names; keys and ids never change.
    ///   - photoPath: where the photo was written, when it was.
    ///   - redact: what stands in place of a personal value.
    public func json(
        _ language: Language, photoPath: String? = nil, redact: (String) -> String = { $0 }
    ) -> JSONObject {
        var object = JSONObject([("kind", .string(kind.rawValue))])
        func put(_ item: LicenseItem, _ value: () -> JSONValue) {
            if field(item) != nil { object[item.member ?? item.rawValue] = value() }
        }
        func text(_ text: JISText?) -> JSONValue { .text(text.map { redact($0.description) }) }
        func codes(_ item: LicenseItem) -> JSONValue {
            .text(field(item).flatMap { $0.value == .absent ? nil : redact($0.value.words.english) })
        }
        put(.edition) { .text(edition?.version) }
        put(.makers) {
            ["card": hex(.makers, 0), "cryptographicFunction": hex(.makers, 1)]
        }
        put(.pinSetting) { arePINsSet.map { .bool($0) } ?? .null }
        put(.characterSet) { .text(bytes(.characterSet).map { Hex.encode($0) }) }
        put(.name) { text(name) }
        put(.nameKana) { text(nameKana) }
        put(.alias) { text(self.text(.alias)) }
        put(.unifiedNameKana) { text(self.text(.unifiedNameKana)) }
        putDate("birthDate", .birthDate, date(.birthDate)?.day?.date, &object, redact)
        put(.address) { text(address) }
        putDate("issueDate", .issueDate, issued, &object, { $0 })
        put(.referenceNumber) { codes(.referenceNumber) }
        put(.colorClass) { .text(self.text(.colorClass)?.description) }
        putDate("expiryDate", .expiryDate, expires, &object, { $0 })
        put(.conditions) { .array(conditions.map { .string($0.description) }) }
        put(.commission) { .text(commission?.description) }
        put(.number) { codes(.number) }
        put(.historyNumber) { codes(.historyNumber) }
        putDate("historyDate", .historyDate, date(.historyDate)?.day?.date, &object, { $0 })
        put(.driverClass) { .text(bytes(.driverClass).map { Hex.encode($0) }) }
        put(.categories) { .array(categories.map { $0.json(language) }) }
        put(.registeredDomicile) { text(registeredDomicile) }
        if field(.remarks) != nil { object["remarks"] = .array(remarks.map { .string(redact($0.description)) }) }
        putLists(language, photoPath, &object, redact)
        return object
    }

    private func putLists(
        _ language: Language, _ photoPath: String?, _ object: inout JSONObject, _ redact: (String) -> String
    ) {
        if fields.contains(where: { $0.file == .laterEntries || $0.file == .laterDomicile }) {
            object["laterEntries"] = .array(laterEntries.map { $0.entry.json($0.field, redact) })
            object["asIssued"] = .object(asIssued(redact))
        }
        for (item, key) in [(LicenseItem.externalCharacters, "外字"), (.missingCharacterImages, "欠字")]
        where field(item) != nil {
            object[item.rawValue] = .array(
                fields(item).filter { !$0.raw.isEmpty }.map {
                    ["name": .string("\(key)\($0.number)"), "data": .string(redact(Hex.encode($0.raw)))]
                })
        }
        if field(.photo) != nil {
            object["photo"] = .text(photoPath)
            object["photoBytes"] = .optional(photo?.count)
        }
        if field(.signatureValue) != nil { object["signature"] = signature(redact) }
        if let pin1 { object["pin1TriesLeft"] = .optional(pin1.triesLeft) }
        if let pin2 { object["pin2TriesLeft"] = .optional(pin2.triesLeft) }
        object["withheld"] = .array(withheldMembers.filter { object[$0] == nil }.map { .string($0) })
        if let missingPIN { object["withheldReason"] = .string(missingPIN.refusal?.rawValue ?? "noPIN") }
        object["warnings"] = .array(faults.map { $0.json(language) })
    }

    /// The members that would be there with the PINs that were not given or not taken.
    private var withheldMembers: [String] {
        var members: [String] = []
        for member in withheld.compactMap(\.member) where !members.contains(member) { members.append(member) }
        return members
    }

    /// A date in both forms; the free data have it without an era.
    private func putDate(
        _ key: String, _ item: LicenseItem, _ day: CalendarDate?, _ object: inout JSONObject,
        _ redact: (String) -> String
    ) {
        guard field(item) != nil || day != nil else { return }
        object[key] = .text(day.map { redact($0.description) })
        guard let field = field(item) else { return }
        object[key + "Japanese"] = .text(date(item)?.day.map { redact($0.japanese) })
        if case .date(.invalid)? = date(item).map({ LicenseValue.date($0) }) {
            object[key + "Raw"] = .string(redact(Hex.encode(field.raw)))
        }
    }

    /// The texts that later entries have replaced.
    private func asIssued(_ redact: (String) -> String) -> JSONObject {
        var object = JSONObject()
        for (item, change) in LicenseReport.replacements where newest(change) != nil && field(item) != nil {
            object[item.rawValue] = .text(text(item).map { redact($0.description) })
        }
        return object
    }

    /// Signature items; whether the signature is right cannot be checked.
    private func signature(_ redact: (String) -> String) -> JSONValue {
        func item(_ item: LicenseItem) -> JSONValue {
            .text(field(item).flatMap { $0.value == .absent ? nil : redact($0.value.words.english) })
        }
        return [
            "issuer": item(.signatureIssuer), "subject": item(.signatureSubject), "serial": item(.signatureSerial),
            "subjectKeyIdentifier": item(.signatureKeyIdentifier), "value": item(.signatureValue), "checked": false,
        ]
    }

    private func hex(_ item: LicenseItem, _ place: Int) -> JSONValue {
        .text(field(item)?.raw.element(at: place).map { Hex.encode($0, digits: 2) })
    }
}

extension LicenseCategory {
    /// An element of `categories`.
    func json(_ language: Language) -> JSONValue {
        [
            "id": .string(id), "name": .string(name[language]), "group": .bool(isGroup),
            "held": isHeld.map { .bool($0) } ?? .null, "firstDate": .text(since?.day?.date.description),
            "firstDateJapanese": .text(since?.day?.japanese),
        ]
    }
}

extension LicenseLaterEntry {
    /// An element of `laterEntries`.
    func json(_ field: LicenseField, _ redact: (String) -> String) -> JSONValue {
        [
            "item": .string(field.item.rawValue), "number": .int(field.number),
            "date": .text(date.day?.date.description), "dateJapanese": .text(date.day?.japanese),
            "text": .string(redact(text.description)), "commission": .string(commission.description),
        ]
    }
}

extension LicenseFault {
    /// An element of `warnings`.
    func json(_ language: Language) -> JSONValue {
        [
            "file": .string(file.rawValue), "tag": .text(tag?.description), "reason": .string(reason.word),
            "message": .string(message[language]),
        ]
    }
}
