// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import PCSCReader
import ReaderCore
import TestSupport
import Testing

/// A driver for pcscd that reports what libccid makes of the oddities of contactless readers: an imitation of the reader as
/// pcscd sees it, not of its USB messages.
private final class OddDriver {
    private let shim: DriverShim
    var path: String { shim.path }

    /// - Parameter quirk: one of those in the source.
    init(_ quirk: String) throws {
        shim = try DriverShim(Self.source)
        _ = try shim.folder.write([], as: quirk)
    }

    private static let source = """
        #include <dlfcn.h>
        #include <poll.h>
        #include <stddef.h>
        #include <unistd.h>
        typedef unsigned long number;
        typedef unsigned char byte;
        typedef struct { number protocol, length; } header;
        enum { POWER_DOWN = 501, NOT_SUPPORTED = 607, NO_POWER = 608, FAILED = 612, TIMED_OUT = 613, ABSENT = 616, GONE = 617 };
        #define HAS(quirk) (access(FOLDER "/" quirk, F_OK) == 0)
        static int power_ups, is_gone;
        static void *vpcd(const char *name) { return dlsym(dlopen(FOLDER "/libifdvpcd.so.0", RTLD_NOW), name); }

        long IFDHICCPresence(number lun) {
            if (is_gone) return GONE;
            long result = ((long (*)(number)) vpcd("IFDHICCPresence"))(lun);
            if (result == ABSENT && HAS("slow-status")) poll(NULL, 0, 700);
            return result;
        }
        long IFDHPowerICC(number lun, number action, byte *atr, number *length) {
            if (is_gone) return GONE;
            if (action != POWER_DOWN && power_ups++ == 0 && HAS("power-fails-once")) {
                *length = 0;
                return NO_POWER;
            }
            return ((long (*)(number, number, byte *, number *)) vpcd("IFDHPowerICC"))(lun, action, atr, length);
        }
        long IFDHSetProtocolParameters(number lun, number protocol, byte flags, byte p1, byte p2, byte p3) {
            if (protocol == 2 && HAS("t0")) return NOT_SUPPORTED;
            return ((long (*)(number, number, byte, byte, byte, byte)) vpcd("IFDHSetProtocolParameters"))(
                lun, protocol, flags, p1, p2, p3);
        }
        long IFDHTransmitToICC(number lun, header sent, byte *tx, number length, byte *rx, number *count, header *received) {
            if (is_gone) return GONE;
            if (HAS("aborted") && length > 1 && tx[1] == 0xB0) is_gone = 1;
            if (is_gone || (HAS("c3") && length > 100)) {
                *count = 0;
                return FAILED;
            }
            if (HAS("write-timeout") && length > 1 && tx[1] == 0xD6) {
                *count = 0;
                return TIMED_OUT;
            }
            return ((long (*)(number, header, byte *, number, byte *, number *, header *)) vpcd("IFDHTransmitToICC"))(
                lun, sent, tx, length, rx, count, received);
        }

        """
}

// Inside the other suite, because the place of pcscd's socket is one for the process.
extension PCSCServiceTests {
    /// Through libpcsclite, a real pcscd and a driver of ours: contactless readers with the oddities of `Docs/quirks.md`.
    @Suite("Oddities of PC/SC readers", .serialized, .enabled(if: CCompiler.path != nil, "needs a C compiler"))
    struct ReaderQuirkTests {
        private static let select: [UInt8] = [0x00, 0xA4, 0x00, 0x00]

        /// Identiv 3700 F without a card (LudovicRousseau/PCSC#94), and libacsccid beside libccid (acshk/acsccid#16).
        @Test(arguments: ["slow-status", "t0"]) func findsAndReadsACard(_ quirk: String) throws {
            let driver = try OddDriver(quirk)
            let bench = try PCSCBench(driver: driver.path)
            let reader = try bench.open()
            #expect(try reader.activate(.typeA()) == nil)
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid) { _ in [0x90, 0x00] }
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            #expect(try reader.transceive(Self.select, timeout: .seconds(5)) == [0x90, 0x00])
            _ = card
        }

