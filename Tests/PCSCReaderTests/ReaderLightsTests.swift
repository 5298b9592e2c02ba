// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Glibc
import ReaderCore
import TestSupport
import Testing

@testable import PCSCReader

@Suite("Lights of PC/SC readers")
struct LightCommandTests {
    static let acr1252 = "ACS ACR1252 1S CL Reader [ACR1252 Dual Reader PICC] 00 00"

    static let bytes: [(String, ReaderSignal, [String])] = [
        (acr1252, .yes, ["E00000290102", "E0000028010A"]), (acr1252, .no, ["E00000290101", "E0000028011E"]),
        (acr1252, .fault, ["E00000290103", "E0000028013C"]), (acr1252, .off, ["E00000290100"]),
        ("ACS ACR1255U-J1 00 00", .yes, ["E00000290101", "E0000028010A"]),
        ("ACS ACR1255U-J1 00 00", .no, ["E00000290102", "E0000028011E"]),
        ("ACS ACR1552 1S CL Reader PICC 00 00", .yes, ["E00000290102", "E0000028010A"]),
        ("ACS ACR122U PICC Interface 00 00", .yes, ["FF00400E0400000000", "FF00400E0401000101"]),
        ("ACS ACR122U PICC Interface 00 00", .no, ["FF00400D0400000000", "FF00400D0401010301"]),
        ("ACS ACR122U PICC Interface 00 00", .fault, ["FF00400F0400000000", "FF00400F0406000101"]),
        ("ACS ACR122U PICC Interface 00 00", .off, ["FF00400C0400000000"]),
    ]

    @Test(arguments: bytes) func commands(_ reader: String, _ signal: ReaderSignal, _ expected: [String]) throws {
        let lights = try #require(LightCommands(reader: reader))
        #expect(lights.commands(for: signal).map { Hex.encode($0, uppercase: true) } == expected)
    }

    @Test(arguments: [
        "Kazasu Test 00 00", "SONY FeliCa RC-S300/S 00 00", "ACS ACR1281 1S Dual Reader PICC 00 00",
        "ACS ACR1251 CL Reader 00 00", "ACS ACR1222 3S PICC Reader 00 00", "HID Global OMNIKEY 5427 CK 00 00", "",
    ])
    func readersWithoutKnownLights(_ reader: String) {
        #expect(LightCommands(reader: reader) == nil)
    }

    /// What 90 is followed by is the state of the lights: 907F came from a real reader (nfcpy issue 200).
    @Test func answers() throws {
        let family = LightCommands.pseudoAPDU
        #expect([[0x90, 0x00], [0x90, 0x02], [0x90, 0x7F]].allSatisfy(family.isDone))
        #expect(![[], [0x90], [0x63, 0x00], [0x90, 0x00, 0x00]].contains(where: family.isDone))
        let escape = LightCommands.escape(green: 2, red: 1)
        #expect(escape.isDone([0xE1, 0x00, 0x00, 0x00, 0x01, 0x02]))
        #expect(![[], [0xE1], [0x90, 0x00], [0xE1, 0x00, 0x00, 0x01, 0x00]].contains(where: escape.isDone))
    }

    @Test(
        arguments: [
            ("", nil), ("13", nil), ("1304", nil), ("1304420000", nil), ("130442000001", 0x4200_0001),
            ("120442000012130442000001", 0x4200_0001), ("1200130442000DAC", 0x4200_0DAC), ("13020001", nil),
            ("1204420000", nil), ("12FF130442000001", nil),
        ] as [(String, UInt32?)])
    func features(_ list: String, _ code: UInt32?) throws {
        #expect(DriverFeatures.escapeCode(in: try Hex.decode(list)) == code)
    }
}

/// A driver for pcscd that is vpcd's, and has lights and a buzzer besides.
private final class LitDriver {
    private let shim: DriverShim
    private var folder: TemporaryFolder { shim.folder }
    var path: String { shim.path }

    init() throws { shim = try DriverShim(Self.source) }

    /// Makes the driver refuse escape commands, as libccid does by its settings; or claim that it takes them, and refuse.
    func refuse(_ how: String) throws { _ = try folder.write([], as: how) }

