// SPDX-License-Identifier: Apache-2.0

package import VirtualReader

/// What lies before a reader under test, and what can be done to it.
package struct ConformanceStage {
    /// What a reader or its place cannot do, so that the cases that need it do not apply.
    package enum Limit: String, CaseIterable, Sendable {
        /// The air cannot be damaged: the real reader, or what stands for it, is beyond reach.
        case noFaults = "faults in the air"
        /// The reader carries ISO-DEP out of sight, so nothing can happen between two blocks.
        case noBlocks = "single blocks of ISO-DEP"
    }

    let limits: Set<Limit>
    let place: (any VirtualCard) throws -> Void
    let clear: () throws -> Void
    let plan: (InjectedFaults) -> Void
    /// How many frames went into the air so far.
    let exchanges: () -> Int

    /// A stage of one's own.
    ///
    /// - Parameters:
    ///   - place: puts the only card before the reader, and waits until the reader can find it.
    ///   - clear: takes the card away, and waits until the reader cannot find it any more.
    package init(
        limits: Set<Limit>, place: @escaping (any VirtualCard) throws -> Void, clear: @escaping () throws -> Void
    ) {
        self.init(limits: limits, place: place, clear: clear, plan: { _ in }, exchanges: { 0 })
    }

    /// A virtual field; everything can happen there.
    package init(_ field: VirtualField) {
        self.init(
            limits: [], place: field.place, clear: field.removeCards, plan: field.plan,
            exchanges: { field.statistics.exchanges })
    }

    /// A recording of a run on a virtual field: cards come and go in it by themselves.
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
