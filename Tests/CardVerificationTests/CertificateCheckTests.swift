// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import CardModel
import TestSupport
import Testing

@testable import CardVerification

/// Pairs of an authority and a signer, made by `Scripts/hostile-certificates.py`; most must be refused.
@Suite("Certificates that must not count", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct CertificateCheckTests {
    private static let folder = "Fixtures/ids/certificates"
    private static let now = Moment.at("2026-11-26T00:00:00Z")

    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var role: String
        var state: String
        var why: String
        var testDescription: String { name }
    }

    static let cases: [Case] = {
        let table = (try? TestFiles.read("\(folder)/cases.tsv")) ?? []
        return String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst(2).map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Case(name: fields[0], role: fields[1], state: fields[2], why: fields[3])
        }
    }()

    private static func pair(_ name: String) throws -> (authority: Certificate, signer: Certificate) {
        let bytes = try TestFiles.read("\(folder)/\(name).bin")
        let authority = try Certificate(der: bytes)
        return (authority, try Certificate(der: bytes.dropFirst(authority.der.count)))
    }

    private static func role(_ name: String) throws -> CertificateRole {
        try #require(CertificateRole.allCases.first { "\($0)" == name })
    }

    @Test("Thirty are hostile")
    func count() {
        #expect(Self.cases.count { $0.state != "valid" } >= 30)
        #expect(Set(Self.cases.map(\.name)).count == Self.cases.count)
        let files = TestFiles.names(in: Self.folder).filter { $0.hasSuffix(".bin") }
        #expect(Set(files) == Set(Self.cases.map { "\($0.name).bin" }))
    }

    @Test("Each pair is judged as the table says", arguments: cases)
    func judgement(_ row: Case) throws {
        let (authority, signer) = try Self.pair(row.name)
        let authorities = try CertificateAuthorities(files: [authority.der])
        let verdict = try authorities.verdict(
            on: signer, as: Self.role(row.role), countries: row.role == "documentSigner" ? ["UT"] : nil, at: Self.now)
        #expect(verdict.state.rawValue == row.state)
        #expect(verdict.why?.rawValue ?? "" == row.why)
        let isKnown = ["valid", "certificateExpired", "certificateUnfit"].contains(row.state)
        #expect((verdict.authority != nil) == isKnown)
    }

    @Test("A fit authority beside unfit ones decides, in any order")
    func several() throws {
        let plain = try Self.pair("plain")
        let others = try ["authority-is-none", "authority-had-ended", "other-key", "authority-of-servers"].map {
            try Self.pair($0).authority.der
        }
        for files in [others + [plain.authority.der], [plain.authority.der] + others] {
            let authorities = try CertificateAuthorities(files: files)
            let verdict = try authorities.verdict(
                on: plain.signer, as: .documentSigner, countries: ["UT"], at: Self.now)
            #expect(verdict.state == .valid)
        }
        let unfit = try CertificateAuthorities(files: others)
        let verdict = try unfit.verdict(on: plain.signer, as: .documentSigner, countries: ["UT"], at: Self.now)
        #expect(verdict.state == .certificateUnfit && verdict.why == .certificate)
    }

    @Test("Without an authority nobody asked; of others than the ministry's, none is left")
    func none() throws {
        let plain = try Self.pair("plain")
        #expect(
            try CertificateAuthorities.none.verdict(on: plain.signer, as: .holder, at: Self.now).state == .notChecked)
        let own = try CertificateAuthorities(files: [plain.authority.der])
        #expect(!own.ministryOnly.isEmpty)
        #expect(try own.ministryOnly.verdict(on: plain.signer, as: .holder, at: Self.now).state == .unknownAuthority)
    }

    @Test("Changed certificates never count, and nothing traps")
    func mutations() throws {
        let plain = try Self.pair("plain")
        let authorities = try CertificateAuthorities(files: [plain.authority.der])
        var random = SeededGenerator(seed: 5280)
        for round in TestEffort.rounds(3000) {
            var der = plain.signer.der
            for _ in 0...Int.random(in: 0...2, using: &random) {
                der[Int.random(in: der.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            guard der != plain.signer.der, let changed = try? Certificate(der: der) else { continue }
            let verdict = try authorities.verdict(on: changed, as: .documentSigner, countries: ["UT"], at: Self.now)
            #expect(verdict.state != .valid, "round \(round)")
        }
    }

    @Test("Issuing states have the countries of their certificates; others are not known")
    func countries() {
        let expected: [(String, Set<String>?)] = [
            ("JPN", ["JP"]), ("D", ["DE"]), ("DEU", ["DE"]), ("UTO", ["UT"]), ("GBR", ["GB"]), ("GBD", ["GB", "BM"]),
            ("BMU", ["GB", "BM"]), ("HKG", ["HK", "CN"]), ("RKS", ["KS", "XK"]), ("UNO", ["UN"]), ("EUE", ["EU"]),
            ("XOM", nil), ("XX" + "X", nil), ("", nil), ("jpn", nil),
        ]
        for (issuer, codes) in expected { #expect(PassportCountry.certificates(of: issuer) == codes, "\(issuer)") }
    }
}

@Suite("States of signatures")
struct SignatureStateTests {
    @Test(
        "What the bearer can cause is never success when asked, and only valid is",
        arguments: CardSignature.State.allCases)
    func rule(_ state: CardSignature.State) {
        #expect(state.isSuccess(whenAsked: true) == (state == .valid))
        let (causes, outcome) = state.rule
        #expect(!causes.isEmpty)
        if causes.contains(.bearer) { #expect(outcome != .success) }
        #expect((outcome == .unreadIfAsked) == (state == .incomplete))
        let free: Set<CardSignature.State> = [
            .valid, .absent, .unknownAuthority, .unsupported, .incomplete, .notChecked,
        ]
        #expect(state.isSuccess(whenAsked: false) == free.contains(state))
        #expect(!state.message.english.isEmpty && !state.message.japanese.isEmpty)
    }

    @Test("Documents have why only where there is one")
    func document() {
        let signature = CardSignature(.certificateUnfit, why: .country, by: "X", covers: ["a"], notCovered: [])
        #expect(
            signature.json.compactText
                == #"{"state":"certificateUnfit","why":"country","by":"X","covers":["a"],"notCovered":[]}"#)
        #expect(signature.message.english.contains("another country"))
        let valid = CardSignature(.valid, covers: [], notCovered: [])
        #expect(valid.json.compactText == #"{"state":"valid","by":null,"covers":[],"notCovered":[]}"#)
        #expect(valid.message == CardSignature.State.valid.message)
    }
}
