// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ISODEP
internal import ReaderCore
internal import USBTransport

/// An RC-S380, RC-S300 or RC-S660/U, or one of the old RC-S320 and RC-S310.
///
/// The chip's settings are sent only when they change, so an exchange is one command: on an RC-S380 three USB
/// transfers, where nfcpy needs nine, on an RC-S300 two.
final class PaSoRiReader: Reader {
    let information: ReaderInformation
    private let chipset: any PaSoRiChipset
    private let cancellation: CancellationToken
    private var card: Card?
    private var isClosed = false

    /// The most recently found card.
    private enum Card {
        case felica(FeliCaBitRate)
        case iso14443(PCD)
    }

    private init(
        _ chipset: any PaSoRiChipset, _ information: ReaderInformation, _ cancellation: CancellationToken,
        firmware: String?, feliCaBitRates: [FeliCaBitRate], technologies: [Technology] = [.felica, .typeA, .typeB]
    ) {
        self.chipset = chipset
        self.cancellation = cancellation
        var information = information
        information.technologies = technologies
        information.feliCaBitRates = feliCaBitRates
        information.longestExtension = ReaderInformation.longestCardExtension
        if let firmware { information.name += " (firmware \(firmware))" }
        self.information = information
    }

    deinit {
        close()
    }

    /// Looks once for a card.
    ///
    /// - Returns: the card, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed, was closed, or work was cancelled;
    ///   ``TransportError/corrupted(status:)`` when a card answered but could not be selected.
    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try check()
        return try cancellation.run { () throws(TransportError) -> PICC? in
            do throws(TransportError) {
                return try find(request)
            } catch .cardReleased {
                // An RC-S300 had ended the session; there is no card to lose yet.
                do throws(TransportError) {
                    return try find(request)
                } catch .cardReleased {
                    throw Port400Status.notAllowed
                }
            }
        }
    }

    private func find(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        guard information.technologies.contains(request.technology) else {
            throw .unsupported(detail: .init(.thisKindOfCard))
        }
        // A card left in ISO-DEP would not be found again.
        if case .iso14443(var pcd)? = card.take() { try pcd.release() }
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            let polling = FeliCaPolling(system, requestCode: requestCode, timeSlots: timeSlots)
            let target = try polling.look(at: bitRate) { frame, time throws(TransportError) in
                try chipset.exchange(felica: frame, at: bitRate, within: time)
            }
            if target != nil { card = .felica(bitRate) }
            return target.map { .felica($0) }
        case .typeA, .typeB:
            var pcd = PCD(chipset)
            let found = try pcd.activate(request)
            if found != nil { card = .iso14443(pcd) }
            return found
        }
    }

    /// Sends one frame to the most recently found card.
    ///
    /// - Parameters:
    ///   - frame: a FeliCa packet, or a frame as described in ``PICC/isISODEP``.
    ///   - timeout: the longest time that the card may take; on an RC-S380 one frame waits 6.5 s at most.
    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard !frame.isEmpty else { throw .unsupported(detail: .init(.emptyFrame)) }
        try check()
        return try cancellation.run { () throws(TransportError) -> [UInt8] in
            switch card {
            case nil: throw .cardReleased
            case .iso14443(var pcd):
                defer { card = .iso14443(pcd) }
                return try pcd.transceive(frame, timeout: timeout)
            case .felica(let bitRate):
                let longest = chipset.longestRawFrame
                guard frame.count <= longest else { throw .frameTooLong(length: frame.count, limit: longest) }
                return try chipset.exchange(felica: frame, at: bitRate, within: timeout)
            }
        }
    }

    func isCardPresent() throws(TransportError) -> Bool? {
        try check()
        guard case .iso14443(var pcd)? = card else { return nil }
        defer { card = .iso14443(pcd) }
        return try cancellation.run { () throws(TransportError) -> Bool? in try pcd.isPresent() }
    }

    func cyclePower() throws(TransportError) -> Bool {
        try check()
        card = nil
        return try cancellation.run { () throws(TransportError) -> Bool in
            try chipset.resetField()
            // On an RC-S380, the field stays off until the next frame.
            try chipset.wait(Self.powerLoss)
            return true
        }
    }

    /// The time without a field after which any card has lost its power.
    private static let powerLoss = Duration.milliseconds(50)

    func close() {
        guard !isClosed else { return }
        isClosed = true
        chipset.close()
    }

    private func check() throws(TransportError) {
        if isClosed { throw .closed }
        try cancellation.check()
    }
}

