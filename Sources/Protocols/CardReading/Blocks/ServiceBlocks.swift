// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// A service, and which of its blocks to read.
package struct ServiceBlocks: Hashable, Sendable {
    package var code: ServiceCode
    /// The blocks to read.
    package var blocks: Blocks

    /// A choice of a service's blocks.
    package enum Blocks: Hashable, Sendable {
        /// All, to the end of the service. `expected` is the usual number; it only saves commands.
        case all(expected: Int?)
        /// The first ones, as many as exist.
        case first(Int)
        /// These, each if it exists.
        case these([UInt16])
    }

    package init(_ code: ServiceCode, _ blocks: Blocks) {
        self.code = code
        self.blocks = blocks
    }
}

extension CardSession {
    /// The result of reading chosen services.
    package struct ServicesResult: Hashable, Sendable {
        /// The services in the order in which they were requested.
        package var services: [ServiceDump]
        /// Why individual blocks that were requested by number were not returned.
        package var absent: [ServiceCode: [UInt16: RefusalReason]]
        /// Why whole services returned nothing.
        package var refusals: [ServiceCode: RefusalReason]
        /// Why reading ended early.
        package var interruption: ReadingError?
    }

    /// Reads blocks of services of one system in as few commands as possible, without listing its other nodes.
    package func read(_ requests: [ServiceBlocks], of system: SystemHandle) -> ServicesResult {
        let reader = BlockReader(session: self, system: system, jobs: requests.map { ServiceJob($0) })
        var interruption: ReadingError?
        do {
            try reader.run()
        } catch {
            interruption = error
        }
        var outcome = ServicesResult(services: [], absent: [:], refusals: [:], interruption: interruption)
        for job in reader.jobs {
            var service = ServiceDump(code: job.code, state: .lost)
            service.take(job)
            outcome.services.append(service)
            if !job.absent.isEmpty { outcome.absent[job.code] = job.absent }
            outcome.refusals[job.code] = job.refusal
        }
        return outcome
    }
}

/// The progress of reading one service.
struct ServiceJob {
    let code: ServiceCode
    /// The blocks that were read.
    var have: BlockTable = [:]
    /// Why individual blocks were not returned, if only some were requested.
    var absent: [UInt16: RefusalReason] = [:]
    /// Why nothing of the service can be read.
    var refusal: RefusalReason?
    /// The work that remains.
    var stage: Stage
    /// Whether the card contradicted itself about this service; from then on, only single steps are trusted.
    var isDistrusted = false
    /// Whether its blocks must not share a command with those of other services.
    var isAlone = false
    /// How many blocks of a list can be requested at a time.
    var listStep = Int.max

    enum Stage: Equatable {
        /// The first `count` blocks are assumed or known to exist; `confirmed` if block `count` is known not to exist.
        case fetch(count: Int, confirmed: Bool)
        /// The blocks before `from` were read; block `below`, or one before it, does not exist, if known.
        case explore(from: Int, below: Int?)
        /// Only these blocks remain.
        case list([UInt16])
        /// Nothing.
        case done
    }

    init(_ request: ServiceBlocks, have: BlockTable = [:]) {
        code = request.code
        self.have = have
        switch request.blocks {
        case .these(let numbers): stage = .list(numbers.filter { have[$0] == nil })
        case .first(let count): stage = .fetch(count: min(max(count, 0), 0x1_0000), confirmed: true)
        case .all(let expected):
            let read = ServiceJob.leadingCount(have)
            if let expected, expected > read {
                stage = .fetch(count: expected, confirmed: false)
            } else {
                stage = .explore(from: read, below: nil)
            }
        }
    }

    /// The blocks that can share a command with those of other services, in order.
    var packable: [UInt16] {
        switch stage {
        case .fetch(let count, _):
            (0..<min(count, 0x1_0000)).compactMap { have[UInt16($0)] == nil ? UInt16($0) : nil }
        case .list(let numbers): Array(numbers.prefix(listStep))
        case .explore, .done: []
        }
    }

    /// Moves on if the stage has nothing left to fetch.
    mutating func settle() {
        switch stage {
        case .fetch(_, confirmed: true) where packable.isEmpty: stage = .done
        case .list(let numbers):
            let left = numbers.filter { have[$0] == nil && absent[$0] == nil }
            stage = left.isEmpty ? .done : .list(left)
        default: break
        }
    }

    /// The service ends before block `count`.
    mutating func end(at count: Int) {
        stage = .fetch(count: count, confirmed: true)
        settle()
    }

    /// The whole service is refused.
    mutating func refuse(_ refusal: RefusalReason) {
        self.refusal = refusal
        stage = .done
    }

    /// The card was silent to everything, so that what it did not answer was not refused.
    mutating func forgetSilence() {
        let silent = absent.filter { $0.value == .silence }.keys
        guard refusal == .silence || !silent.isEmpty else { return }
        if refusal == .silence { refusal = nil }
        for block in silent { absent[block] = nil }
        stage = silent.isEmpty ? .explore(from: 0, below: nil) : .list(silent.sorted())
    }

    /// Returns how many blocks were read from block 0 without a gap.
    static func leadingCount(_ have: BlockTable) -> Int {
        var count = 0
        while count <= 0xFFFF, have[UInt16(count)] != nil { count += 1 }
        return count
    }
}

extension ServiceDump {
    /// Records how the reading of this service ended.
    mutating func take(_ job: ServiceJob) {
        blocks = job.have
        if job.stage != .done {
            state = .lost
        } else if let refusal = job.refusal {
            state = .refused(status: refusal.status)
        } else {
            state = .read
        }
    }
}
