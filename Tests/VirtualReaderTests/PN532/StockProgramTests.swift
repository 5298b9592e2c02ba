// SPDX-License-Identifier: Apache-2.0

import Testing
import TestSupport
import VirtualReader

@Suite("Stock programs take the server for a PN532")
struct StockProgramTests {
    private func run(_ program: String, _ arguments: [String] = [], on server: PN532Server) throws -> ChildResult {
        try ChildProcess.run(program, arguments, environment: ["LIBNFC_DEVICE": server.connectionString])
    }

    @Test func nfcListSeesTheCardAtBothSpeeds() throws {
        let server = try PN532Server(field: PlainField())
        defer { server.stop() }
        let result = try run("/usr/bin/nfc-list", on: server)
        #expect(result.end == .exited(0))
        #expect(result.output.contains("01  02  03  04  05  06  07  08"))
        #expect(result.output.contains("FeliCa (212 kbps)"))
        #expect(result.output.contains("FeliCa (424 kbps)"))
    }
}
