// SPDX-License-Identifier: Apache-2.0

import CardModel
import LibNFCReader
import NFCTransport
import ReaderConformance
import TestSupport
import Testing
import VirtualReader

struct ArrivalTests {
    @Test(arguments: Way.allCases) func theFirstCodeWinsWheneverTheCardComes(_ way: Way) throws {
        let field = try VirtualCardFile.loadField(TestFiles.read("Fixtures/felica/two-purses.json"))
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let reader = try way.open(server, patience: 60)
        defer { reader.close() }
        #expect(ArrivalSoak.breaches(reader, arrivals: ArrivalSoak.arrivals, clock: ArrivalSoak.hasty) == [])
    }
}
