// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu

extension CommandError {
    /// Why there is no reader, no card, or not the requested data.
    package init(_ error: KazasuError) {
        switch error {
        case .noReader(let found): self = .noReader(found)
        case .unknownReader(let id):
            self.init(
                .usage, "unknownReader", tr("unknown reader ID '\(id)'", "リーダー ID '\(id)' はありません"),
                hint: tr(
                    "use rcs380, rcs300, pcsc:NAME, pn532:PORT, a libnfc connection string, virtual:FILE or replay:FILE; "
                        + "'kazasu readers' lists connected readers",
                    "rcs380、rcs300、pcsc:名前、pn532:ポート、libnfc の接続文字列、virtual:ファイル、replay:ファイル が使えます。接続中のリーダーは 'kazasu readers' で確認できます"
                ))
        case .reader(let error, _): self.init(error)
        case .unreadableFile(let path, let errno): self = Files.unreadable(path, errno)
        case .badFile(let path, let error): self.init(error, path: path)
        case .noSimulatedReader(let number):
            self.init(
                .noReader, "absent",
                tr("the simulated reader cannot be created: ", "仮想リーダーを作れません: ") + SystemMessage.text(number),
                hint: tr("/dev/pts must be mounted", "/dev/pts がマウントされている必要があります"))
        case .cannotLink(let path, let number):
            let what =
                number == EEXIST
                ? tr("\(path) already exists", "\(path) はすでにあります") : "\(path): " + SystemMessage.text(number)
            self.init(
                .cannotWrite, "cannotWrite",
                tr("the simulated reader cannot be created: ", "仮想リーダーを作れません: ") + what,
                hint: tr("use a new path with --link, or omit it", "--link に新しいパスを指定するか、--link を省いてください"))
        case .noCard: self = .noCard()
        case .wrongCard(let card): self.init(card)
        case .reading(let error): self.init(error)
        case .refused(let service, let refusal):
            self.init(refusal: refusal, tr("service \(service)", "サービス \(service)"))
        case .decoding(let error): self.init(error)
        case .fileCard(let error): self.init(error)
        case .apdu(let error): self.init(error)
        case .tag(let error): self.init(error)
        case .cancelled: self = .cancelled()
        }
    }

    /// A card is present, but not one that the command can use.
    package init(_ card: WrongCard) {
        switch card.reason {
        case .kind(let wanted):
            let name = CommandError.kind(of: card.card, names: card.names.map { $0[Language.current] })
            self.init(
                .otherCard, "otherCard",
                tr(
                    "wrong kind of card (\(name)): this command reads \(wanted.words)",
                    "このカード（\(name)）は対象外です（対象: \(wanted.words)）"),
                hint: CommandError.hint(card))
        case .noSystem(let codes): self = .noSystem(codes, card)
        case .noISODEP:
            self.init(
                .otherCard, "otherCard",
                tr(
                    "wrong kind of card: it does not accept APDUs (no ISO-DEP)",
                    "このカードは APDU を受け付けません（ISO-DEP 非対応）"),
                hint: CommandError.whatItIs)
        case .noService(let system, let decoders): self = .noService(system, decoders, card)
        }
    }

    /// The command that reads the card, where it is known; else the one that identifies it.
    private static func hint(_ card: WrongCard) -> String {
        if case .felica(let target) = card.card {
            let system = target.requestData.map { SystemCode(rawValue: $0) }
            guard DecoderRegistry.standard.purses.contains(where: { $0.system == system }) else { return scanHint }
            return tr(
                "'kazasu balance' reads the money on cards like this one; 'kazasu scan' shows what is on it",
                "残高は 'kazasu balance'、中身は 'kazasu scan' で確認できます")
        }
        let readers: [(kinds: Set<String>, command: String)] = [
            (["licence"], "kazasu license"), (["mynumber", "mynumberLicence"], "kazasu mynumber"),
            (["type2", "type4"], "kazasu tag info"),
        ]
        if let reader = readers.first(where: { !$0.kinds.isDisjoint(with: card.kinds) }) {
            return tr("'\(reader.command)' reads this card", "このカードは '\(reader.command)' で読めます")
        }
        guard !card.kinds.isEmpty else { return whatItIs }
        return tr("'kazasu dump' reads what needs no key", "'kazasu dump' で鍵なしで読めるものを読めます")
    }

