// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import TestSupport
import Testing

/// The program on a real pcscd with virtual readers and cards of ours.
@Suite(
    "Readers behind pcscd", .waits, .serialized,
    .enabled(if: PCSCService.obstacle == nil, "\(PCSCService.obstacle ?? "")"))
struct PCSCTests {
    private let folder: TemporaryFolder
    private let service: PCSCService

    init() throws {
        folder = try TemporaryFolder()
        service = try PCSCService(folder: folder.path)
    }

    private var environment: [String: String] { [PCSCService.variable: service.socket] }

    private var reader: String { "pcsc:\(service.readers[0])" }

    private func run(_ arguments: String...) throws -> ChildResult {
        try Kazasu.run(arguments, environment: environment)
    }

    /// Puts a card into the first reader, which itself answers to `FF CA 00` with the UID.
    private func insert(
        _ atr: String, uid: [UInt8], answer: @escaping @Sendable ([UInt8]) -> [UInt8] = { _ in [0x6D, 0x00] }
    ) throws -> VPCDCard {
        try VPCDCard(port: service.port, atr: try Hex.decode(atr)) { command in
            guard command.starts(with: [0xFF, 0xCA]) else { return answer(command) }
            return command.dropFirst(2).first == 0x00 ? uid + [0x90, 0x00] : [0x6A, 0x81]
        }
    }

    private static let typeB = "3B888001004B51FF0081D100BC"
    private static let uid: [UInt8] = [0x11, 0x22, 0x33, 0x44]

    @Test("They are listed with the ID that --reader takes, and the doctor can open one")
    func listed() throws {
        let list = try run("readers")
        #expect(list.end == .exited(0))
        for name in service.readers { #expect(list.output.contains("pcsc:\(name)  ready"), "\(list.output)") }
        #expect(!list.errors.contains("PC/SC"))
        let document = try JSONCursor(JSONValue(parsing: Array(run("readers", "--json").output.utf8)))
        #expect(try document.required("pcsc").required("state").text() == "ready")
        let doctor = try run("doctor", "--reader", reader)
        #expect(doctor.output.contains("\(reader) answers"), "\(doctor.output)")
        #expect(doctor.end == .exited(0))
    }

    @Test("No card, a name that no reader has, a name that means two")
    func wrongNames() throws {
        try run("poll", "-t", "0", "-r", reader).expectError(75, "no card came in time")
        try run("poll", "-t", "0", "-r", "pcsc:Nobody").expectError(69, "pcscd has no reader with this name")
        try run("poll", "-t", "0", "-r", "pcsc:Kazasu").expectError(69, "this name matches several readers")
    }

    @Test("poll and apdu with a card of type B")
    func exchange() throws {
        let card = try insert(Self.typeB, uid: Self.uid) { $0[1] == 0xA4 ? [0x6F, 0x00, 0x90, 0x00] : [0x6A, 0x82] }
        let poll = try run("poll", "--json", "-r", reader)
        #expect(poll.end == .exited(0), "\(poll.errors)")
        let found = try JSONCursor(JSONValue(parsing: Array(poll.output.utf8)))
        #expect(try found.required("cards").elements().count == 1)
        #expect(try found.required("card").required("technology").text() == "typeB")
        #expect(poll.output.contains("11223344"))
        let apdu = try run("apdu", "-r", reader, "00A4000C", "00B0000000")
        #expect(apdu.end == .exited(0), "\(apdu.errors)")
        #expect(apdu.output.split(separator: "\n").map { $0.suffix(4) } == ["9000", "6A82"], "\(apdu.output)")
        #expect(card.commands.suffix(2) == [[0x00, 0xA4, 0x00, 0x0C], [0x00, 0xB0, 0x00, 0x00, 0x00]])
        #expect(try run("apdu", "-r", reader, "FFCA000000").output == "11223344 9000\n")
        let guarded = try run("apdu", "-r", reader, "0020008104 31323334")
        guarded.expectError(77, "is not sent")
        #expect(!card.commands.contains { $0.dropFirst().first == 0x20 }, "no PIN reaches the card past the guard")
    }
}

extension PCSCTests {
    private static let ultralight = "3B8F8001804F0CA0000003060300030000000068"
    private static let tagUID: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x82]

    /// The sixteen pages of an Ultralight with an empty NDEF message, read four at a time and going on with page 0.
    private static let pages: [UInt8] =
        [0x04, 0xA8, 0xD8, 0xFC, 0x62, 0xBC, 0x2B, 0x82, 0x77, 0x48, 0x00, 0x00, 0xE1, 0x10, 0x06, 0x00]
        + [0x03, 0x00, 0xFE, 0x00] + [UInt8](repeating: 0, count: 44)

    @Test("Reports commands that the reader does not pass on, and prints the rest")
    func tagThatCannotBeAsked() throws {
        let card = try insert(Self.ultralight, uid: Self.tagUID) { command in
            guard command.prefix(3) == [0xFF, 0xB0, 0x00], let page = command.dropFirst(3).first, page < 16 else {
                return command.prefix(2) == [0xFF, 0xB0] ? [0x63, 0x00] : [0x6D, 0x00]
            }
            return (0..<16).map { Self.pages[(Int(page) * 4 + $0) % 64] } + [0x90, 0x00]
        }
        let info = try run("tag", "info", "-r", reader)
        #expect(info.end == .exited(0), "\(info.errors)")
        #expect(info.errors.isEmpty)
        #expect(
            info.output.contains("Not checked   GET_VERSION: this reader does not pass these commands on"),
            "\(info.output)")
        #expect(info.output.contains("04A8D862BC2B82") && !info.output.contains("Product"))
        let json = try JSONCursor(JSONValue(parsing: Array(run("tag", "info", "--json", "-r", reader).output.utf8)))
        let names = try json.required("type2").required("notAsked").elements().map { try $0.text() }
        #expect(names.contains("GET_VERSION"))
        #expect(try json.required("ndef").required("formatted").bool())
        let japanese = try run("tag", "info", "--lang", "ja", "-r", reader)
        #expect(japanese.output.contains("リーダーがタグに通さない"))
        let raw = try run("dump", "-r", reader)
        #expect(raw.end == .exited(0), "\(raw.errors)")
        #expect(raw.output.contains("# not asked GET_VERSION\n") && raw.output.contains("04 0300FE00\n"))
        _ = card
    }
}

