// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Testing
import VirtualReader

@Suite("Faults of command APDUs")
struct APDUFaultTests {
    private static func reader(_ faults: InjectedFaults) throws -> InProcessReader {
        let card = try FileCards.card(FileTests.members)
        let reader = InProcessReader(VirtualField(cards: [card], faults: faults))
        _ = try #require(try reader.activate(.typeA()))
        return reader
    }

    @Test(arguments: [
        (InjectedFault.silence, TransportError.noAnswer), (.absent, .noAnswer),
        (.damaged(status: 2), .corrupted(status: 2)),
        (.late(.seconds(2)), .noAnswer),
    ])
    func answerStaysLostOnRetries(_ fault: InjectedFault, _ error: TransportError) throws {
        let reader = try Self.reader(.once(fault, atAPDU: 2))
        #expect(try reader.apdu("00a40000") == "9000")
        #expect(throws: error) { try reader.apdu("00a4000c023f00") }
        #expect(try reader.activate(.typeA()) != nil)
        #expect(try reader.apdu("00a40000") == "9000")
        #expect(reader.field.statistics.apdus == 3)
        #expect(reader.field.statistics.byInstruction == [0xA4: 3])
    }

    @Test(arguments: [
        (InjectedFault.truncated(to: 1), "90"), (.truncated(to: 0), ""), (.lengthened(by: [1, 2]), "90000102"),
        (.flipped(offset: 1, mask: 1), "9001"), (.replaced(by: [0x6F, 0]), "6f00"),
    ])
    func responseIsDifferent(_ fault: InjectedFault, _ response: String) throws {
        let reader = try Self.reader(.once(fault, atAPDU: 1))
        #expect(try reader.apdu("00a40000") == response)
        #expect(try reader.apdu("00a40000") == "9000")
    }

    @Test func countsByInstruction() throws {
        let reader = try Self.reader([
            InjectedFaultRule(.replaced(by: [0x69, 0x85]), .during(2...2), command: 0xB0, countsAPDUs: true)
        ])
        #expect(try reader.apdu("00a4020c022f01") == "9000")
        #expect(try reader.apdu("00b0000001") == "459000")
        #expect(try reader.apdu("00b0000001") == "6985")
    }

    /// A frame that is lost once costs nothing: the reader asks for the block again.
    @Test(arguments: [InjectedFault.silence, .damaged(status: 2), .truncated(to: 0), .replaced(by: [0xFF])])
    func retriesALostFrame(_ fault: InjectedFault) throws {
        for exchange in 5...12 {
            let reader = try Self.reader(.once(fault, at: exchange))
            #expect(try reader.apdu("00a4040c06a00000023101") == "9000")
            #expect(try reader.apdu("00b0810000").count == 516)
        }
    }
}
