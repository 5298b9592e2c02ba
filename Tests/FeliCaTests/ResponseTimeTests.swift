// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import Testing

@Suite struct ResponseTimeTests {
    struct Nfcpy: Sendable {
        let commandClass: ResponseTime.CommandClass
        let units: Int
        /// What nfcpy takes for T, in microseconds: it rounds, and not everywhere alike.
        let period: Double
        let seconds: Double
    }

    /// nfcpy's time-outs for a PMm of eight FF.
    static let nfcpy: [Nfcpy] = [
        Nfcpy(commandClass: .fixed, units: 1, period: 302, seconds: 0.309248),
        Nfcpy(commandClass: .variable, units: 2, period: 302, seconds: 0.463872),
        Nfcpy(commandClass: .fixed, units: 0, period: 302, seconds: 0.154624),
        Nfcpy(commandClass: .read, units: 2, period: 302.1, seconds: 0.4640256),
    ]

    @Test(arguments: nfcpy) func maximaAreNfcpysWithTheExactPeriod(_ vector: Nfcpy) {
        let maximum = ResponseTime(PMm(rawValue: .max)).maximum(vector.commandClass, units: vector.units)
        let exactPeriod = 256 * 16 / 13.56
        #expect(abs(maximum / .seconds(1) - vector.seconds * exactPeriod / vector.period) < 1e-8)
    }

    struct Maximum: Sendable {
        let pmm: UInt64
        let commandClass: ResponseTime.CommandClass
        let units: Int
        let milliseconds: Double

        init(_ pmm: UInt64, _ commandClass: ResponseTime.CommandClass, _ units: Int, _ milliseconds: Double) {
            self.pmm = pmm
            self.commandClass = commandClass
            self.units = units
            self.milliseconds = milliseconds
        }
    }

    /// Worked maxima of cards whose PMm is published (proxmark3#442 and #2946, felica-tool, nfcpy, flipperzero#3871);
    /// the last digit is rounded.
    static let maxima: [Maximum] = [
        .init(0x100B_4B42_8485_D0FF, .variable, 1, 7.25), .init(0x100B_4B42_8485_D0FF, .variable, 32, 82.2),
        .init(0x100B_4B42_8485_D0FF, .fixed, 0, 3.62), .init(0x100B_4B42_8485_D0FF, .read, 1, 33.8),
        .init(0x100B_4B42_8485_D0FF, .read, 4, 48.3), .init(0x100B_4B42_8485_D0FF, .read, 12, 87.0),
        .init(0x100B_4B42_8485_D0FF, .read, 15, 101), .init(0x100B_4B42_8485_D0FF, .write, 1, 77.3),
        .init(0x0531_4345_4682_B7FF, .variable, 1, 6.0), .init(0x0531_4345_4682_B7FF, .variable, 32, 43.5),
        .init(0x0531_4345_4682_B7FF, .fixed, 0, 7.25), .init(0x0531_4345_4682_B7FF, .read, 1, 19.3),
        .init(0x0531_4345_4682_B7FF, .read, 4, 33.8), .init(0x0531_4345_4682_B7FF, .read, 12, 72.5),
        .init(0x0531_4345_4682_B7FF, .read, 15, 87.0), .init(0x0531_4345_4682_B7FF, .write, 1, 72.5),
        .init(0x0120_2204_2767_4EFF, .variable, 1, 2.4), .init(0x0120_2204_2767_4EFF, .variable, 32, 49.2),
        .init(0x0120_2204_2767_4EFF, .fixed, 0, 2), .init(0x0120_2204_2767_4EFF, .read, 1, 15.7),
        .init(0x0120_2204_2767_4EFF, .read, 4, 33.8), .init(0x0120_2204_2767_4EFF, .read, 12, 82.2),
        .init(0x0120_2204_2767_4EFF, .write, 1, 10.9),
        .init(0x0F0D_2304_2F77_83FF, .variable, 1, 2.72), .init(0x0F0D_2304_2F77_83FF, .variable, 32, 49.5),
        .init(0x0F0D_2304_2F77_83FF, .fixed, 0, 2), .init(0x0F0D_2304_2F77_83FF, .read, 1, 18.1),
        .init(0x0F0D_2304_2F77_83FF, .read, 4, 43.5), .init(0x0F0D_2304_2F77_83FF, .read, 12, 111),
        .init(0x0F0D_2304_2F77_83FF, .read, 15, 137), .init(0x0F0D_2304_2F77_83FF, .write, 1, 24.2),
        .init(0x0335_0B82_8244_83FF, .variable, 32, 20.5), .init(0x0335_0B82_8244_83FF, .fixed, 0, 14.5),
        .init(0x0335_0B82_8244_83FF, .read, 4, 10.9), .init(0x0335_0B82_8244_83FF, .read, 15, 24.2),
        .init(0x0118_8B86_8FBE_CBFF, .variable, 32, 329), .init(0x0118_8B86_8FBE_CBFF, .fixed, 0, 33.8),
        .init(0x0118_8B86_8FBE_CBFF, .read, 1, 72.5), .init(0x0118_8B86_8FBE_CBFF, .read, 4, 188),
        .init(0x0118_8B86_8FBE_CBFF, .read, 12, 498), .init(0x0118_8B86_8FBE_CBFF, .read, 15, 614),
        .init(0x0118_8B86_8FBE_CBFF, .write, 1, 116),
        .init(0x00F1_0000_0001_4300, .variable, 1, 0.6), .init(0x00F1_0000_0001_4300, .variable, 32, 10.0),
        .init(0x00F1_0000_0001_4300, .fixed, 0, 2), .init(0x00F1_0000_0001_4300, .read, 1, 0.9),
        .init(0x00F1_0000_0001_4300, .read, 4, 1.8), .init(0x00F1_0000_0001_4300, .write, 1, 6.0),
    ]

