// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import SystemDevices
import TestSupport
import Testing

@testable import PN53xReader

/// Which IDs are libnfc's, and which of them libnfc may be given.
@Suite(.waits)
struct ConnectionStringTests {
    static let good: [(String, String, String?)] = [
        ("pn532_uart:/dev/ttyUSB0", "pn532_uart:/dev/ttyUSB0", "/dev/ttyUSB0"),
        ("pn532_uart:/dev/ttyUSB0:115200", "pn532_uart:/dev/ttyUSB0:115200", "/dev/ttyUSB0"),
        ("PN532_UART:/dev/pts/3", "pn532_uart:/dev/pts/3", "/dev/pts/3"),
        ("acr122s:/dev/ttyUSB1:9600", "ACR122S:/dev/ttyUSB1:9600", "/dev/ttyUSB1"),
        ("arygon:/dev/ttyS0", "arygon:/dev/ttyS0", "/dev/ttyS0"),
        ("pn532_spi:/dev/spidev0.0:500000", "pn532_spi:/dev/spidev0.0:500000", "/dev/spidev0.0"),
        ("pn532_i2c:/dev/i2c-1", "pn532_i2c:/dev/i2c-1", "/dev/i2c-1"),
        ("pn53x_usb", "pn53x_usb", nil),
        ("acr122_usb:003:005", "acr122_usb:003:005", nil),
        ("acr122_usb:3:5", "acr122_usb:003:005", nil),
        ("usb:001", "usb:001", nil), ("acr122_usb:port=1-1.3", "acr122_usb:port=1-1.3", nil),
        ("PN53X_USB:serial=A:B", "pn53x_usb:serial=A:B", nil),
        ("pcsc:ACS ACR122U 00 00", "pcsc:ACS ACR122U 00 00", nil),
    ]

    @Test(arguments: good) func libnfcGetsIt(_ id: String, _ text: String, _ path: String?) throws {
        let parsed = try #require(try ConnectionString(parsing: id))
        #expect(parsed.text == text)
        #expect(parsed.path == path)
    }

    @Test(arguments: [
        "", ":", "rcs380", "rcs300:serial=1", "virtual:card.json", "pn532", "pn532_uart2:/dev/ttyUSB0", "/dev/ttyUSB0",
        String(repeating: "x", count: 5000),
    ]) func anothersDriver(_ id: String) throws {
        #expect(try ConnectionString(parsing: id) == nil)
        #expect(try LibNFCDriver().open(id, cancellation: CancellationToken()) == nil)
    }

    static let malformed = [
        "pn532_uart", "pn532_uart:", "pn532_uart::115200", "pn532_uart:ttyUSB0", "pn532_uart:/dev/ttyUSB0:",
        "pn532_uart:/dev/ttyUSB0:fast", "pn532_uart:/dev/ttyUSB0:-9600", "pn532_uart:/dev/ttyUSB0:+9600",
        "pn532_uart:/dev/ttyUSB0:921600", "pn532_uart:/dev/ttyUSB0:99999999999999999999",
        "pn532_uart:/dev/ttyUSB0:115200:", "pn532_uart:/dev/tty\u{0}USB0", "pn532_i2c", "pn532_spi:/dev/spidev0.0:x",
        "acr122_usb:", "acr122_usb:003:", "acr122_usb:003:005:1", "acr122_usb:1000", "acr122_usb:0001",
        "acr122_usb:-1", "acr122_usb:a:b", "acr122_usb:port=", "acr122_usb:place=1-1", "acr122_usb:=",
        "pn532_uart:/" + String(repeating: "a", count: 1012), "pn532_uart:/" + String(repeating: "a", count: 100_000),
        "pcsc:" + String(repeating: "%s", count: 600),
    ]

    @Test(arguments: malformed) func rejectsBeforeLibnfc(_ id: String) {
        let error = #expect(throws: TransportError.self) {
            try LibNFCDriver().open(id, cancellation: CancellationToken())
        }
        guard case .readerUnavailable(.unsupported, let detail)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.code.rawValue.hasPrefix("connectionString") || detail.code == .unknownSelector)
    }

    /// As long as libnfc's buffer allows: a clean answer, with every kind of driver.
    @Test(arguments: ["pn532_uart:/", "pn532_i2c:/", "pcsc:%n%s", "pn71xx:", "acr122_pcsc:"])
    func survivesTheLongestString(_ start: String) throws {
        let id = start + String(repeating: "a", count: ConnectionString.longest - start.utf8.count)
        #expect(try ConnectionString(parsing: id)?.text.utf8.count == ConnectionString.longest)
        #expect(throws: TransportError.self) { try LibNFCDriver().open(id, cancellation: CancellationToken()) }
    }

    @Test(arguments: ["pcsc", "pcsc:ACS ACR122U 00 00", "pn71xx"])
    func rejectsDriversWithoutAPN53x(_ id: String) {
        let refused = TransportError.readerUnavailable(
            reason: .unsupported,
            detail: .init(.libnfcWithoutFeliCa, String(id.prefix { $0 != ":" })))
        #expect(throws: refused) { try LibNFCDriver().open(id, cancellation: CancellationToken()) }
    }

    @Test func everyDriverHasItsLimits() throws {
        for family in ReaderFamily.all {
            #expect(family.longestCommand <= LibNFCTransport.longestCommand)
            #expect((242...255).contains(family.longestFeliCaAnswer))
        }
        let acr122 = try #require(ReaderFamily.all.first { $0.name == "acr122_usb" })
        let information = ReaderInformation(id: "", name: "", longestFeliCaAnswer: acr122.longestFeliCaAnswer)
        #expect(information.blocksPerRead == 14)
    }
}