    private static var scanHint: String { tr("'kazasu scan' shows what is on it", "'kazasu scan' で中身を確認できます") }

    private static func unknownKind(_ found: String) -> CommandError {
        CommandError(
            .otherCard, "otherCard",
            tr(
                "wrong kind of card (\(found)): this command does not support it",
                "このカード（\(found)）には対応していません"),
            hint: scanHint)
    }

    /// A FeliCa card has none of the systems.
    private static func noSystem(_ wanted: [SystemCode], _ card: WrongCard) -> CommandError {
        var code: SystemCode?
        if case .felica(let target) = card.card { code = target.requestData.map { SystemCode(rawValue: $0) } }
        let found = mention(card, code)
        guard !wanted.isEmpty else { return unknownKind(found) }
        let codes = wanted.map(\.description).joined(separator: ", ")
        return CommandError(
            .otherCard, "otherCard",
            tr(
                "wrong kind of card (\(found)): it does not have system \(codes)",
                "このカード（\(found)）にはシステム \(codes) がありません"),
            hint: scanHint)
    }

    /// The name of a FeliCa card, or of its system where the card is unknown.
    private static func mention(_ card: WrongCard, _ system: SystemCode?) -> String {
        let names = card.names.map { $0[Language.current] }
        return names.isEmpty ? system.map { CardNames.mention($0) } ?? "FeliCa" : names.joined(separator: ", ")
    }

    /// A FeliCa card has the system of a decoder, but none of the services: it is another card.
    private static func noService(_ system: SystemCode?, _ decoders: [String], _ card: WrongCard) -> CommandError {
        let found = mention(card, system)
        guard decoders.count <= 3 else { return unknownKind(found) }
        let names = decoders.compactMap { DecoderRegistry.standard.decoder(id: $0)?.name[Language.current] }
            .joined(separator: ", ")
        return CommandError(
            .otherCard, "otherCard",
            tr("wrong kind of card (\(found)): it is not \(names)", "このカード（\(found)）は \(names) ではありません"),
            hint: scanHint)
    }

    /// No card came in time.
    package static func noCard() -> CommandError {
        CommandError(
            .noCard, "noCard", tr("no card came in time", "時間内にカードが置かれませんでした"),
            hint: tr(
                "put one card flat on the reader; --timeout SECONDS or --timeout forever waits longer",
                "カードを 1 枚だけ平らに置いてください。--timeout 秒 または --timeout forever で長く待てます"))
    }

    /// No reader can be used.
    private static func noReader(_ listings: [ReaderListing]) -> CommandError {
        for listing in listings where !ChipCardServiceError.serves(listing.id) {
            if case .unavailable(let reason, let detail) = listing.state {
                return CommandError(
                    TransportError.readerUnavailable(reason: reason, detail: detail.of(listing.id)),
                    isOpening: true)
            }
        }
        if let name = Doctor(Machine()).readersOfService().first, let fault = ChipCardServiceError.now() {
            return CommandError(
                .noReader, fault.reason.rawValue,
                tr("\(name) needs pcscd: \(fault.message)", "\(name) には pcscd が必要です（\(fault.message)）"),
                hint: fault.remedy)
        }
        if let port = listings.first {
            return CommandError(
                .noReader, "absent",
                tr("no reader was detected", "自動で見つかるリーダーがありません"),
                hint: tr(
                    "for a PN532 on a serial port, add --reader \(port.id)",
                    "シリアルポートの PN532 なら --reader \(port.id) を付けてください"))
        }
        return CommandError(
            TransportError.readerUnavailable(reason: .absent, detail: .init(.noneConnected)), isOpening: true)
    }
}

extension CardQuery.Kind {
    /// The kind of card that the command reads instead of the one present.
    package var words: String {
        switch self {
        case .feliCa: tr("FeliCa cards", "FeliCa カード")
        case .isoDEP: tr("ISO-DEP cards of type A or B", "Type A/B の ISO-DEP カード")
        case .license: tr("driver's licences", "運転免許証")
        case .myNumber: tr("My Number cards", "マイナンバーカード")
        case .tag: tr("NFC Forum tags", "NFC フォーラムのタグ")
        case .any: tr("other cards", "別の種類のカード")
        }
    }
}