    @Test(arguments: maxima) func workedMaxima(_ row: Maximum) {
        let times = ResponseTime(PMm(rawValue: row.pmm))
        let milliseconds = times.maximum(row.commandClass, units: row.units) / .milliseconds(1)
        #expect(abs(milliseconds - row.milliseconds) < max(row.milliseconds * 0.005, 0.06))
    }

    @Test func noNumberOfUnitsOverflows() {
        let times = ResponseTime(PMm(rawValue: .max))
        #expect(times.maximum(.read, units: .max) == times.maximum(.read, units: 255))
        #expect(times.maximum(.read, units: .min) == times.maximum(.read, units: 0))
        #expect(times.maximum(.read, units: 254) < times.maximum(.read, units: 255))
        #expect(times.maximum(.read) == times.maximum(.read, units: 0))
    }

    /// T is 302,064.896… ns, and 339 times T a whole number of them.
    @Test func timesAreRoundedUpToNanoseconds() {
        #expect(ResponseTime(PMm(rawValue: 0)).maximum(.variable) == .nanoseconds(302_065))
        #expect(ResponseTime(PMm(rawValue: 0x0C_0000)).maximum(.read, units: 167) == .nanoseconds(102_400_000))
    }

    @Test func usesTheTimeoutClassOfEachCommand() throws {
        let times = ResponseTime(PMm(rawValue: 0x0118_8B86_8FBE_CBFF))
        let nodes = [NodeCode](repeating: .system, count: 16)
        let service = [ServiceCode(rawValue: 0x000B)]
        let blocks = BlockList(numbers: 0..<12)
        #expect(RequestService(nodes).maximumTime(times) == times.maximum(.variable, units: 16))
        #expect(RequestServiceV2(nodes).maximumTime(times) == times.maximum(.variable, units: 16))
        #expect(RequestBlockInformation(nodes).maximumTime(times) == times.maximum(.variable, units: 16))
        #expect(RequestBlockInformationEx(nodes).maximumTime(times) == times.maximum(.variable, units: 16))
        #expect(RequestCodeList(parent: .system, index: 1).maximumTime(times) == times.maximum(.variable, units: 32))
        #expect(Echo([UInt8](repeating: 0, count: 17)).maximumTime(times) == times.maximum(.variable, units: 2))
        #expect(Echo([UInt8](repeating: 0, count: 16)).maximumTime(times) == times.maximum(.variable, units: 1))
        #expect(RequestResponse().maximumTime(times) == times.maximum(.fixed, units: 1))
        #expect(SearchServiceCode(index: 0).maximumTime(times) == times.maximum(.fixed))
        #expect(RequestSystemCode().maximumTime(times) == times.maximum(.fixed))
        #expect(GetAreaInformation(.root).maximumTime(times) == times.maximum(.fixed))
        #expect(GetSystemStatus().maximumTime(times) == times.maximum(.fixed))
        #expect(ResetMode().maximumTime(times) == times.maximum(.fixed))
        #expect(RequestSpecificationVersion().maximumTime(times) == times.maximum(.fixed))
        #expect(GetContainerIssueInformation().maximumTime(times) == times.maximum(.other))
        #expect(RequestProductInformation().maximumTime(times) == times.maximum(.other))
        let read = ReadWithoutEncryption(services: service, blocks: blocks)
        #expect(read.maximumTime(times) == times.maximum(.read, units: 12))
        let write = WriteWithoutEncryption(services: service, blocks: blocks, data: [])
        #expect(write.maximumTime(times) == times.maximum(.write, units: 12))
    }
}
