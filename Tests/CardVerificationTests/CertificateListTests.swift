// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardModel
import TestSupport
import Testing

@testable import CardVerification

/// The files of `--ca`, as countries and the ICAO publish them and as nobody should.
@Suite("Lists of certificates", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct CertificateListTests {
    private static let folder = "Fixtures/ids/passports"

    private static func file(_ name: String) throws -> [UInt8] { try TestFiles.read("\(folder)/lists/\(name)") }

    private static func authority() throws -> [UInt8] { try TestFiles.read("\(folder)/csca.der") }

    /// A file, its form, how many certificates are read, and the numbers of those that are not.
    static let files: [(name: String, kind: CertificateList.Kind, count: Int, holes: [Int])] = [
        ("list.ml", .masterList, 4, []), ("list.ldif", .ldif, 4, []), ("certs.ldif", .ldif, 2, []),
        ("certs.p7c", .pkcs7, 4, []), ("hole.pem", .pem, 2, [2]), ("trusted.pem", .pem, 1, []),
    ]

    @Test(
        "Each form is told by its bytes, and is the same in base64, with a byte order mark and with other line ends",
        arguments: files)
    func forms(_ row: (name: String, kind: CertificateList.Kind, count: Int, holes: [Int])) throws {
        let bytes = try Self.file(row.name)
        var all = [bytes, Array(Self.base64(bytes, width: 76).utf8), Array(Self.base64(bytes, width: .max).utf8)]
        if row.kind == .ldif || row.kind == .pem {
            let text = String(decoding: bytes, as: UTF8.self)
            all.append([0xEF, 0xBB, 0xBF] + bytes)
            all.append(Array(text.replacing("\n", with: "\r\n").utf8))
            all.append(Array(text.trimmingSuffix { $0.isNewline }.utf8))
        }
        for (number, file) in all.enumerated() {
            let list = try CertificateList(reading: file)
            #expect(
                list.kind == row.kind && list.count == row.count && list.holes == row.holes,
                "\(row.name) \(number): \(list)")
            #expect(try list.certificates.contains { try $0.der == Self.authority() })
        }
        #expect(try CertificateAuthorities(files: [bytes, bytes]).authorities.count == row.count, "each counts once")
    }

    @Test("A master list names its signer, when it was signed, and whose certificates it has")
    func masterList() throws {
        let list = try CertificateList(reading: Self.file("list.ml"))
        #expect(list.signature == .valid && list.signedBy != nil && list.issuedAt != nil)
        let countries = CertificateList.countries(of: [list, try CertificateList(reading: Self.file("hole.pem"))])
        #expect(countries.map(\.code) == ["UA", "UB", "UC", "UT"] && countries.allSatisfy { $0.certificates == 1 })
        #expect(countries.map(\.until).allSatisfy { $0 == Moment.at("2038-01-01T00:00:00Z") })
        let plain = try CertificateList(reading: Self.authority())
        #expect(plain.kind == .der && plain.signature == nil && plain.signedBy == nil && plain.issuedAt == nil)
    }

    // MARK: Text

    private static func base64(_ bytes: [UInt8], width: Int) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for place in 0...3 {
                text.append(place <= part.count ? letters[bits >> (18 - 6 * place) & 0x3F] : "=")
            }
        }
        guard width < text.count else { return text }
        var lines: [Substring] = []
        var rest = text[...]
        while !rest.isEmpty {
            lines.append(rest.prefix(width))
            rest = rest.dropFirst(width)
        }
        return lines.joined(separator: "\n")
    }

    /// A directory with these values, folded after so many characters.
    private static func directory(_ values: [[UInt8]], fold: Int, end: String = "\n") -> [UInt8] {
        let newline = end == "" ? "\r\n" : "\n"
        var text = "# a comment\(newline) that goes on\(newline)version: 1\(newline)"
        for (number, value) in values.enumerated() {
            text += "\(newline)dn: cn=\(number),dc=pkd\(newline)objectClass: top\(newline)pkdVersion:: MQ==\(newline)"
            let line = "CscaMasterListData:: " + base64(value, width: .max)
            var rest = line[...]
            text += rest.prefix(fold)
            rest = rest.dropFirst(fold)
            while !rest.isEmpty {
                text += newline + " " + rest.prefix(fold)
                rest = rest.dropFirst(fold)
            }
            text += newline
        }
        return Array((text.trimmingSuffix { $0.isNewline } + end).utf8)
    }

    @Test(
        "A directory of 400 lists, folded anywhere, with and without a last line end",
        arguments: [2, 3, 5, 77, 100_000])
    func folded(_ fold: Int) throws {
        let list = try Self.file("list.ml")
        for end in ["\n", ""] {
            let found = try CertificateList(
                reading: Self.directory(Array(repeating: list, count: fold == 77 ? 400 : 3), fold: fold, end: end))
            #expect(found.kind == .ldif && found.count == 4 && found.holes.isEmpty && found.signature == .valid)
            #expect(found.signedBy == nil && found.issuedAt == nil, "of several lists, none")
        }
    }

    @Test("Damaged lists and other values are left out of a directory")
    func holes() throws {
        let list = try Self.file("list.ml")
        var damaged = list
        damaged[700] ^= 1
        let revoked = BERTLV(
            0x30,
            [
                BERTLV(
                    0x30,
                    [
                        BERTLV(0x02, [1]), BERTLV(0x30, [UInt8]()), BERTLV(0x30, [UInt8]()),
                        BERTLV(0x17, Array("260101000000Z".utf8)),
                    ]), BERTLV(0x30, [UInt8]()), BERTLV(0x03, [0]),
            ]
        ).encoded
        let found = try CertificateList(
            reading: Self.directory([damaged, list, revoked, [0x30, 0x03, 1, 2, 3]], fold: 76))
        #expect(found.count == 4 && found.holes == [1, 6] && found.signature == .wrong, "\(found)")
        #expect(throws: AuthorityError.notACertificate(file: 0)) {
            try CertificateList(reading: Self.directory([damaged], fold: 76))
        }
        #expect(throws: AuthorityError.damagedList(file: 0)) { try CertificateList(reading: damaged) }
        let text = String(decoding: Self.directory([list], fold: 76), as: UTF8.self)
        let broken = text.replacing("CscaMasterListData:: M", with: "userCertificate;binary:: *")
        #expect(throws: AuthorityError.notACertificate(file: 0)) { try CertificateList(reading: Array(broken.utf8)) }
    }

    @Test("A master list in BER, and certificates in it")
    func indefinite() throws {
        func indefinite(_ object: BERTLV, _ depth: Int) -> [UInt8] {
            if object.tag == 0x04, object.value.count > 100 {
                let parts = stride(from: 0, to: object.value.count, by: 100).flatMap {
                    BERTLV(0x04, Array(object.value[$0..<min($0 + 100, object.value.count)])).encoded
                }
                return [0x24, 0x80] + parts + [0, 0]
            }
            guard depth < 4, object.tag.isConstructed, let children = object.children else { return object.encoded }
            return object.tag.bytes + [0x80] + children.flatMap { indefinite($0, depth + 1) } + [0, 0]
        }
        for name in ["list.ml", "certs.p7c"] {
            let whole = try #require(BERTLVList(tolerant: Self.file(name)).objects.first)
            // Certificates and signed attributes stay as they are.
            let children = try #require(whole[0xA0]?[0x30]?.children)
            let body = children.map { $0.tag == 0xA0 || $0.tag == 0x31 ? $0.encoded : indefinite($0, 0) }.flatMap(
                \.self)
            let identifier = try #require(whole[0x06]).encoded
            let bytes = [0x30, 0x80] + identifier + [0xA0, 0x80, 0x30, 0x80] + body + [0, 0, 0, 0, 0, 0]
            let list = try CertificateList(reading: bytes)
            #expect(list.count == 4 && list.signature == (name == "list.ml" ? .valid : nil), "\(name)")
        }
    }

    // MARK: Hostile files

    /// What must be refused, without a crash and in bounded time.
    static let hostile: [(name: String, bytes: [UInt8])] = {
        func nested(_ tag: UInt8, _ count: Int) -> [UInt8] {
            var bytes: [UInt8] = [0x05, 0x00]
            for _ in 0..<count { bytes = BERTLV(BERTag(rawValue: UInt32(tag)), bytes).encoded }
            return bytes
        }
        let deep = 10_000
        let identifier: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        let endless = Array(repeating: [0x24, 0x80] as [UInt8], count: deep).flatMap(\.self)
        return [
            ("empty", []), ("zeros", [UInt8](repeating: 0, count: 100_000)),
            ("blanks", [UInt8](repeating: 0x20, count: 100_000)),
            ("nested sequences", nested(0x30, deep)), ("nested strings", nested(0x24, deep)),
            ("nested sets", nested(0x31, deep)),
            (
                "nested in SignedData",
                [0x30, 0x80] + identifier + [0xA0, 0x80]
                    + Array(repeating: [0x30, 0x80] as [UInt8], count: deep).flatMap(\.self)
            ),
            ("strings without end", endless), ("strings without end in a sequence", [0x30, 0x80] + endless),
            (
                "a string of parts without end",
                [0x30, 0x80] + identifier + [0xA0, 0x80, 0x24, 0x80]
                    + Array(repeating: [0x04, 0x00] as [UInt8], count: 50_000).flatMap(\.self)
            ),
            ("a length of 4 GB", [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + identifier),
            ("a length of 2^64", [0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8)),
            ("a length that lies", [0x30, 0x82, 0x7F, 0xFF] + identifier + [0xA0, 0x82, 0x7F, 0x00]),
            ("one byte short", [0x30, 0x03, 0x30, 0x02, 0x05]),
            (
                "empty objects",
                [0x30, 0x83, 0x01, 0x86, 0xA0] + [UInt8](repeating: 0x05, count: 1)
                    + [UInt8](repeating: 0, count: 99_999)
            ),
            ("a zip archive", [0x50, 0x4B, 0x03, 0x04, 0, 0]),
            ("a block without end", Array("-----BEGIN CERTIFICATE-----\nMIIB".utf8)),
            ("blocks without end", Array(String(repeating: "-----BEGIN CERTIFICATE-----\n", count: 30_000).utf8)),
            ("a key", Array("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n".utf8)),
            ("a directory without values", Array("version: 1\n\ndn: x\n".utf8)),
            ("a directory with lies", Array("dn: x\ncACertificate:: ====M\n".utf8)),
            (
                "one line folded 100,000 times",
                Array(("version: 1\nc:: " + String(repeating: "\n M", count: 100_000)).utf8)
            ),
            ("base64 of text", Array("aGVsbG8gd29ybGQ=".utf8)), ("words", Array("hello".utf8)),
            ("a page", Array("<!DOCTYPE html>\n<html>".utf8)),
        ]
    }()

    @Test("Nothing of it is accepted, and nothing takes a thread's stack or the memory", arguments: hostile)
    func refused(_ row: (name: String, bytes: [UInt8])) {
        for bytes in [row.bytes, Array(Self.base64(row.bytes, width: 64).utf8)] {
            #expect(throws: AuthorityError.self) { try CertificateList(reading: bytes) }
        }
    }

    @Test("An archive is named as one")
    func archive() {
        #expect(throws: AuthorityError.archive(file: 0)) { try CertificateList(reading: [0x50, 0x4B, 0x03, 0x04]) }
        #expect(throws: AuthorityError.archive(file: 1)) {
            try CertificateAuthorities(files: [Self.authority(), [0x50, 0x4B, 0x03, 0x04]])
        }
    }

    @Test("Mutated lists: every accepted certificate of a signed one is one that was signed")
    func mutations() throws {
        let names = ["list.ml", "list.ldif", "certs.ldif", "certs.p7c", "hole.pem", "trusted.pem"]
        let files = try names.map { try Self.file($0) }
        let signed = Set(try CertificateList(reading: files[0]).certificates.map(\.der))
        var random = SeededGenerator(seed: 9304)
        for round in TestEffort.rounds(4000) {
            var bytes = files[round % files.count]
            for _ in 0...Int.random(in: 0...2, using: &random) {
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0...4, using: &random) {
                case 0, 1: bytes[place] ^= UInt8.random(in: 1...255, using: &random)
                case 2: bytes.remove(at: place)
                case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            guard let list = try? CertificateList(reading: bytes) else { continue }
            #expect(list.count <= 4, "round \(round)")
            // The first two are signed as a whole; a directory may lose its list, and the other forms are not signed at all.
            if round % files.count < 2, list.signature == .valid || list.signature == .unknownAuthority {
                #expect(list.certificates.allSatisfy { signed.contains($0.der) }, "round \(round)")
            }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ isLeftOut: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, isLeftOut(last) { text = text.dropLast() }
        return String(text)
    }
}
