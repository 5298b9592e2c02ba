// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu passport lists`
struct PassportLists: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "lists",
        abstract: tr("Show whose certificates a list contains.", "証明書リストにある国を表示する。"),
        discussion: tr(
            """
            Prints one line for each country in the files that --ca accepts: certificates, PKCS #7, master lists and LDIF. No
            reader is needed, and nothing is downloaded. \(Documents.path("passport.md")) says where lists are published.

            Examples:
              kazasu passport lists DE_ML_2026.ml
              kazasu passport lists --country JP,KR *.ml icaopkd-002.ldif
            """,
            """
            --ca に指定できるファイル（証明書、PKCS #7、マスターリスト、LDIF）の内容を、国ごとに 1 行で表示します。リーダーは不要で、
            何もダウンロードしません。リストの入手先は \(Documents.path("passport.ja.md")) にあります。

            例:
              kazasu passport lists DE_ML_2026.ml
              kazasu passport lists --country JP,KR *.ml icaopkd-002.ldif
            """))

    static let programAccess = CommandAccess.none(because: "it says what is in files of the user, and needs no reader")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(
        required: [], reach: .never, help: help("Certificates and lists.", "証明書とリスト。", value: "file"),
        completion: .file())
    var files: [String]

    @Option(
        reach: .never, name: .long,
        help: help("Only these countries, as in JP,KR.", "この国だけ（例: JP,KR）。", value: "codes"))
    var country: String?

    func validate() throws {
        for code in codes ?? [] where code.utf8.count != 2 || !code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) {
            throw ValidationError(
                tr("--country takes codes of two letters, as in JP,KR", "--country には 2 文字の国コードを指定します（例: JP,KR）"))
        }
    }

    private var codes: [String]? {
        country.map { $0.split(separator: ",", omittingEmptySubsequences: false).map { $0.uppercased() } }
    }

    func execute(_ context: Context) throws {
        var found: [(path: String, list: CertificateList)] = []
        var failures: [CommandError] = []
        for path in files {
            let bytes = try Files.read(path, limit: CertificateList.longestFile)
            do throws(AuthorityError) {
                let list = try CertificateList(reading: bytes)
                context.warn(of: list, path)
                found.append((path, list))
            } catch {
                let error = CommandError(error, paths: [path])
                guard error.status == .badFile else { throw error }
                failures.append(error)
            }
        }
        if found.isEmpty, let first = failures.first { throw first }
        for failure in failures { context.warn(failure.message) }
        let wanted = codes.map { Set($0) }
        let countries = CertificateList.countries(of: found.map(\.list)).filter { wanted?.contains($0.code) ?? true }
        guard !context.json else {
            return try context.print([
                "schema": "kazasu.certificateLists/1", "files": .array(found.map { Self.json($0.path, $0.list) }),
                "countries": .array(
                    countries.map { country in
                        [
                            "code": .text(country.code.isEmpty ? nil : country.code),
                            "certificates": .int(country.certificates), "until": .string(Self.day(country.until)),
                        ]
                    }),
            ])
        }
        try context.print(text(found, countries))
    }

    private static func json(_ path: String, _ list: CertificateList) -> JSONValue {
        [
            "path": .string(path), "kind": .string(list.kind.rawValue), "certificates": .int(list.count),
            "left": .int(list.holes.count), "signedBy": .text(list.signedBy),
            "signature": .text(list.signature?.rawValue), "issuedAt": .text(list.issuedAt?.description),
        ]
    }

    private func text(
        _ found: [(path: String, list: CertificateList)], _ countries: [CertificateCountry]
    ) -> String {
        let files = found.map { path, list in
            [
                path, Self.name(list.kind), "\(list.count)", list.issuedAt.map { Self.day($0) } ?? "",
                list.signature?.words ?? "", list.signedBy ?? "",
            ]
        }
        let top = [
            tr("FILE", "ファイル"), tr("FORM", "形式"), tr("CERTIFICATES", "証明書"), tr("ISSUED", "発行日"),
            tr("SIGNATURE", "署名"), tr("SIGNED BY", "署名者"),
        ]
        let head = [tr("COUNTRY", "国"), tr("CERTIFICATES", "証明書"), tr("UNTIL", "有効期限")]
        let rows = countries.map { [$0.code.isEmpty ? "-" : $0.code, "\($0.certificates)", Self.day($0.until)] }
        return Columns.text([top] + files, rightAligned: [2]) + "\n"
            + Columns.text([head] + rows, rightAligned: [1])
    }

    /// A day in UTC, which certificates count in.
    private static func day(_ time: Timestamp) -> String { String(time.description.prefix(10)) }

    private static func name(_ kind: CertificateList.Kind) -> String {
        switch kind {
        case .masterList: tr("master list", "マスターリスト")
        case .ldif: "LDIF"
        case .pkcs7: "PKCS #7"
        case .pem: "PEM"
        case .der: tr("certificate", "証明書")
        @unknown default: kind.rawValue
        }
    }
}

extension Context {
    /// Reports the entries of a file of certificates that were left out.
    func warn(of list: CertificateList, _ path: String) {
        guard !list.holes.isEmpty else { return }
        let name = Files.name(path)
        let most = 10
        let numbers = list.holes.prefix(most).map(String.init).joined(separator: ", ")
        let more = list.holes.count > most ? ", …" : ""
        warn(
            tr(
                "\(name): unreadable entries left out: \(list.holes.count) (number \(numbers)\(more))",
                LineBreaker.joined(name, ": 読めない \(list.holes.count) 件を除きました（\(numbers)\(more) 番目）")))
    }
}

extension CommandError {
    /// Why files of authorities cannot be used.
    ///
    /// - Parameter paths: the names of the files.
    init(_ error: AuthorityError, paths: [String]) {
        func file(_ index: Int) -> String { paths.indices.contains(index) ? Files.name(paths[index]) : "" }
        switch error {
        case .crypto(let error): self.init(error)
        case .notACertificate(let index):
            self.init(.authorityNoCertificate, values: [file(index)])
        case .archive(let index):
            self.init(.authorityArchive, values: [file(index)])
        case .damagedList(let index):
            self.init(.authorityDamagedList, values: [file(index)])
        case .unsupportedList(let index):
            self.init(.authorityUnsupportedList, values: [file(index)])
        @unknown default: self = .bug("authorities")
        }
    }
}
