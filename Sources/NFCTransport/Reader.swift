// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// An open reader, and the channel to the card that was activated last.
public protocol Reader: CardChannel, AnyObject {
    /// What is known of the reader without a card.
    var information: ReaderInformation { get }

    /// Looks once for a card and selects it; does not wait for one to come.
    ///
    /// - Returns: the card, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC?

    /// Waits until a card may have come or left, for readers that report it.
    ///
    /// - Parameter time: how long at most; it may return sooner, without an event too.
    /// - Returns: `false`, at once, when the reader does not report it: then it has to be polled.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
    func waitForEvent(within time: Duration) throws(TransportError) -> Bool

    /// Switches the field off and gives the device back. Further calls do nothing.
    func close()
}

extension Reader {
    /// No event: the reader has to be asked.
    public func waitForEvent(within time: Duration) throws(TransportError) -> Bool { false }
}

/// A family of readers that are opened in the same way.
public protocol ReaderDriver: Sendable {
    /// The readers that are plugged in, usable or not.
    func list() -> [ReaderListing]

    /// Opens a reader.
    ///
    /// - Returns: `nil` when the ID is not one of this driver's.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)?
}

/// The properties of an open reader; reading a card is planned with them.
public struct ReaderInformation: Hashable, Sendable {
    /// What `--reader` takes to open it again.
    public var id: String
    /// What it calls itself.
    public var name: String
    /// The longest FeliCa answer that it can pass on, in bytes with the LEN byte: 255, or less.
    public var longestFeliCaAnswer: Int
    /// The FeliCa bit rates that it can poll with, in the order in which they are tried.
    public var feliCaBitRates: [FeliCaBitRate]
    /// The kinds of card that it can look for.
    public var technologies: [Technology]
    /// The longest command APDU that it can send, in bytes; 261 is enough for every short one.
    public var longestCommandAPDU: Int
    /// The longest response APDU that it can pass on, in bytes with the status word; 258 is the longest short one.
    public var longestResponseAPDU: Int

    /// What is known of a reader.
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

    /// How many blocks one Read Without Encryption may ask for so that the answer (13 bytes and 16 a block) fits.
    public var blocksPerRead: Int { max(1, min(15, (max(13, longestFeliCaAnswer) - 13) / 16)) }
}

/// A reader that is plugged in, usable or not.
public struct ReaderListing: Hashable, Sendable, Identifiable {
    /// What `--reader` takes to open it.
    public var id: String
    /// What it is called, or `nil` when nothing says so.
    public var name: String?
    /// Whether it can be opened, and if not, why.
    public var state: State

    /// Whether the user configured it, in a file or in the environment.
    public var isConfigured: Bool

    /// A reader that is plugged in.
    public init(id: String, name: String? = nil, state: State, isConfigured: Bool = false) {
        self.id = id
        self.name = name
        self.state = state
        self.isConfigured = isConfigured
    }

    /// Whether a reader can be opened.
    public enum State: Hashable, Sendable {
        /// It can be opened.
        case ready
        /// It cannot be opened, for this reason.
        case unavailable(UnavailableReason, detail: TransportError.Reason)
        /// Unknown until it is opened: a serial port.
        case unknown
    }
}

/// Which card a reader is to look for.
@nonexhaustive
public enum ActivationRequest: Hashable, Sendable {
    /// A FeliCa card with this system, by one Polling at this bit rate.
    case felica(SystemCode, requestCode: UInt8 = 0, timeSlots: UInt8 = 0, bitRate: FeliCaBitRate = .kbps212)
    /// A card of ISO 14443 type A, at 106 kbit/s; one that speaks ISO-DEP is brought into it, unless `isoDEP` is
    /// false.
    case typeA(isoDEP: Bool = true)
    /// A card of ISO 14443 type B of this application family, 0 for any, at 106 kbit/s, brought into ISO-DEP.
    case typeB(applicationFamily: UInt8 = 0)

    /// The kind of card that is looked for.
    public var technology: Technology {
        switch self {
        case .felica: .felica
        case .typeA: .typeA
        case .typeB: .typeB
        }
    }
}

/// Why no reader can be used; the raw values are those of the JSON error's `reason`.
public enum UnavailableReason: String, Hashable, Sendable {
    /// It is not plugged in, or does not answer as a reader.
    case absent
    /// Another program or a kernel driver is using it.
    case busy
    /// The user may not open it.
    case permission
    /// No driver of Kazasu's can use it.
    case unsupported
}

/// The way to one selected card.
///
/// A frame is what the card sees above the chip: a FeliCa packet with its LEN byte, an APDU on ISO-DEP, a Type 2
/// command without its CRC (an ACK or NAK of four bits comes back as one byte). Channels are synchronous and belong to one thread at a time.
public protocol CardChannel {
    /// Sends one frame to the selected card and returns its answer, LEN byte included for FeliCa.
    ///
    /// - Parameters:
    ///   - frame: what the card is to get.
    ///   - timeout: the longest time that the card may take; the channel adds what the reader needs.
    /// - Throws: ``TransportError/noAnswer`` when the card keeps silent, and the other cases of ``TransportError``.
    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8]
}

extension Reader {
    /// Looks once for a FeliCa card that has one of these systems, tried in the caller's order; the first that answers
    /// wins and is selected.
    ///
    /// Each code costs one Polling at the reader's first bit rate; every card answers at 212 kbit/s, most at 424. The
    /// second bit rate is tried with all codes only when none answered. An answer to a code that is not the first has the
    /// codes before it polled for once more, since the card may have come meanwhile.
    ///
    /// - Parameters:
    ///   - systems: the system codes; ``SystemCode/any`` takes whatever system the card names first.
    ///   - requestCode: 0 for nothing more, 1 for the system code, 2 for the communication performance.
    ///   - timeSlots: 0, 1, 3, 7 or 15.
    ///   - bitRates: the speeds to try, in this order; `nil` for all that the reader has.
    /// - Returns: the card's answer, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
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

    /// Polls every one of these systems at every bit rate of the reader and returns what answered, in the order of
    /// the answers.
    ///
    /// One card answers at both speeds: the same IDm is listed once, with the speed that it answered first. The
    /// systems of one card differ in the IDm's first four bits and are listed each.
    ///
    /// - Parameters:
    ///   - systems: the system codes, in the order in which they are polled.
    ///   - requestCode: as in ``activateFeliCa(systems:requestCode:timeSlots:bitRates:)``.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
    package func feliCaTargets(
        systems: [SystemCode], requestCode: UInt8 = 0
    ) throws(TransportError) -> [FeliCaTarget] {
        var targets: [FeliCaTarget] = []
        for bitRate in information.feliCaBitRates {
            for system in systems {
                let request = ActivationRequest.felica(system, requestCode: requestCode, bitRate: bitRate)
                guard case .felica(let target)? = try activate(request) else { continue }
                if !targets.contains(where: { $0.idm == target.idm }) { targets.append(target) }
            }
        }
        return targets
    }
}