/// What is said where pcscd cannot be asked; needs none.
@Suite("Without pcscd", .waits)
struct PCSCObstacleTests {
    private static let environment = [PCSCService.variable: "/nowhere/pcscd.comm"]

    @Test("Shows the reason and the command that fixes it", arguments: ["en", "ja"])
    func noService(language: String) throws {
        let failure = try Kazasu.run(
            ["poll", "-t", "0", "-r", "pcsc:Sony", "--lang", language], environment: Self.environment)
        failure.expectError(69, "pcscd ")
        #expect(failure.messages.last?.contains("sudo ") == true, "\(failure.errors)")
        let json = try Kazasu.run(["poll", "-t", "0", "-r", "pcsc:", "--json"], environment: Self.environment)
        let error = try json.errorDocument()
        #expect(try error.required("reason").text() == "absent")
        #expect(try error.required("hint").text().contains("sudo "))
    }

    @Test("'readers' says it too, where no other reader is ready")
    func readers() throws {
        let document = try JSONCursor(
            JSONValue(
                parsing: Array(Kazasu.run(["readers", "--json"], environment: Self.environment).output.utf8)))
        let service = try document.required("pcsc")
        #expect(try service.required("state").text() == "unavailable")
        #expect(try service.required("reason").text() == "absent")
        #expect(try service.required("hint").text().contains("sudo "))
        let list = try Kazasu.run(["readers"], environment: Self.environment)
        #expect(list.end == .exited(0))
        let hasReady = try document.required("readers").elements().contains {
            try $0.required("state").text() == "ready"
        }
        #expect(list.errors.contains("no PC/SC readers: pcscd ") != hasReady, "\(list.errors)")
    }

    @Test("A socket without a server, and one that the user may not open", .needs(library: "libpcsclite.so.1"))
    func socketThatIsThere() throws {
        let folder = try TemporaryFolder()
        let socket = try folder.write([], as: "pcscd.comm")
        let silent = try Kazasu.run(
            ["poll", "-t", "0", "-r", "pcsc:Sony"], environment: [PCSCService.variable: socket])
        silent.expectError(69, "pcscd does not answer")
        #expect(silent.errors.contains("sudo systemctl restart pcscd.socket pcscd.service"))
        guard ReaderTests.canBeNobody else { return }
        #expect(chmod(folder.path, 0o755) == 0 && chmod(socket, 0o600) == 0)
        let environment = Kazasu.environment.merging([
            "LLVM_PROFILE_FILE": "/dev/null", PCSCService.variable: socket,
        ]) { $1 }
        let closed = try ChildProcess.run(
            "/usr/bin/setpriv", ReaderTests.nobody + ["poll", "-r", "pcsc:Sony", "--json"], environment: environment)
        let error = try closed.errorDocument()
        #expect(try error.required("reason").text() == "permission")
        #expect(try error.required("message").text().contains("you do not have permission to open \(socket)"))
    }

    @Test(
        "A pcscd of another protocol version is not told to restart", .needs(library: "libpcsclite.so.1"),
        arguments: ["en", "ja"])
    func otherVersion(language: String) throws {
        let service = try MismatchedService()
        let environment = [PCSCService.variable: service.socket]
        let result = try Kazasu.run(
            ["poll", "-t", "0", "-r", "pcsc:Sony", "--lang", language], environment: environment)
        result.expectError(69, language == "en" ? "versions that do not understand each other" : "バージョンが合わず")
        #expect(result.errors.contains("sudo apt install pcscd libpcsclite1"))
        #expect(!result.errors.contains("restart"))
        let doctor = try Kazasu.run(["doctor", "-r", "pcsc:Sony", "--json"], environment: environment)
        #expect(doctor.output.contains("versions that do not understand each other"), "\(doctor.output)")
        let readers = try Kazasu.run(["readers", "--json"], environment: environment)
        #expect(readers.output.contains("versions that do not understand each other"))
    }

    @Test("A computer without libpcsclite has its other readers")
    func noLibrary() throws {
        let folder = try TemporaryFolder()
        // What the loader finds first cannot be loaded.
        _ = try folder.write([0], as: "libpcsclite.so.1")
        let socket = try folder.write([], as: "pcscd.comm")
        let environment = [PCSCService.variable: socket, "LD_LIBRARY_PATH": folder.path]
        let result = try Kazasu.run(["poll", "-t", "0", "-r", "pcsc:Sony"], environment: environment)
        result.expectError(69, "libpcsclite.so.1 is not installed")
        #expect(result.errors.contains("sudo apt install libpcsclite1"))
        #expect(try Kazasu.run(["readers"], environment: environment).end == .exited(0))
        let card = try Kazasu.run(["balance", "-r", Card.fixture("edy")], environment: environment)
        #expect(card.end == .exited(0), "\(card.errors)")
    }

    @Test(
        "Where every test must run, those with pcscd are not skipped",
        .enabled(if: getenv("KAZASU_ALL_TESTS") != nil, "KAZASU_ALL_TESTS is not set"))
    func notSkipped() {
        #expect(PCSCService.obstacle == nil, "\(PCSCService.obstacle ?? "")")
    }
}
