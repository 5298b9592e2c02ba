// SPDX-License-Identifier: Apache-2.0

import Arrivals
import ReaderCore
import SimulatedChips
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

struct ArrivalTests {
    @Test(arguments: SimulatedPaSoRi.allCases)
    func firstCodeWinsWheneverTheCardArrives(_ model: SimulatedPaSoRi) throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/felica/two-purses.json"))
        let chip = model.chip(field, InjectedUSBFaults())
        let reader = try model.open(VirtualUSBLink(chip), CancellationToken())
        defer { reader.close() }
        let breaches = ArrivalSoak.breaches(reader, arrivals: ArrivalSoak.arrivals, clock: ArrivalSoak.hasty)
        ArrivalSoak.report("\(model)", arrivals: ArrivalSoak.arrivals, breaches)
        #expect(breaches == [])
        #expect(chip.statistics.complaints == [])
    }

    /// In the time of the field, which the pauses of search and driver pass for.
    @Test(arguments: SimulatedPaSoRi.allCases, ArrivalFigures.Kind.chosen)
    func arrivalsInMidSearch(_ model: SimulatedPaSoRi, _ kind: ArrivalFigures.Kind) throws {
        let field = try ArrivalFigures.field(kind, seed: 3)
        let chip = model.chip(field, InjectedUSBFaults())
        let reader = try model.open(VirtualUSBLink(chip), CancellationToken()) { field.pass($0) }
        defer { reader.close() }
        let figures = ArrivalFigures(
            kind, reader, arrivals: ArrivalFigures.arrivals, clock: .of(field), arrivedAt: { field.arrivedAt })
        figures.report("\(model)")
        #expect(figures.isMet, "\(figures) \(figures.faults)")
        #expect(chip.statistics.complaints == [])
    }
}