/// A PaSoRi's chip: carries frames of ISO 14443 for ``ISODEP/PCD``, and FeliCa packets.
protocol PaSoRiChipset: RawFrameChannel {
    /// Sends a FeliCa packet and returns the answer.
    func exchange(
        felica frame: [UInt8], at bitRate: FeliCaBitRate, within time: Duration
    ) throws(TransportError) -> [UInt8]

    /// Switches the field off and releases the device.
    func close()
}

extension PaSoRiReader {
    /// Brings an RC-S380 to a known state: leftovers of an earlier program are discarded, and the field is off.
    convenience init(
        rcs380 usb: any USBLink, _ information: ReaderInformation, _ cancellation: CancellationToken
    ) throws(TransportError) {
        let transport = Port100Transport(usb, Port100Framing())
        try transport.synchronize()
        let chipset = Port100Chipset(transport)
        let version = try chipset.firmwareVersion()
        try chipset.switchOff()
        var information = information
        // An APDU that exceeds one ISO-DEP block is chained.
        information.longestCommandAPDU = 65_544
        information.longestResponseAPDU = 65_538
        // The faster first: it halves the transmission time, and cards that do not support it (Octopus) are found at the
        // other.
        self.init(
            chipset, information, cancellation, firmware: Self.text(ofPort100Version: version),
            feliCaBitRates: [.kbps424, .kbps212])
    }

    /// `11 01` is 1.11.
    private static func text(ofPort100Version bytes: [UInt8]) -> String? {
        guard bytes.count == 2, let low = bytes.first, let high = bytes.last else { return nil }
        return "\(String(high, radix: 16)).\(low < 0x10 ? "0" : "")\(String(low, radix: 16))"
    }

    /// Brings an RC-S300 or RC-S660/U to a known state: an earlier program's leftovers are discarded, a session begins.
    /// It uses the vendor's own interface, so pcscd can keep the chip card one.
    convenience init(
        rcs300 usb: any USBLink, _ information: ReaderInformation, _ cancellation: CancellationToken,
        pause: @escaping Port400Framing.Pause = ThreadPause.sleep
    ) throws(TransportError) {
        let transport = Port400Transport(usb, Port400Framing(pause: pause))
        try transport.synchronize()
        let version = try transport.run(Port400Command.firmwareVersion)
        let chipset = Port400Chipset(transport, pause: pause)
        try chipset.beginSession()
        // No source shows an RC-S300 at another speed; a request for 424 kbit/s succeeds where the reader supports it.
        self.init(
            chipset, information, cancellation, firmware: Self.text(ofPort400Version: version),
            feliCaBitRates: [.kbps212]
        )
    }

    /// Brings an RC-S320 or RC-S310 to a known state: an earlier program's leftovers are discarded, the field is on.
    convenience init(
        rcs320 usb: any USBLink, _ information: ReaderInformation, _ cancellation: CancellationToken, isRCS310: Bool,
        pause: @escaping (Duration) -> Void = ThreadPause.sleep
    ) throws(TransportError) {
        let transport = RCS320Transport(usb, RCS320Framing())
        try transport.synchronize()
        let chipset = try RCS320Chipset(transport, isRCS310: isRCS310, pause: pause)
        let version = try chipset.firmwareVersion()
        var information = information
        // A frame has 248 bytes of data: 14 blocks.
        information.longestFeliCaAnswer = 237
        // No source shows what these readers report of damaged answers.
        information.hearsFailures = false
        // As with the RC-S380: low byte first.
        self.init(
            chipset, information, cancellation, firmware: version.flatMap(Self.text(ofPort100Version:)),
            feliCaBitRates: [.kbps212], technologies: [.felica])
    }

    /// The third and fourth of 18 bytes: 1.00 is `00 00 01 00 …`, which the CCID interface of the same reader calls
    /// 1.00, too.
    private static func text(ofPort400Version bytes: [UInt8]) -> String? {
        guard bytes.count >= 6 else { return nil }
        return "\(bytes[2]).\(bytes[3] < 10 ? "0" : "")\(bytes[3])"
    }
}
