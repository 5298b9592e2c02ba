// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Virtual cards of the state, read by a program that shares nothing with Kazasu: nfcpy, pycryptodome, and its own secure messaging.
@Suite("Another reader of the cards of the state", .waits)
struct PeerReaderTests {
    private static let python = getenv("KAZASU_PYTHON").map { String(cString: $0) }

    /// A card file, what opens it, how many files are read of it.
    typealias Peer = (card: String, kind: String, secret: String, files: Int)

    static let cards: [Peer] = [
        ("residence/first", "residence", "AA12345678BB", 4), ("residence/second", "residence", "AA12345678BB", 6),
        ("passport/card", "passport", "SP1234567980040593606148", 4),
        ("mynumber/face", "mynumber", "2222,50060120311234", 4),
    ]

    @Test(
        "It reads the bytes that the card file has", .enabled(if: python != nil, "KAZASU_PYTHON names no Python"),
        arguments: cards)
    func reads(_ peer: Peer) throws {
        let folder = try TemporaryFolder()
        let path = "Fixtures/iso7816/\(peer.card).json"
        let reader = try SimulatedReader("\(TestFiles.root)/\(path)", link: "\(folder.path)/pn532")
        let script = "\(TestFiles.root)/Tests/Identity/read_ids.py"
        let result = try ChildProcess.run(
            try #require(Self.python), [script, "\(folder.path)/pn532", peer.kind, peer.secret])
        #expect(result.end == .exited(0), "\(result.errors)")
        let written = String(decoding: try TestFiles.read(path), as: UTF8.self).lowercased()
        let files = result.output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(files.count == peer.files)
        for file in files {
            let data = try #require(file.last)
            #expect(data.count > 20 && written.contains("\"\(data)\""), "\(file.first ?? "")")
        }
        #expect(reader.interrupt().end == .exited(0))
    }
}
