// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// An open reader, and the channel to the card that was activated last.
public protocol Reader: CardChannel, AnyObject {
    /// The properties of the reader, which need no card.
    var information: ReaderInformation { get }

    /// Looks once for a card and selects it; does not wait for one to arrive.
    ///
    /// - Returns: the card, or `nil` if none answered. One that cannot be used further, such as a card of type B without
    ///   ISO-DEP, is returned all the same.
    /// - Throws: ``TransportError/heard(_:)`` if something answered, but no card could be selected; other cases of
    ///   ``TransportError`` if the reader failed or work was cancelled.
    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC?

    /// Asks whether the card that was activated last is still there, without changing the card's state.
    ///
    /// Selected files and verified PINs stay as they are. A lost answer counts as none.
    ///
    /// - Returns: `nil` if the reader cannot ask a card of this kind, or none is selected.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    func isCardPresent() throws(TransportError) -> Bool?

    /// Waits until a card may have arrived or left, for readers that report it.
    ///
    /// After a wait that ended without a card, such a reader may leave one that comes to the next wait: ``activate(_:)`` finds none
    /// until then.
    ///
    /// - Parameter time: the maximum time to wait; the call can return sooner, also without an event.
    /// - Returns: `false`, immediately, if the reader does not report events: it must then be polled.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    func waitForEvent(within time: Duration) throws(TransportError) -> Bool

    /// Switches the field off long enough for every card to lose its power and forget its state.
    ///
    /// The next ``activate(_:)`` switches it on again.
    ///
    /// - Returns: `false` if the reader cannot do that.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    func cyclePower() throws(TransportError) -> Bool

    /// Shows the person before the reader a signal by its own lights and buzzer, which take 0.6 seconds at most; no card
    /// command can run meanwhile. The lights stay until the next signal.
    ///
    /// - Returns: `false` if the reader has no lights that a program can set.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    func show(_ signal: ReaderSignal) throws(TransportError) -> Bool

    /// Keeps the reader from beeping by itself when it finds a card, as long as it is open.
    ///
    /// - Returns: `false` if it may beep all the same.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    func silence() throws(TransportError) -> Bool

    /// Switches the field off and releases the device. Further calls do nothing.
    func close()
}

extension Reader {
    /// Cannot tell.
    public func isCardPresent() throws(TransportError) -> Bool? { nil }

    /// Reports no event: the reader must be polled.
    public func waitForEvent(within time: Duration) throws(TransportError) -> Bool { false }

    /// Cannot.
    public func cyclePower() throws(TransportError) -> Bool { false }

    /// Has no lights.
    public func show(_ signal: ReaderSignal) throws(TransportError) -> Bool { false }

    /// Does not beep by itself.
    public func silence() throws(TransportError) -> Bool { true }
}

/// A family of readers that are opened in the same way.
public protocol ReaderDriver: Sendable {
    /// Lists the readers that are plugged in, usable or not.
    func list() -> [ReaderListing]

    /// Opens a reader.
    ///
    /// - Returns: `nil` if the ID does not belong to this driver.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)?
}

/// The properties of an open reader; reading a card is planned according to them.
public struct ReaderInformation: Hashable, Sendable {
    /// The value for `--reader` that opens it again.
    public var id: String
    /// The reader's own name.
    public var name: String
    /// The longest FeliCa answer that it can pass on, in bytes with the LEN byte: 255 or less.
    public var longestFeliCaAnswer: Int
    /// The FeliCa bit rates that it can poll at, in the order in which they are tried.
    public var feliCaBitRates: [FeliCaBitRate]
    /// The kinds of card that it can look for.
    public var technologies: [Technology]
    /// The longest command APDU that it can send, in bytes; 261 is enough for every short one.
    public var longestCommandAPDU: Int
    /// The longest response APDU that it can pass on, in bytes with the status word; 258 is the longest short one.
    public var longestResponseAPDU: Int
    /// Whether a search tells damaged answers and cards that do not start from silence. A PN53x does not: the card layer
    /// must look more closely.
    public var hearsFailures = true
    /// How long beyond the caller's limit an exchange may go on while a card asks for more time. Zero where the driver cannot
    /// tell such a card from a reader that hangs.
    package var longestExtension = Duration.zero
    /// The longest time that a card gets in answer to its requests for more, in one exchange.
    package static let longestCardExtension = Duration.seconds(60)

    /// Makes the properties of a reader.
    public init(
        id: String, name: String, longestFeliCaAnswer: Int = 255,
        feliCaBitRates: [FeliCaBitRate] = [.kbps212, .kbps424],
        technologies: [Technology] = [.felica], longestCommandAPDU: Int = 261, longestResponseAPDU: Int = 258
    ) {
        self.id = id
        self.name = name
        self.longestFeliCaAnswer = longestFeliCaAnswer
        self.feliCaBitRates = feliCaBitRates
        self.technologies = technologies
        self.longestCommandAPDU = longestCommandAPDU
        self.longestResponseAPDU = longestResponseAPDU
    }

