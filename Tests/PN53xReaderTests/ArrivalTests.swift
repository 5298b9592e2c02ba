// SPDX-License-Identifier: Apache-2.0

import Arrivals
import CardModel
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite(.waits)
struct ArrivalTests {
    @Test(arguments: Way.allCases) func firstCodeWinsWheneverTheCardArrives(_ way: Way) throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/felica/two-purses.json"))
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let reader = try way.open(server, patience: 60)
        defer { reader.close() }
        let breaches = ArrivalSoak.breaches(reader, arrivals: ArrivalSoak.arrivals, clock: ArrivalSoak.hasty)
        ArrivalSoak.report("PN532, \(way)", arrivals: ArrivalSoak.arrivals, breaches)
        #expect(breaches == [])
    }

    /// In the time of the field, which pauses of the search pass for; the serial line takes none of it.
    @Test(arguments: Way.allCases, ArrivalFigures.Kind.chosen)
    func arrivalsInMidSearch(_ way: Way, _ kind: ArrivalFigures.Kind) throws {
        let field = try ArrivalFigures.field(kind, seed: 2)
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let reader = try way.open(server, patience: 60)
        defer { reader.close() }
        let figures = ArrivalFigures(
            kind, reader, arrivals: ArrivalFigures.arrivals, clock: .of(field), arrivedAt: { field.arrivedAt })
        figures.report("PN532, \(way)")
        #expect(figures.isMet, "\(figures) \(figures.faults)")
    }
}
