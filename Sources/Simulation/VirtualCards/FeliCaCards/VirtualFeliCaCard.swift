// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import ReaderCore
internal import Synchronization

/// A FeliCa card in software: it parses command packets by hand and answers like real cards according to public
/// sources. Behavior that no source decides is documented in `Docs/virtual-cards.md`.
///
/// Systems with keys open their services after mutual authentication with DES or AES, and take new DES keys. A blank
/// card can be issued.
package final class VirtualFeliCaCard: VirtualPacketCard {
    private let state: Mutex<CardState>

    /// Creates a card of FeliCa Standard or a phone.
    ///
    /// - Parameters:
    ///   - systems: in the card's order; the first answers a Polling for any system. More than 16 are cut off.
    ///   - profile: its limits and deviations; by default those of the IC that the first system's PMm names.
    package init(systems: [VirtualSystem], profile: CardProfile? = nil) {
        let profile = profile ?? CardProfile(pmm: systems.first?.pmm ?? PMm(rawValue: 0))
        state = Mutex(CardState(systems: Array(systems.prefix(16)), profile: profile))
    }

    /// Creates a FeliCa Lite or Lite-S.
    ///
    /// - Parameter profile: its limits and deviations; by default those of Lite-S.
    package init(lite: LiteMemory, profile: CardProfile? = nil) {
        state = Mutex(CardState(lite: lite, profile: profile ?? .lite))
    }

    /// The systems with their current blocks, after all writes. For FeliCa Lite these are `88B4` and, when the card
    /// answers it, `12FC`, both without blocks.
    package var systems: [VirtualSystem] { state.withLock(\.systems) }

    /// The current blocks of a FeliCa Lite or Lite-S; `nil` for other cards.
    package var lite: LiteMemory? { state.withLock(\.lite) }

    /// Its limits and deviations.
    package var profile: CardProfile { state.withLock(\.profile) }

    /// How long it is deaf after it got power.
    package var startupTime: Duration { profile.startupTime }

    /// Returns the card's answer to a frame; `nil` when it does not answer.
    package func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        state.withLock { $0.answer(frame, at: bitRate) }
    }

    /// Sets the random numbers of the next mutual authentications, and the transaction number that sessions begin with.
    package func prepare(random: [UInt8], firstNumber: UInt16 = 0) {
        state.withLock {
            $0.random.prepared = random
            $0.random.firstNumber = firstNumber
        }
    }

    /// Gives every system another IDm, which keeps only the number of the system.
    func renumber(_ number: UInt64) {
        state.withLock { $0.renumber(number) }
    }

    /// Its systems as they would be after a loss of power, which does not happen by this.
    package var systemsWithoutPower: [VirtualSystem] {
        state.withLock { state in
            var state = state
            state.losePower()
            return state.systems
        }
    }

    /// Returns to the first system; written data stays. What was registered on a blank card is lost unless it was made
    /// permanent, or the profile says otherwise.
    package func losePower() {
        state.withLock { $0.losePower() }
    }
}
