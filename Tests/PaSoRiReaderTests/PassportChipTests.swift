// SPDX-License-Identifier: Apache-2.0

import CardModel
import PassportChips
import ReaderCore
import SimulatedChips
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// Every deviation of passports on the simulated USB readers, of which the RC-S380 carries long answers.
@Suite("Deviations of passports on a PaSoRi", .waits)
struct PassportChipTests {
    @Test("Every row of the table", arguments: PassportChip.all, SimulatedPaSoRi.allCases)
    func rows(_ chip: PassportChip, _ kind: SimulatedPaSoRi) throws {
        let cancellation = CancellationToken()
        let link = VirtualUSBLink(kind.chip(try chip.field(), InjectedUSBFaults()), cancellation)
        let reader = try kind.open(link, cancellation)
        defer { reader.close() }
        #expect((reader.information.longestResponseAPDU > 0x400) == (kind == .rcs380))
        #expect(try chip.problem(on: reader) == nil)
    }
}
