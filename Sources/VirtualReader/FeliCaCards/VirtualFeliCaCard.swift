// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import NFCTransport
internal import Synchronization

/// A FeliCa card that is only a program: it reads command packets by hand and answers as the public sources say that
/// real cards do. What no source decides is written in `Docs/virtual-cards.md`.
///
/// Everything that needs a key is not simulated: authentication, MACs and issuing get no answer.
package final class VirtualFeliCaCard: VirtualPacketCard {
    private let state: Mutex<CardState>

    /// A card of FeliCa Standard or a phone.
    ///
    /// - Parameters:
    ///   - systems: in the card's order; the first answers a Polling for any system. More than 16 are cut off.
    ///   - profile: its limits and oddities; by default those of the IC that the first system's PMm names.
    package init(systems: [VirtualSystem], profile: CardProfile? = nil) {
        let profile = profile ?? CardProfile(pmm: systems.first?.pmm ?? PMm(rawValue: 0))
        state = Mutex(CardState(systems: Array(systems.prefix(16)), profile: profile))
    }

    /// A FeliCa Lite or Lite-S.
    ///
    /// - Parameter profile: its limits and oddities; by default those of Lite-S.
    package init(lite: LiteMemory, profile: CardProfile? = nil) {
        state = Mutex(CardState(lite: lite, profile: profile ?? .lite))
    }

    /// The systems with their blocks as they are now, after all that was written; for FeliCa Lite `88B4` and, when
    /// the card answers it, `12FC`, both without blocks.
    package var systems: [VirtualSystem] { state.withLock(\.systems) }

    /// The blocks of a FeliCa Lite or Lite-S as they are now; `nil` for other cards.
    package var lite: LiteMemory? { state.withLock(\.lite) }

    /// Its limits and oddities.
    package var profile: CardProfile { state.withLock(\.profile) }

    /// For how long it hears nothing after it got power.
    package var startupTime: Duration { profile.startupTime }

    /// What the card does with a frame; `nil` when it keeps silent.
    package func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        state.withLock { $0.answer(frame, at: bitRate) }
    }

    /// Gives every system another IDm, in which only the number of the system stays.
    func renumber(_ number: UInt64) {
        state.withLock { $0.renumber(number) }
    }

    /// Back to the first system; what was written stays.
    package func losePower() {
        state.withLock { $0.losePower() }
    }
}