    /// What reached the reader, in hexadecimal digits.
    func orders() throws -> [String] {
        guard folder.names.contains("log") else { return [] }
        return String(decoding: try TestFiles.read("\(folder.path)/log"), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    private static let source = """
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        enum { SUCCESS = 0, FAILURE = 612 };
        long IFDHControl(unsigned long lun, unsigned long code, unsigned char *in, unsigned long length,
                         unsigned char *out, unsigned long room, unsigned long *count) {
            static const unsigned char features[] = {0x12, 4, 0x42, 0, 0, 0x12, 0x13, 4, 0x42, 0, 0, 1};
            *count = 0;
            if (code == 0x42000D48) {
                if (access(FOLDER "/unlisted", F_OK) == 0 || room < sizeof features) return SUCCESS;
                memcpy(out, features, *count = sizeof features);
                return SUCCESS;
            }
            if (code != 0x42000001 || access(FOLDER "/refused", F_OK) == 0 || room < 6) return FAILURE;
            FILE *log = fopen(FOLDER "/log", "a");
            if (log == NULL) return FAILURE;
            for (unsigned long i = 0; i < length; i++) fprintf(log, "%02X", in[i]);
            fprintf(log, "\\n");
            fclose(log);
            if (length == 6 && memcmp(in, "\\xE0\\0\\0\\x29\\1", 5) == 0) {
                memcpy(out, "\\xE1\\0\\0\\0\\1", 5);
                out[5] = in[5];
                *count = 6;
            } else if (length == 6 && memcmp(in, "\\xE0\\0\\0\\x28\\1", 5) == 0) {
                memcpy(out, "\\xE1\\0\\0\\0\\1\\0", *count = 6);
            } else if (length == 9 && memcmp(in, "\\xFF\\0\\x40", 3) == 0) {
                out[0] = 0x90;
                out[1] = in[3] & 3;
                *count = 2;
            } else if (length == 5 && memcmp(in, "\\xFF\\0\\x52\\0\\0", 5) == 0) {
                memcpy(out, "\\x90\\0", *count = 2);
            } else {
                memcpy(out, "\\x6D\\0", *count = 2);
            }
            return SUCCESS;
        }

        """
}

// Inside the other suite, because the place of pcscd's socket is one for the process.
extension PCSCServiceTests {
    /// Through libpcsclite, a real pcscd and a driver of ours: a reader's lights without a card, with one, and after it.
    @Suite("Lights through pcscd", .serialized, .enabled(if: CCompiler.path != nil, "needs a C compiler"))
    struct ServiceLightsTests {
        private static let acr1252 = "ACS ACR1252 1S CL Reader"
        private static let acr122 = "ACS ACR122U PICC Interface"

        @Test func withoutACardAndWithOne() throws {
            let driver = try LitDriver()
            let bench = try PCSCBench(name: Self.acr1252, driver: driver.path)
            let reader = try bench.open()
            #expect(try reader.show(.yes))
            #expect(try driver.orders() == ["E00000290102", "E0000028010A"])
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid)
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            let sent = card.commands.count
            #expect(try reader.show(.off))
            #expect(try reader.show(.no))
            #expect(try driver.orders().dropFirst(2) == ["E00000290100", "E00000290101", "E0000028011E"])
            // The card is as it was.
            #expect(card.commands.count == sent)
            #expect(try reader.isCardPresent() == true)
            _ = try reader.transceive([0x00, 0xA4, 0x00, 0x00], timeout: .seconds(5))
            card.takeOut()
            try bench.service.waitForRemoval()
            #expect(try reader.show(.fault))
            #expect(try driver.orders().suffix(2) == ["E00000290103", "E0000028013C"])
            // Its beeping is a setting that outlasts programs.
            #expect(try !reader.silence())
            #expect(try driver.orders().count == 7)
            reader.close()
            #expect(throws: TransportError.self) { try reader.show(.yes) }
        }

        /// As libccid comes: it does not list the command, or refuses it.
        @Test(arguments: ["unlisted", "refused"]) func aDriverThatLetsNothingPass(_ how: String) throws {
            let driver = try LitDriver()
            try driver.refuse(how)
            let bench = try PCSCBench(name: Self.acr1252, driver: driver.path)
            let reader = try bench.open()
            #expect(try !reader.show(.yes))
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid)
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            #expect(try !reader.show(.no))
            #expect(try driver.orders() == [])
            _ = card
        }

        /// While a card is there, an ACR122U takes it as an APDU, which needs no setting.
        @Test func anACR122U() throws {
            let driver = try LitDriver()
            try driver.refuse("unlisted")
            let bench = try PCSCBench(name: Self.acr122, driver: driver.path)
            let reader = try bench.open()
            #expect(try !reader.show(.yes))
            #expect(try !reader.silence())
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid) { command in
                command.starts(with: [0xFF, 0x00, 0x40]) ? [0x90, command[3] & 3] : [0x90, 0x00]
            }
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            let sent = card.commands.count
            #expect(try reader.show(.no))
            #expect(
                card.commands.dropFirst(sent).map { Hex.encode($0, uppercase: true) }
                    == ["FF00400D0400000000", "FF00400D0401010301"])
            let resets = card.resets
            #expect(try reader.activate(.typeA()) != nil)
            #expect(card.resets == resets)
            #expect(try driver.orders() == [])
        }

        @Test func anACR122UWithoutACard() throws {
            let driver = try LitDriver()
            let bench = try PCSCBench(name: Self.acr122, driver: driver.path)
            let reader = try bench.open()
            #expect(try reader.show(.off))
            #expect(try reader.silence())
            #expect(try driver.orders() == ["FF00400C0400000000", "FF00520000"])
        }

        @Test func aReaderWithoutKnownLights() throws {
            let driver = try LitDriver()
            let bench = try PCSCBench(driver: driver.path)
            let reader = try bench.open()
            #expect(try !reader.show(.yes))
            #expect(try !reader.silence())
            #expect(try driver.orders() == [])
        }

        /// Somebody else has the card for himself.
        @Test func aReaderThatIsInUse() throws {
            let driver = try LitDriver()
            let bench = try PCSCBench(name: Self.acr1252, driver: driver.path)
            let (first, second) = (try bench.open(), try bench.open())
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid)
            #expect(try bench.wait(for: .typeA(), on: first) != nil)
            #expect(throws: TransportError.readerUnavailable(reason: .busy, detail: .init(.cardInUse))) {
                try second.show(.yes)
            }
            #expect(try first.show(.yes))
            _ = card
        }
    }
}
