// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import SimulatedChips
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

/// Captured transfers of real readers with a chip of the PN53x family, answered the same by the simulated ones.
///
/// Sources: libnfc issues 263, 278, 476, 617, 666 and 691, nfcpy issue 256.
struct TraceTests {
    struct Trace: Sendable, CustomTestStringConvertible {
        let name: String
        let chip: @Sendable (VirtualField) -> any VirtualUSBChip
        /// `>` from the host, `<` from the reader.
        let lines: [String]
        var testDescription: String { name }
    }

    private static let acknowledged = "< 0000FF00FF00"

    static let traces: [Trace] = [
        Trace(
            name: "RC-S360, opened by libnfc after a program that left it unreset (libnfc#278)",
            chip: { VirtualPN53xUSB(field: $0, condition: .stuckUntilReplugged) },
            lines: [
                "> 0000FF03FDD418011300", acknowledged, "< 0000FF02FED5191200", "> 0000FF00FF00",
                "> 0000FF02FED4022A00", acknowledged, "< 0000FF06FAD50333013007BD00",
                "> 0000FF03FDD412140600", acknowledged, "< 0000FF01FF7F8100",
            ]),
        Trace(
            name: "RC-S330 (nfcpy#256)", chip: { VirtualPN53xUSB(field: $0) },
            lines: [
                "> 0000FF00FF00", "> 0000FF03FDD418011300", acknowledged, "< 0000FF02FED5191200", "> 0000FF00FF00",
            ]),
        Trace(
            name: "PN533 in an SCL3711 (libnfc#617)", chip: { VirtualPN53xUSB(.scl3711, field: $0) },
            lines: [
                "> 0000FF02FED4022A00", acknowledged, "< 0000FF06FAD50333020707E500",
                "> 0000FF03FDD412041600", acknowledged, "< 0000FF02FED5131800",
                // A status before the register's value, and after it was written.
                "> 0000FF04FCD406633D8600", acknowledged, "< 0000FF04FCD50700002400",
                "> 0000FF05FBD408633D077D00", acknowledged, "< 0000FF03FDD509002200",
            ]),
        Trace(
            name: "ACR122U (libnfc#691, #666)", chip: { VirtualACR122(field: $0) },
            lines: [
                "> 62000000000000010000", "< 8002000000000000 8100 3B00",
                "> 6F07000000000000 0000 FF00000002D402", "< 8008000000000000 8100 D503320106079000",
                "> 6F10000000000000 0000 FF0000000BD408630280630380630544", "< 8004000000000000 8100 D5099000",
                "> 6F0B000000000000 0000 FF00000006D43205000102", "< 8004000000000000 8100 D5339000",
                "> 6F09000000000000 0000 FF00000004D44A0100", "< 8005000000000000 8100 D54B009000",
            ]),
        Trace(
            name: "a copy of an ACR122U: the error byte of a silent card, and data (libnfc#476)",
            chip: { VirtualACR122(field: $0, isCopy: true) },
            lines: [
                "> 6F08000000000000 0000 FF00000003D44400", "< 8005000000000000 FE00 D545009000",
            ]),
    ]

    @Test(arguments: traces) func answersTheSame(_ trace: Trace) throws {
        let chip = trace.chip(VirtualField())
        for line in trace.lines {
            let bytes = try Hex.decode(String(line.dropFirst(2)))
            if line.hasPrefix(">") {
                chip.receive(bytes)
            } else {
                #expect(chip.nextTransfer().map { Hex.encode($0) } == Hex.encode(bytes), "\(line)")
            }
        }
        #expect(chip.nextTransfer() == nil)
        #expect(chip.statistics.complaints == [])
    }
}
