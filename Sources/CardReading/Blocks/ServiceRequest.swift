// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// Which blocks of which service are to be read.
package struct ServiceRequest: Hashable, Sendable {
    /// The service.
    package var code: ServiceCode
    /// Which of its blocks.
    package var blocks: Blocks

    /// Which blocks of a service.
    package enum Blocks: Hashable, Sendable {
        /// All, to the end of the service. `expected` is how many there usually are; it only saves commands.
        case all(expected: Int?)
        /// The first ones, as far as they exist.
        case first(Int)
        /// These, each if it exists.
        case these([UInt16])
    }

    /// A request for blocks of a service.
    package init(_ code: ServiceCode, _ blocks: Blocks) {
        self.code = code
        self.blocks = blocks
    }
}

extension CardSession {
    /// What came of reading chosen services.
    package struct ServicesResult: Hashable, Sendable {
        /// The services in the order in which they were asked for.
        package var services: [ServiceDump]
        /// Why single blocks that were asked for by number were not given.
        package var absent: [ServiceCode: [UInt16: RefusalReason]]
        /// Why whole services gave nothing.
        package var refusals: [ServiceCode: RefusalReason]
        /// Why reading ended before its end.
        package var interruption: ReadingError?
    }

    /// Reads blocks of services of one system without listing what else is there, in as few commands as possible.
    package func read(_ requests: [ServiceRequest], of system: SystemHandle) -> ServicesResult {
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

/// How far the reading of one service has come.
struct ServiceJob {
    let code: ServiceCode
    /// What was read.
    var have: BlockTable = [:]
    /// Why single blocks were not given, when only some were asked for.
    var absent: [UInt16: RefusalReason] = [:]
    /// Why nothing of the service can be read.
    var refusal: RefusalReason?
    /// What is still to be done.
    var stage: Stage
    /// Whether the card contradicted itself about this service; then only single steps are believed.
    var isDistrusted = false
    /// Whether its blocks must not share a command with those of other services.
    var isAlone = false
    /// How many blocks of a list may be asked for at once.
    var listStep = Int.max

    enum Stage: Equatable {
        /// The first `count` blocks are believed, or known, to exist; `confirmed` when block `count` is known not to.
        case fetch(count: Int, confirmed: Bool)
        /// The blocks before `from` were read; block `below`, or one before it, does not exist if that is known.
        case explore(from: Int, below: Int?)
        /// Only these blocks are still wanted.
        case list([UInt16])
        /// Nothing.
        case done
    }

    init(_ request: ServiceRequest, have: BlockTable = [:]) {
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

    /// The blocks that may go into a command together with those of other services, in order.
    var packable: [UInt16] {
        switch stage {
        case .fetch(let count, _):
            (0..<min(count, 0x1_0000)).compactMap { have[UInt16($0)] == nil ? UInt16($0) : nil }
        case .list(let numbers): Array(numbers.prefix(listStep))
        case .explore, .done: []
        }
    }

    /// Moves on when the stage has nothing left to fetch.
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

    /// How many blocks were read from block 0 on without a gap.
    static func leadingCount(_ have: BlockTable) -> Int {
        var count = 0
        while count <= 0xFFFF, have[UInt16(count)] != nil { count += 1 }
        return count
    }
}
