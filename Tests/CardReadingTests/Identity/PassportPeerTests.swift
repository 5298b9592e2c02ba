// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import Glibc
import ISO7816
import ReaderCore
import TestSupport
import Testing

@testable import CardReading

/// Passports with the programs of others: a reader in Python that shares nothing with ours, and libeac on either side.
@Suite("Passports and other programs", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportPeerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The entry of EF.CardAccess in `chip-pace.json`, and with another cipher, curve or mapping.
    private static let entry = "04007f0007020204020202010202010d"

    private static func entry(_ mapping: Int, _ cipher: Int, _ parameters: Int) -> String {
        func two(_ number: Int) -> String { Hex.encode([UInt8(number)]) }
        return "04007f00070202" + "04" + two(mapping) + two(cipher) + "0201020201" + two(parameters)
    }

    /// A program whose input is a pipe with a name.
    private func start(_ program: String, _ arguments: [String]) throws -> (RunningChild, Int32) {
        let path = "\(folder.path)/input"
        try #require(mkfifo(path, 0o600) == 0)
        let input = open(path, O_RDWR | O_CLOEXEC)
        try #require(input >= 0)
        return (try RunningChild(program, arguments + [path]), input)
    }

    private func send(_ bytes: [UInt8], to input: Int32) throws {
        let line = Array((Hex.encode(bytes) + "\n").utf8)
        try #require(write(input, line, line.count) == line.count)
    }

    /// Passes the commands of a program on to a virtual passport until it says that it is done; gives what it says then.
    private func serve(_ card: FileCard, _ program: String, _ arguments: [String]) throws -> [String] {
        let result = try play(card, program, arguments)
        #expect(result.end == .exited(0), "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        return Array(lines.drop { $0 != "end" }.dropFirst())
    }

    private func play(_ card: FileCard, _ program: String, _ arguments: [String]) throws -> ChildResult {
        let (child, input) = try start(program, arguments)
        defer { close(input) }
        while let line = try child.line(of: .output), line != "end" {
            let command = try Hex.decode(line)
            try send(try card.spy.transceive(command, timeout: .seconds(5)), to: input)
        }
        return child.finish()
    }

    // MARK: A second reader

    /// Mapping, cipher and curve, or BAC.
    static let ways: [(String, String, Int, Int)] =
        [("bac", "SP1234567,800405,360614", 1, 0)]
        + [("pace", "SP1234567,800405,360614"), ("can", "123456")].flatMap { way, secret in
            (1...4).map { (way, secret, $0, 13) } + [(way, secret, 2, 12), (way, secret, 4, 12)]
        }

    @Test(
        "A reader that shares nothing with ours reads virtual passports by BAC and PACE",
        .needs(python: "Crypto.Cipher"), arguments: ways)
    func secondReader(_ way: String, _ secret: String, _ cipher: Int, _ parameters: Int) throws {
        let card =
            way == "bac"
            ? try FileCard("passport/card.json")
            : try FileCard("passport/chip-pace.json", changes: [(Self.entry, Self.entry(2, cipher, parameters))])
        let python = try #require(getenv("KAZASU_PYTHON").map { String(cString: $0) })
        let script = "\(TestFiles.root)/Tests/Identity/read_passport.py"
        let found = try serve(card, python, [script, way, secret])

        // What our reader reads of the same card.
        let own = try FileCard(way == "bac" ? "passport/card.json" : "passport/chip-pace.json")
        var reader = try PassportReader(own.session, own.identity)
        reader.unlock(.zone(try #require(PassportKey("SP1234567,800405,360614"))))
        let files = try #require(reader.finish().application(PassportFile.application))
        let names: [(String, PassportFile)] = [
            ("EF.COM", .index), ("DG1", .machineReadableZone), ("DG2", .face), ("EF.SOD", .security),
        ]
        let expected = try names.map { name, file in
            "\(name) \(Hex.encode(try Digest.sha256.hash(try #require(files.file(file.id)).data)))"
        }
        #expect(found == expected, "\(way) \(cipher) \(parameters)")
    }

    // MARK: libeac

    /// The zone of the virtual passport as a card has it, with the same key: libeac 1.1.2 takes two lines otherwise than Doc 9303.
    private static let zone =
        "I<UTOSP12345679<<<<<<<<<<<<<<<" + "8004059M3606148UTO<<<<<<<<<<<0" + "SPECIMEN<<SAMPLE<TARO<<<<<<<<<"

    /// Mapping, cipher and group that libeac has: no integrated mapping over curves, and no chip-authentication mapping.
    static let groups: [(Int, Int, Int)] =
        (1...4).map { (2, $0, 13) } + [12, 14, 16, 17, 18].map { (2, 2, $0) } + [(2, 4, 12), (1, 2, 2), (1, 4, 1)]

    /// libeac's side, built for this run.
    private func libeac() throws -> String {
        let program = "\(folder.path)/libeac_pace"
        let source = "\(TestFiles.root)/Tests/Identity/libeac_pace.c"
        let result = try ChildProcess.run(
            try #require(CCompiler.path), ["-O1", "-o", program, source, "-leac", "-lcrypto"])
        #expect(result.end == .exited(0), "\(result.errors)")
        return program
    }

    private static let header = "/usr/include/eac/pace.h"

    private static var isThere: Bool { access(header, R_OK) == 0 && CCompiler.path != nil }

    @Test(
        "libeac opens our chip, by zone and by access number",
        .enabled(if: isThere, "needs libeac-dev and a C compiler"), arguments: groups)
    func libeacReads(_ mapping: Int, _ cipher: Int, _ parameters: Int) throws {
        let entry = Self.entry(mapping, cipher, parameters)
        let program = try libeac()
        for (way, secret) in [("mrz", Self.zone), ("can", "123456")] {
            // It leaves out leading zeros of a secret of numbers, so that one agreement of 256 fails: four in a row do not.
            var results: [ChildResult] = []
            for _ in 0..<(parameters < 3 ? 4 : 1) where results.last?.end != .exited(0) {
                unlink("\(folder.path)/input")
                let card = try FileCard("passport/chip-pace.json", changes: [(Self.entry, entry)], isExtended: true)
                // It compares tokens, and the code of an answer in the session.
                results.append(try play(card, program, ["reader", way, secret, "31143012060a" + entry]))
            }
            #expect(results.last?.end == .exited(0), "\(results)")
        }
    }

    @Test(
        "We open libeac as the chip; a wrong number is refused once",
        .enabled(if: isThere, "needs libeac-dev and a C compiler"), arguments: groups)
    func libeacAnswers(_ mapping: Int, _ cipher: Int, _ parameters: Int) throws {
        let program = try libeac()
        let access = "31143012060a" + Self.entry(mapping, cipher, parameters)
        for (password, isRight) in [
            (PassportPassword.accessNumber(try #require(CardAccessNumber("123456"))), true),
            (.accessNumber(try #require(CardAccessNumber("123457"))), false),
            (.zone(try #require(PassportKey("SP1234567,800405,360614"))), true),
        ] {
            unlink("\(folder.path)/input")
            var (way, secret) = ("mrz", Self.zone)
            if case .accessNumber = password { (way, secret) = ("can", "123456") }
            let (child, input) = try start(program, ["chip", way, secret, access])
            defer { close(input) }
            let reader = PipeReader(child, input)
            let session = ISO7816Session(
                reader: reader, picc: try #require(try reader.activate(.typeB())), request: .typeB())
            var opening = try PassportReader(
                session, .typeB(pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0x81, 0x81]))
            opening.unlock(password)
            if isRight {
                #expect(opening.access?.way == .pace, "\(String(describing: opening.error))")
                // libeac checked the code of the first command of the session.
                #expect(try child.writes("the same keys", to: .errors))
            } else {
                #expect(opening.access == nil && opening.error == .wrongPassportKey(nil), "\(opening.error as Any)")
            }
        }
    }
}

/// A reader whose card is another program.
private final class PipeReader: Reader {
    private let child: RunningChild
    private let input: Int32
    private let model: FileCard?

    init(_ child: RunningChild, _ input: Int32) {
        (self.child, self.input) = (child, input)
        model = try? FileCard("passport/card.json", isExtended: true)
    }

    var information: ReaderInformation { model?.spy.information ?? ReaderInformation(id: "pipe", name: "pipe") }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        guard let model else { return nil }
        return try model.spy.activate(request)
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        let line = Array((Hex.encode(frame) + "\n").utf8)
        guard write(input, line, line.count) == line.count,
            let answer = (try? child.line(of: .output)) ?? nil, let bytes = try? Hex.decode(answer)
        else { throw .noAnswer }
        return bytes
    }

    func close() {}
}
