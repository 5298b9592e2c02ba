// SPDX-License-Identifier: Apache-2.0

import NFCTransport
import ReaderConformance
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

struct ArrivalTests {
    @Test(arguments: SimulatedPaSoRi.allCases)
    func theFirstCodeWinsWheneverTheCardComes(_ model: SimulatedPaSoRi) throws {
        let field = try VirtualCardFile.loadField(TestFiles.read("Fixtures/felica/two-purses.json"))
        let chip = model.chip(field, InjectedUSBFaults())
        let reader = try model.open(VirtualUSBLink(chip), CancellationToken())
        defer { reader.close() }
        #expect(ArrivalSoak.breaches(reader, arrivals: ArrivalSoak.arrivals, clock: ArrivalSoak.hasty) == [])
        #expect(chip.statistics.complaints == [])
    }
}
