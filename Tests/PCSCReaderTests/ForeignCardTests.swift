// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import ISO7816
import ReaderCore
import TestSupport
import Testing

extension PCSCServiceTests {
    /// What keeps vsmartcard's card from running here, or `nil`.
    static let viccObstacle: String? = {
        guard let python = getenv("KAZASU_PYTHON").map({ String(cString: $0) }) else {
            return "KAZASU_PYTHON names no Python"
        }
        let script =
            "import sys; sys.path.insert(0, '/usr/lib/python3/site-packages/virtualsmartcard'); "
            + "import virtualsmartcard.VirtualSmartcard"
        let result = try? ChildProcess.run(python, ["-c", script])
        return result?.end == .exited(0) ? nil : "KAZASU_PYTHON finds no vsmartcard"
    }()

    /// The ISO 7816 layer against a card that nobody here wrote: vsmartcard's vpicc behind pcscd.
    @Test(.enabled(if: viccObstacle == nil, "\(viccObstacle ?? "")"))
    func cardHeldByAnotherProgram() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let python = try #require(getenv("KAZASU_PYTHON").map { String(cString: $0) })
        let card = try RunningChild(
            python, ["\(TestFiles.root)/Tests/Cards/vicc_licence.py", "\(bench.service.port)"], pipeSize: 1 << 20)
        let picc = try #require(try bench.wait(for: .typeB(), on: reader))
        #expect(
            picc
                == .typeB(
                    TypeBTarget(
                        pupi: nil, applicationData: [0x00, 0x4B, 0x51, 0xFF], protocolInfo: [0x00, 0x81, 0xD1])))
        let session = ISO7816Session(reader: reader, picc: picc, request: .typeB())
        try checkFiles(session)
        reader.close()
        card.send(SIGTERM)
    }

    private func checkFiles(_ session: ISO7816Session) throws {
        let aid = try #require(AID("A0000002310100000000000000000000"))
        try session.select(.masterFile)
        try session.select(.application(aid))
        try session.select(.childEF(FileIdentifier(rawValue: 0x0001)))
        let whole = session.readFile()
        #expect(whole.end == .file)
        #expect(whole.data == (0..<880).map { UInt8(truncatingIfNeeded: $0) })
        // Past the end, a file that is not there, a command that it does not know.
        #expect(try session.transmit(CommandAPDU(.readBinary, p1: 0x7F, ne: 16)).status == StatusWord(0x6B, 0x00))
        let missing = try session.transmit(
            CommandAPDU(.select, p1: 0x02, p2: 0x0C, data: [0x0F, 0xFF], ne: 0))
        #expect(missing.status == StatusWord(0x6A, 0x82))
        #expect(try session.transmit(CommandAPDU(Instruction(rawValue: 0x1A), ne: 0)).status == StatusWord(0x6D, 0x00))
        #expect(try session.transmit(CommandAPDU(.getChallenge, ne: 8)).data.count == 8)
    }
}
