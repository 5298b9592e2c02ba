// SPDX-License-Identifier: Apache-2.0

internal import CardModel
public import NFCTransport

/// A reader that libnfc drives, opened by ``LibNFCDriver``.
///
/// Every exchange is one host command (InCommunicateThru), whose answer begins with the chip's status byte: that
/// tells a silent card from a damaged answer, which libnfc's own calls do not. `nfc_initiator_init` is not called: it
/// costs five commands, and the chip switches the field on at the first Polling.
///
/// After a time-out of the reader, or an answer that was no frame, the reader is asked for its firmware version until
/// it gives that and nothing else; only then is it used again, so no late answer is taken for another command's. A
/// reader that does not come back is closed for further use.
///
/// Facts: libnfc 1.8.0 (`libnfc/chips/pn53x.c`, `libnfc/drivers/pn532_uart.c`), run against a simulated chip.
public final class LibNFCReader: Reader {
    /// What is known of the reader without a card.
    public let information: ReaderInformation

    private let family: LibNFCFamily
    private let cancellation: CancellationToken
    private var link: ChipLink?
    private var cancellationHandler: Int?

    init(_ link: consuming ChipLink, for connectionString: ConnectionString, cancellation: CancellationToken) {
        family = connectionString.family
        self.cancellation = cancellation
        information = ReaderInformation(
            id: connectionString.text, name: link.name, longestFeliCaAnswer: family.longestFeliCaAnswer)
        let handle = link.handle
        self.link = consume link
        cancellationHandler = cancellation.onCancel { handle.abort() }
    }

    deinit {
        close()
    }

    /// The longest frame that can be sent to a card, in bytes.
    private var longestFrame: Int { family.longestCommand - 1 }

    /// Polls once and selects the card that answers.
    ///
    /// - Returns: the card, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed, was closed, or work was cancelled;
    ///   ``TransportError/corrupted(status:)`` when what answered is no FeliCa card.
    public func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            try prepare()
            let command = ChipCommand.listFeliCa(
                system, requestCode: requestCode, timeSlots: timeSlots, bitRate: bitRate)
            let answer = try run { link throws(TransportError) in try link.poll(command) }
            return try FeliCaTargetAnswer.parse(answer, bitRate: bitRate).map { .felica($0) }
        case .typeA, .typeB: throw .unsupported(detail: "cards of type A and B")
        }
    }

    /// Sends one frame to the selected card and returns its answer, LEN byte included.
    ///
    /// - Parameters:
    ///   - frame: at most 261 bytes, 253 on an ACR122.
    ///   - timeout: the longest time that the card may take; beyond 3276.8 ms the chip gives up all the same.
    /// - Throws: ``TransportError``; ``TransportError/corrupted(status:)`` with status 0 when the answer was garbled
    ///   between reader and computer and the reader is well again.
    public func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard frame.count <= longestFrame else {
            throw .frameTooLong(length: frame.count, limit: longestFrame)
        }
        guard !frame.isEmpty else { throw .unsupported(detail: "an empty frame cannot be sent") }
        try prepare()
        let answer = try run { link throws(TransportError) in try link.exchange(frame, within: timeout) }
        // The one-byte length of an ACR122 cuts longer answers without a word.
        if let length = answer.first, Int(length) > family.longestFeliCaAnswer, answer.count != Int(length) {
            throw .answerTooLong
        }
        return answer
    }

    /// Switches the field off and gives the device back. Further calls do nothing.
    public func close() {
        guard let link = link.take() else { return }
        if let cancellationHandler { cancellation.remove(cancellationHandler) }
        link.close()
    }

    private func prepare() throws(TransportError) {
        try cancellation.check()
        try run { link throws(TransportError) in try link.prepare() }
    }

    /// Does something with the link, if there is one; what fails after a cancellation was cancelled.
    private func run<Result>(
        _ body: (inout ChipLink) throws(TransportError) -> Result
    ) throws(TransportError) -> Result {
        guard var link = link.take() else {
            throw .readerUnavailable(reason: .absent, detail: "the reader was closed")
        }
        do throws(TransportError) {
            let result = try body(&link)
            self.link = consume link
            return result
        } catch {
            self.link = consume link
            try cancellation.check()
            throw error
        }
    }
}
