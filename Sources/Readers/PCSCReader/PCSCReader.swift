// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
package import ReaderCore

/// A reader of the PC/SC service, opened by ``PCSCDriver``.
///
/// The reader looks for cards by itself and reports them by an ATR that it makes up: the kind of card is derived from
/// that, and from the UID that the reader reports. Exchanges have no time-out set here: the reader has its own.
///
/// After an exchange has failed, or when a card is activated again after it was sent something, the card is reset, so
/// it starts with its MF and without a verified PIN.
package final class PCSCReader: Reader {
    /// The reader's properties, known without a card.
    package let information: ReaderInformation

    private let name: String
    private let cancellation: CancellationToken
    private let link: ExclusiveLink<PCSCLink>

    init(_ context: consuming PCSCContext, name: String, cancellation: CancellationToken) {
        self.name = name
        self.cancellation = cancellation
        let longest = CardConnection.longestCommand(of: name, in: context).map { min(max($0, 261), 65_544) }
        let wrappings = FrameWrapping.ways(for: name, .felica)
        let wrapping = wrappings.contains(.session) ? .session : wrappings.first ?? .plain
        information = ReaderInformation(
            id: PCSCDriver.prefix + name, name: name, longestFeliCaAnswer: wrapping.longestAnswer,
            feliCaBitRates: [.kbps212], technologies: [.felica, .typeA, .typeB], longestCommandAPDU: longest ?? 261,
            longestResponseAPDU: max(longest ?? 258, 258))
        let handle = context.handle
        link = ExclusiveLink(PCSCLink(context, reader: name), cancellation) { PCSCContext.cancel(handle) }
    }

    deinit {
        close()
    }

    /// Returns the card that the reader has found when it is of this kind, and selects it.
    ///
    /// A FeliCa card is sent the Polling, where the reader forwards packets.
    ///
    /// - Returns: the card, or `nil` when there is none, or one of another kind.
    /// - Throws: ``TransportError``; ``TransportError/unsupported(detail:)`` for a card with contacts, and for FeliCa
    ///   when the reader does not forward packets.
    package func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try cancellation.check()
        return try link.run { link throws(TransportError) in try link.activate(request) }
    }

    /// Sends one frame to the card.
    ///
    /// - Parameters:
    ///   - frame: an APDU; a FeliCa packet with LEN byte; a command of a Type 2 Tag, READ and WRITE on every reader,
    ///     others where it forwards them.
    ///   - timeout: used in a transparent session only, since PC/SC has none.
    /// - Throws: ``TransportError``; after any failure ``TransportError/cardReleased`` until a card is activated again.
    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try cancellation.check()
        guard !frame.isEmpty else { throw .unsupported(detail: .init(.emptyFrame)) }
        guard frame.count <= information.longestCommandAPDU else {
            throw .frameTooLong(length: frame.count, limit: information.longestCommandAPDU)
        }
        return try link.run { link throws(TransportError) in try link.transceive(frame, within: timeout) }
    }

    /// Asks the service whether the card is still there; nothing is sent to it. `nil` for cards that the reader does not
    /// watch: FeliCa, and a tag in a transparent session.
    package func isCardPresent() throws(TransportError) -> Bool? {
        try cancellation.check()
        return try link.run { link throws(TransportError) in try link.isCardPresent() }
    }

    /// Waits until pcscd reports that a card arrived or left.
    package func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
        try cancellation.check()
        return try link.run { link throws(TransportError) in
            try link.waitForEvent(within: time)
            return true
        }
    }

    /// Sets lights and buzzer where their commands are known and pcscd lets them pass: always those of the ACR122 family while a
    /// card is there, else with `ifdDriverOptions` 0001 in the settings of the reader's driver.
    package func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
        try cancellation.check()
        return try link.run { link throws(TransportError) in try link.show(signal) }
    }

    /// Keeps readers of the ACR122 family quiet, where pcscd lets that pass. Others beep by settings that are not changed: they
    /// outlast the program.
    package func silence() throws(TransportError) -> Bool {
        try cancellation.check()
        return try link.run { link throws(TransportError) in try link.silence() }
    }

    /// Resets the card and releases it to others. Further calls do nothing.
    package func close() {
        guard var link = link.take() else { return }
        // Before the connection to the service ends, which would leave the card unchanged.
        link.release()
    }
}
