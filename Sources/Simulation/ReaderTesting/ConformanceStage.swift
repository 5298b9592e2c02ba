// SPDX-License-Identifier: Apache-2.0

package import VirtualReader

/// The place before a reader under test: puts cards there, takes them away and injects faults.
package struct ConformanceStage {
    /// What a reader or its place cannot do, so that the cases that need it do not apply.
    package enum Limit: String, CaseIterable, Sendable {
        /// Frames cannot be damaged or lost on purpose: a service or a real device is in between.
        case noFaults = "faults in the air"
        /// The reader runs ISO-DEP by itself, so nothing can happen between two blocks.
        case noBlocks = "single blocks of ISO-DEP"
    }

    let limits: Set<Limit>
    let place: (any VirtualCard) throws -> Void
    let clear: () throws -> Void
    let plan: (InjectedFaults) -> Void
    /// The number of frames sent so far.
    let exchanges: () -> Int

    /// Creates a stage from its two actions.
    ///
    /// - Parameters:
    ///   - place: puts the only card before the reader and waits until the reader can find it.
    ///   - clear: takes the card away and waits until the reader can no longer find it.
    package init(
        limits: Set<Limit>, place: @escaping (any VirtualCard) throws -> Void, clear: @escaping () throws -> Void
    ) {
        self.init(limits: limits, place: place, clear: clear, plan: { _ in }, exchanges: { 0 })
    }

    /// Creates a stage on a virtual field, which has no limits.
    package init(_ field: VirtualField) {
        self.init(
            limits: [], place: field.place, clear: field.removeCards, plan: field.plan,
            exchanges: { field.statistics.exchanges })
    }

    /// The stage of a replayed run on a virtual field, in which cards come and go by themselves.
    package static var recording: ConformanceStage {
        ConformanceStage(limits: [], place: { _ in }, clear: {}, plan: { _ in }, exchanges: { 0 })
    }

    private init(
        limits: Set<Limit>, place: @escaping (any VirtualCard) throws -> Void, clear: @escaping () throws -> Void,
        plan: @escaping (InjectedFaults) -> Void, exchanges: @escaping () -> Int
    ) {
        (self.limits, self.place, self.clear, self.plan, self.exchanges) = (limits, place, clear, plan, exchanges)
    }
}
