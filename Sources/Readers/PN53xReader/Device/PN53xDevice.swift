// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import ReaderCore
internal import SystemDevices

/// A reader with a PN53x, opened by ``LibNFCDriver``, ``PN532Driver`` or ``ACR122Driver``.
///
/// Every exchange is one host command (InCommunicateThru), whose answer begins with the chip's status byte: that
/// distinguishes a card that does not answer from a damaged answer, which libnfc's own calls do not.
/// `nfc_initiator_init` is not called: it costs five commands, and the chip switches the field on at the first Polling.
///
/// After a time-out of the reader, or an answer that was not a frame, the reader is asked for its firmware version
/// until it gives that and nothing else; only then is it used again, so no late answer is taken for another command's.
/// A reader that does not come back cannot be used any more.
///
/// Facts: libnfc 1.8.0 (`libnfc/chips/pn53x.c`, `libnfc/drivers/pn532_uart.c`), run against a simulated chip.
package final class PN53xDevice: FollowedSearch, LongJobReader {
    /// The reader's properties, known without a card.
    package let information: ReaderInformation

    private let family: ReaderFamily
    private let cancellation: CancellationToken
    private let link: ExclusiveLink<Chipset>

    /// - Parameter id: the ID that opens the reader again.
    init(_ chipset: consuming Chipset, id: String, cancellation: CancellationToken) {
        family = chipset.family
        self.cancellation = cancellation
        var information = ReaderInformation(
            id: id, name: chipset.transport.name, longestFeliCaAnswer: family.longestFeliCaAnswer,
            technologies: [.felica, .typeA, .typeB], longestCommandAPDU: family.longestCommandAPDU,
            longestResponseAPDU: family.longestResponseAPDU)
        // InListPassiveTarget reports a damaged answer, and a card that does not start, as no target.
        information.hearsFailures = false
        information.longestExtension = chipset.transport.longestExtension
        self.information = information
        let abort = chipset.transport.abort
        link = ExclusiveLink(chipset, cancellation, onCancel: abort)
    }

    deinit {
        close()
    }

    /// Looks once for a card and selects the one that answers.
    ///
    /// Before a search for type A or B after such a card was selected, the field is switched off for 6 ms. The PUPI of
    /// a card of type B, and the UID of a phone, change then.
    ///
    /// - Returns: the card, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed, was closed, or work was cancelled;
    ///   ``TransportError/corrupted(status:)`` when the answer is not from a card of this kind;
    ///   ``TransportError/heard(_:)`` when the chip refuses to look for this kind, twice, although its line was proved in
    ///   between.
    package func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try activate(request, isFollowed: false)
    }

    /// The same. A search for FeliCa that another one follows is not repeated when it switches the field on.
    package func activate(_ request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC? {
        for _ in 0..<2 {
            do throws(TransportError) {
                return try look(request, isFollowed)
            } catch {
                guard try link.run({ link in link.mayHaveRefused(with: error) }) else { throw error }
            }
        }
        throw .heard(.refused(request.technology))
    }

    private func look(_ request: ActivationRequest, _ isFollowed: Bool) throws(TransportError) -> PICC? {
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            try prepare()
            let polling = FeliCaPolling(system, requestCode: requestCode, timeSlots: timeSlots)
            return try link.run { link throws(TransportError) in
                link.iso14443.selection = .packets
                let answer = try link.poll(
                    ChipCommand.listFeliCa(polling, at: bitRate), isFollowed: isFollowed)
                return try polling.target(inList: answer, bitRate: bitRate).map { .felica($0) }
            }
        case .typeA(let isoDEP):
            try prepare()
            return try link.run { link throws(TransportError) in
                try link.selectTypeA(isoDEP: isoDEP).map { .typeA($0) }
            }
        case .typeB(let applicationFamily):
            try prepare()
            return try link.run { link throws(TransportError) in
                try link.selectTypeB(applicationFamily: applicationFamily).map { .typeB($0) }
            }
        }
    }

    /// Sends one frame to the selected card and returns its answer. For FeliCa it includes the LEN byte, with ISO-DEP
    /// it is an APDU, for other cards of type A it has no CRC, and a four-bit ACK or NAK is one byte.
    ///
    /// - Parameters:
    ///   - frame: at most 261 bytes, an APDU on a PN532 without libnfc 1,024; no more than 253 on an ACR122 unless it is an APDU.
    ///   - timeout: the longest time that the card may take; beyond 3276.8 ms the chip gives up anyway, unless the card
    ///     asks for more by ISO-DEP.
    /// - Throws: ``TransportError``; ``TransportError/corrupted(status:)`` with status 0 when the answer was garbled
    ///   between reader and computer and the reader works again. After any failure of an ISO-DEP exchange
    ///   ``TransportError/cardReleased`` until a card is activated again.
    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard !frame.isEmpty else { throw .unsupported(detail: .init(.emptyFrame)) }
        let selection = try link.run { link in link.iso14443.selection }
        guard selection != .none else { throw .cardReleased }
        let longest = selection == .apdus ? family.longestCommandAPDU : family.longestCommand - 1
        guard frame.count <= longest else { throw .frameTooLong(length: frame.count, limit: longest) }
        try prepare()
        let answer = try link.run { link throws(TransportError) in
            switch link.iso14443.selection {
            case .none: throw .cardReleased
            case .packets: try link.exchange(frame, within: timeout)
            case .commands: try link.exchangeCommand(frame, within: timeout)
            case .apdus: try link.exchangeAPDU(frame, within: timeout)
            }
        }
        // The one-byte length of an ACR122 silently truncates longer answers.
        if selection == .packets, let length = answer.first, Int(length) > family.longestFeliCaAnswer,
            answer.count != Int(length)
        {
            throw .answerTooLong
        }
        return answer
    }

    /// Asks a card in ISO-DEP by R(NAK) whether it is still there; `nil` for other cards.
    package func isCardPresent() throws(TransportError) -> Bool? {
        guard try link.run({ link in link.iso14443.selection }) == .apdus else { return nil }
        try prepare()
        return try link.run { link throws(TransportError) in try link.isISODEPCardPresent() }
    }

    /// Switches the field off for 50 ms; the next search switches it on.
    package func cyclePower() throws(TransportError) -> Bool {
        try prepare()
        try link.run { link throws(TransportError) in try link.switchFieldOff() }
        return true
    }

    /// Shows a signal: an ACR122U without libnfc has lights and a buzzer.
    package func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
        try cancellation.check()
        return try link.run { link throws(TransportError) in
            try link.onReader { transport throws(TransportError) in try transport.show(signal) }
        }
    }

    /// Keeps an ACR122U without libnfc from beeping; through libnfc it does not, since it does not poll by itself.
    package func silence() throws(TransportError) -> Bool {
        try cancellation.check()
        return try link.run { link throws(TransportError) in
            try link.onReader { transport throws(TransportError) in try transport.silence() }
        }
    }

    /// Raises a serial line before the next search.
    package func beginLongJob() {
        try? link.run { link in link.line.expectLongJob() }
    }

    /// Switches the field off and releases the device. Further calls do nothing.
    package func close() {
        if let link = link.take() { link.close() }
    }

    private func prepare() throws(TransportError) {
        try cancellation.check()
        try link.run { link throws(TransportError) in try link.prepare() }
    }
}
