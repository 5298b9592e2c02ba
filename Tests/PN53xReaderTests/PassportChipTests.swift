// SPDX-License-Identifier: Apache-2.0

import CardModel
import PassportChips
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// Every deviation of passports on a simulated PN532, through the real libnfc and on a serial port.
@Suite("Deviations of passports on a PN532", .waits)
struct PassportChipTests {
    @Test("Every row of the table, by either driver", arguments: Way.with(PassportChip.all))
    func rows(_ chip: PassportChip, _ way: Way) throws {
        let server = try PN532Server(field: chip.field())
        defer { server.stop() }
        let reader = try way.open(server)
        defer { reader.close() }
        #expect((reader.information.longestResponseAPDU > 0x400) == (way == .serial))
        #expect(try chip.problem(on: reader) == nil)
    }

    @Test("No row is left out")
    func missing() throws {
        #expect(try PassportChip.missing() == [])
    }
}
