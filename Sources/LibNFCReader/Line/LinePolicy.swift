// SPDX-License-Identifier: Apache-2.0

/// Decides when a serial line is worth its raising to 921600 baud, and when it is not to be trusted any more.
///
/// Raising and lowering cost about 6 ms (three host commands and the waits around them). An exchange carries 50 bytes or
/// more between chip and host, which take 4.4 ms at 115200 baud and 0.6 ms at 921600, so two more exchanges pay for it.
/// Jobs that ask a card for one number need two or three exchanges and stay as they are; who goes on after the fourth
/// reads dozens or hundreds.
struct LinePolicy: Hashable, Sendable {
    /// Where the line stands.
    enum State: Hashable, Sendable {
        /// At the normal speed, for good.
        case normal
        /// At the normal speed, after so many exchanges.
        case counting(Int)
        /// Nobody knows whether the chip has changed its speed.
        case unsure
        /// Raised, with so many faults since.
        case fast(faults: Int)
    }

    /// Where the line stands.
    private(set) var state: State

    /// The exchanges of a session that run at the normal speed.
    static let exchangesBefore = 4
    /// The faults that a fast line may have.
    static let faultsAllowed = 2

    /// Begins at the normal speed.
    init(mayRaise: Bool) {
        state = mayRaise ? .counting(0) : .normal
    }

    /// Whether the line is to be raised now.
    var isDue: Bool {
        guard case .counting(let exchanges) = state else { return false }
        return exchanges >= Self.exchangesBefore
    }

    /// Whether the chip is, or may be, at the high speed.
    var mayBeFast: Bool {
        switch state {
        case .normal, .counting: false
        case .unsure, .fast: true
        }
    }

    /// A card was asked something, or found.
    mutating func didExchange() {
        guard case .counting(let exchanges) = state else { return }
        state = .counting(min(exchanges + 1, Self.exchangesBefore))
    }

    /// The chip is about to be told.
    mutating func begin() {
        state = .unsure
    }

    /// The chip has answered at the high speed.
    mutating func didRaise() {
        state = .fast(faults: 0)
    }

    /// The chip is at the normal speed and stays there.
    mutating func settle() {
        state = .normal
    }

    /// Something was garbled or lost between chip and host.
    ///
    /// - Returns: whether the fast line has had more faults than it may.
    mutating func didMeetFault() -> Bool {
        guard case .fast(let faults) = state else { return false }
        state = .fast(faults: min(faults + 1, Self.faultsAllowed + 1))
        return faults >= Self.faultsAllowed
    }
}
