// SPDX-License-Identifier: Apache-2.0

import SystemDevices
import TestSupport
import Testing

@testable import PN53xReader

/// When a line is raised, and which lines never are.
@Suite(.waits)
struct LinePolicyTests {
    @Test func raisesTheSpeedAfterSoManyExchanges() {
        var policy = LinePolicy(mayRaise: true)
        for _ in 0..<LinePolicy.exchangesBefore {
            #expect(!policy.isDue)
            policy.didExchange()
        }
        #expect(policy.isDue)
        #expect(!policy.mayBeFast)
        policy.begin()
        #expect(policy.mayBeFast && !policy.isDue)
        policy.didRaise()
        #expect(policy.mayBeFast && !policy.isDue)
        policy.settle()
        for _ in 0..<100 { policy.didExchange() }
        #expect(!policy.mayBeFast && !policy.isDue)
    }

    @Test func longJobsRaiseTheSpeedAtOnce() {
        var policy = LinePolicy(mayRaise: true)
        policy.expectLongJob()
        #expect(policy.isDue)
        policy.didRaise()
        policy.expectLongJob()
        #expect(policy.mayBeFast && !policy.isDue)
    }

    @Test func neverRaisesTheSpeedWithoutPermission() {
        var policy = LinePolicy(mayRaise: false)
        policy.expectLongJob()
        for _ in 0..<100 { policy.didExchange() }
        #expect(!policy.isDue)
    }

    @Test func countsFaultsOfAFastLineOnly() {
        var policy = LinePolicy(mayRaise: true)
        let isTooMuchWhenSlow = policy.didMeetFault()
        #expect(!isTooMuchWhenSlow)
        policy.didRaise()
        let isTooMuch = (0..<4).map { _ in policy.didMeetFault() }
        #expect(isTooMuch == [false, false, true, true])
    }

    static let builtIn: [(String, Bool)] = [
        ("/dev/ttyS0", true), ("/dev/ttyAMA0", true), ("/dev/ttyAMA10", true), ("/dev/serial0", true),
        ("/dev/serial1", true), ("/dev/serial/by-id/usb-FTDI_x", false), ("/dev/ttyUSB0", false),
        ("/dev/ttyACM0", false), ("/dev/ttySomething", false), ("/dev/ttyS", false), ("/dev/pts/3", false), ("", false),
    ]

    @Test(arguments: builtIn) func recognizesTheOwnPortOfABoard(_ path: String, _ isBuiltIn: Bool) {
        #expect(LinePermission.isBuiltIn(path) == isBuiltIn)
    }

    static let permissions: [(String, String?, Bool)] = [
        ("pn532_uart:/dev/ttyUSB0", nil, true), ("pn532_uart:/dev/ttyUSB0", "", true),
        ("pn532_uart:/dev/ttyUSB0", "921600", true), ("pn532_uart:/dev/ttyUSB0", "115200", false),
        ("pn532_uart:/dev/ttyUSB0", "slow", false), ("pn532_uart:/dev/ttyUSB0:115200", nil, false),
        ("pn532_uart:/dev/ttyUSB0:115200", "921600", false), ("pn532_uart:/dev/ttyS0", nil, false),
        ("pn532_uart:/dev/serial0", "921600", false), ("arygon:/dev/ttyUSB0", nil, false),
        ("ACR122S:/dev/ttyUSB0", nil, false), ("pn532_spi:/dev/spidev0.0", nil, false), ("pn53x_usb", nil, false),
    ]

    @Test(arguments: permissions)
    func appliesToUSBAdaptersOnly(_ id: String, _ setting: String?, _ isGiven: Bool) throws {
        let connectionString = try #require(try ConnectionString(parsing: id))
        #expect(LinePermission.isGiven(for: connectionString, setting: setting) == isGiven)
    }

    /// The codes of SetSerialBaudRate, as nfcpy lists them.
    @Test func encodesSpeedsLikeTheChip() {
        for (code, speed) in [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600].enumerated() {
            #expect(LineSpeed(bitsPerSecond: speed)?.code == UInt8(code))
        }
        #expect(LineSpeed(bitsPerSecond: 1_288_000) == nil)
        #expect(SerialSpeeds.libnfc.allSatisfy { LineSpeed(bitsPerSecond: $0) != nil })
        #expect(ChipCommand.serialSpeed(.fast) == [0x10, 0x07])
        #expect(ChipCommand.serialSpeed(.normal) == [0x10, 0x04])
    }
}