    /// How many blocks one Read Without Encryption can request so that the answer (13 bytes and 16 per block) fits.
    public var blocksPerRead: Int { max(1, min(15, (max(13, longestFeliCaAnswer) - 13) / 16)) }
}

/// A reader that is plugged in, usable or not.
public struct ReaderListing: Hashable, Sendable, Identifiable {
    /// The value for `--reader` that opens it.
    public var id: String
    /// Its name; `nil` if unknown.
    public var name: String?
    /// Whether it can be opened, and if not, the reason.
    public var state: State

    /// Whether the user configured it, in a file or in the environment.
    public var isConfigured: Bool

    /// Whether it is a slot into which a program puts cards, as those of vsmartcard's vpcd: it is used only if it is named.
    public var isVirtual: Bool

    /// Makes a listing of a reader that is plugged in.
    public init(
        id: String, name: String? = nil, state: State, isConfigured: Bool = false, isVirtual: Bool = false
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.isConfigured = isConfigured
        self.isVirtual = isVirtual
    }

    /// Whether it can serve those who name no reader.
    package var isUsable: Bool { state == .ready && !isVirtual }

    /// Whether a reader can be opened.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// It can be opened.
        case ready
        /// It cannot be opened, for this reason.
        case unavailable(UnavailableReason, detail: TransportError.Reason)
        /// Unknown until it is opened: a serial port.
        case unknown
    }
}

/// A request for the kind of card that a reader is to look for.
@nonexhaustive
public enum ActivationRequest: Hashable, Sendable {
    /// A FeliCa card with this system, by one Polling at this bit rate.
    case felica(SystemCode, requestCode: UInt8 = 0, timeSlots: UInt8 = 0, bitRate: FeliCaBitRate = .kbps212)
    /// An ISO 14443 type A card at 106 kbit/s; one that supports ISO-DEP enters it, unless `isoDEP` is false.
    case typeA(isoDEP: Bool = true)
    /// An ISO 14443 type B card of this application family, 0 for any, at 106 kbit/s; it enters ISO-DEP.
    case typeB(applicationFamily: UInt8 = 0)

    /// The kind of card requested.
    public var technology: Technology {
        switch self {
        case .felica: .felica
        case .typeA: .typeA
        case .typeB: .typeB
        }
    }
}

/// Why no reader can be used; the raw values are those of the JSON error's `reason`.
@nonexhaustive
public enum UnavailableReason: String, Hashable, Sendable, CaseIterable {
    /// It is not plugged in, or does not answer as a reader.
    case absent
    /// Another program or a kernel driver is using it.
    case busy
    /// The user is not allowed to open it.
    case permission
    /// No Kazasu driver can use it.
    case unsupported
}

/// The channel to one selected card.
///
/// A frame is the data that the card sees above the chip: a FeliCa packet with its LEN byte, an APDU over ISO-DEP, a
/// Type 2 command without its CRC (a four-bit ACK or NAK is returned as one byte). Channels are synchronous and belong
/// to one thread at a time.
public protocol CardChannel {
    /// Sends one frame to the selected card and returns its answer, including the LEN byte for FeliCa.
    ///
    /// - Parameters:
    ///   - frame: the data for the card.
    ///   - timeout: the longest time that the card may take; the channel adds what the reader needs.
    /// - Throws: ``TransportError/noAnswer`` if the card does not answer, and the other cases of ``TransportError``.
    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8]
}

extension Reader {
    /// Looks once for a FeliCa card that has one of these systems, tried in the caller's order.
    ///
    /// The first system that answers wins and is selected. Each code costs one Polling at the reader's first bit rate;
    /// every card answers at 212 kbit/s, most at 424. The second bit rate is tried with all codes only if none
    /// answered. After an answer to a code other than the first, the codes before it are polled for once more, since
    /// the card may have arrived in between.
    ///
    /// - Parameters:
    ///   - systems: the system codes; ``SystemCode/any`` accepts whichever system the card names first.
    ///   - requestCode: 0 for nothing more, 1 for the system code, 2 for the communication performance.
    ///   - timeSlots: 0, 1, 3, 7 or 15.
    ///   - bitRates: the bit rates to try, in this order; `nil` for all that the reader has.
    /// - Returns: the card's answer, or `nil` if none answered.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    public func activateFeliCa(
        systems: [SystemCode], requestCode: UInt8 = 0, timeSlots: UInt8 = 0, bitRates: [FeliCaBitRate]? = nil
    ) throws(TransportError) -> FeliCaTarget? {
        let requests = (bitRates ?? information.feliCaBitRates).flatMap { bitRate in
            systems.map {
                ActivationRequest.felica($0, requestCode: requestCode, timeSlots: timeSlots, bitRate: bitRate)
            }
        }
        guard case .felica(let target)? = try firstAnswer(to: requests)?.picc else { return nil }
        return target
    }
}