        /// Identiv 3700 F (LudovicRousseau/PCSC#102): pcscd takes such a card for a mute one and does not try again.
        @Test func startsACardAgainThatGotNoPower() throws {
            let driver = try OddDriver("power-fails-once")
            let bench = try PCSCBench(driver: driver.path)
            let reader = try bench.open()
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid) { _ in [0x90, 0x00] }
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            #expect(try reader.transceive(Self.select, timeout: .seconds(5)) == [0x90, 0x00])
            _ = card
        }

        /// ACR1252U V107 with long APDUs (LudovicRousseau/PCSC#54), OMNIKEY 5023 with writes (LudovicRousseau/CCID#101): the card's
        /// exchange failed, and the reader works.
        @Test(arguments: ["c3", "write-timeout"]) func losesOneExchange(_ quirk: String) throws {
            let driver = try OddDriver(quirk)
            let bench = try PCSCBench(driver: driver.path)
            let reader = try bench.open()
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid) { _ in [0x90, 0x00] }
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            let write = [0x00, 0xD6, 0x00, 0x00, 0xC8] + [UInt8](repeating: 0x55, count: 200)
            #expect(throws: TransportError.noAnswer) { try reader.transceive(write, timeout: .seconds(5)) }
            #expect(throws: TransportError.cardReleased) { try reader.transceive(Self.select, timeout: .seconds(5)) }
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            #expect(try reader.transceive(Self.select, timeout: .seconds(5)) == [0x90, 0x00])
            _ = card
        }

        /// Identiv 3700 F (LudovicRousseau/CCID#120): first the exchange fails, then the reader.
        @Test func reportsAReaderThatIsGone() throws {
            let driver = try OddDriver("aborted")
            let bench = try PCSCBench(driver: driver.path)
            let reader = try bench.open()
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid) { _ in [0x90, 0x00] }
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            #expect(throws: TransportError.self) {
                try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x00], timeout: .seconds(5))
            }
            let error = #expect(throws: TransportError.self) {
                while true {
                    _ = try reader.activate(.typeA())
                    _ = try reader.waitForEvent(within: .seconds(20))
                }
            }
            #expect(error?.isReaderError == true)
            _ = card
        }

        /// ACR1252U, ACR1255, ACR1552 (pokusew/nfc-pcsc#56): the second slot has a SAM, which is no contactless card.
        @Test func aSAMInTheSecondSlot() throws {
            let bench = try PCSCBench(name: "ACS ACR1252 1S CL Reader")
            let sam = try VPCDCard(
                port: bench.service.port + 1, atr: try Hex.decode("3B951381018073FF01000B"),
                answer: { _ in [0x6D, 0x00] })
            let second = try #require(
                try bench.driver.open("pcsc:\(bench.service.readers[1])", cancellation: bench.cancellation))
            #expect(throws: TransportError.unsupported(detail: .init(.contactCard))) {
                try bench.wait(for: .typeA(), on: second)
            }
            second.close()
            let reader = try bench.open()
            let card = try bench.insert(PCSCServiceTests.desfire, uid: PCSCServiceTests.uid) { _ in [0x90, 0x00] }
            #expect(try bench.wait(for: .typeA(), on: reader) != nil)
            _ = (card, sam)
        }

        /// OMNIKEY 5427 CK (LudovicRousseau/PCSC#82): an ATR identifies nobody, and a reader that has no UID gives none.
        @Test func oneATRForEveryCard() throws {
            let bench = try PCSCBench()
            let reader = try bench.open()
            for uid in [PCSCServiceTests.uid, [0x04, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06], nil] {
                let card = try bench.insert(PCSCServiceTests.desfire, uid: uid)
                guard case .typeA(let target)? = try bench.wait(for: .typeA(), on: reader) else {
                    Issue.record("no card")
                    return
                }
                #expect(target.uid == uid ?? [])
                card.takeOut()
                try bench.service.waitForRemoval()
                while try reader.activate(.typeA()) != nil { _ = try reader.waitForEvent(within: .seconds(20)) }
            }
        }
    }
}
