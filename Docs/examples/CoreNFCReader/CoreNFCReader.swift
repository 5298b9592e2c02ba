// SPDX-License-Identifier: Apache-2.0

// The card of an app's Core NFC session as a reader: everything that Kazasu does with a card works on an iPhone, without a library in C.
// No iPhone was at hand: this is compiled against a stand-in of Core NFC's signatures, and has never met a card.
#if canImport(CoreNFC)
import CoreNFC
import Foundation
import KazasuReading

/// The reader of a card that a `NFCTagReaderSession` has connected to.
///
/// Its calls block, so they belong on a thread of their own, never on the session's queue: `AsyncCardReader.open(as:_:)` makes one.
///
/// ```swift
/// let reader = try await AsyncCardReader.open(as: "iPhone") { _ in CoreNFCReader(.feliCa(tag)) }
/// let card = try await reader.waitForCard(.purse)
/// print(try await card.balance())
/// ```
///
/// iOS lets an app select the systems that its Info.plist names, one after the other, and no others: a scan of all systems stays impossible.
public final class CoreNFCReader: Reader {
    /// The card.
    public enum Tag {
        case feliCa(any NFCFeliCaTag)
        case iso7816(any NFCISO7816Tag)
    }

    private let tag: Tag

    public init(_ tag: Tag) { self.tag = tag }

    public var information: ReaderInformation {
        ReaderInformation(
            id: "corenfc", name: "Core NFC", feliCaBitRates: [.kbps212],
            technologies: [.felica, .typeA])
    }

    public func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        switch (tag, request) {
        case (.feliCa(let tag), .felica(let system, _, _, let bitRate)):
            return try select(system, on: tag, bitRate)
        case (.iso7816(let tag), .typeA(isoDEP: true)):
            return .typeA(TypeATarget(uid: Array(tag.identifier), isISODEP: true))
        default:
            return nil
        }
    }

    /// Selects a system by Polling. Core NFC refuses a system that Info.plist does not name, and FFFF.
    private func select(
        _ system: SystemCode, on tag: any NFCFeliCaTag, _ bitRate: FeliCaBitRate
    ) throws(TransportError) -> PICC? {
        let code = system == .any ? tag.currentSystemCode : Data([UInt8(system.rawValue >> 8), UInt8(system.rawValue & 0xFF)])
        let answer = wait { (done: @escaping (Result<(Data, Data), any Error>) -> Void) in
            tag.polling(systemCode: code, requestCode: .systemCode, timeSlot: .max1) { pmm, data, error in
                done(error.map { .failure($0) } ?? .success((pmm, data)))
            }
        }
        guard case .success(let (pmm, data)) = answer, let idm = IDm(Hex.text(tag.currentIDm)), let pmm = PMm(Hex.text(pmm))
        else { return nil }
        let found = data.count == 2 ? data.reduce(UInt16(0)) { $0 << 8 | UInt16($1) } : nil
        return .felica(FeliCaTarget(idm: idm, pmm: pmm, requestData: found, bitRate: bitRate))
    }

    /// One frame to the card and its answer: a FeliCa packet with its LEN byte, or an APDU.
    public func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        switch tag {
        case .feliCa(let tag):
            // Core NFC puts the LEN byte before the command. Nothing says whether the answer has its own.
            let command = Data(frame.dropFirst())
            let answer = wait { done in
                tag.sendFeliCaCommand(commandPacket: command) { data, error in
                    done(error.map { .failure($0) } ?? .success(data))
                }
            }
            guard case .success(let data) = answer else { throw .noAnswer }
            let bytes = Array(data)
            let isWhole = bytes.count > 1 && Int(bytes[0]) == bytes.count && command.first.map { bytes[1] == $0 &+ 1 } == true
            return isWhole ? bytes : [UInt8(truncatingIfNeeded: bytes.count + 1)] + bytes
        case .iso7816(let tag):
            guard let apdu = NFCISO7816APDU(data: Data(frame)) else { throw .noAnswer }
            let answer = wait { done in
                tag.sendCommand(apdu: apdu) { data, first, second, error in
                    done(error.map { .failure($0) } ?? .success(Array(data) + [first, second]))
                }
            }
            guard case .success(let bytes) = answer else { throw .noAnswer }
            return bytes
        }
    }

    /// The session is the app's.
    public func close() {}

    /// Blocks until Core NFC calls back, which it does from its own queue.
    private func wait<Value>(_ begin: (@escaping (Result<Value, any Error>) -> Void) -> Void) -> Result<Value, any Error> {
        let box = Box<Result<Value, any Error>>()
        let called = DispatchSemaphore(value: 0)
        begin { result in
            box.value = result
            called.signal()
        }
        called.wait()
        return box.value ?? .failure(CancellationError())
    }

    private final class Box<Value> { var value: Value? }
}

private enum Hex {
    static func text(_ data: Data) -> String { data.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined() }
}
#endif
