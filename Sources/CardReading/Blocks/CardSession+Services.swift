// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension CardSession {
    /// What came of reading chosen services.
    public struct ServicesOutcome: Hashable, Sendable {
        /// The services in the order in which they were asked for.
        public var services: [ServiceDump]
        /// Why single blocks that were asked for by number were not given.
        public var absent: [ServiceCode: [UInt16: Refusal]]
        /// Why whole services gave nothing.
        public var refusals: [ServiceCode: Refusal]
        /// Why reading ended before its end.
        public var interruption: ReadingError?
    }

    /// Reads blocks of services of one system without listing what else is there, in as few commands as possible.
    public func read(_ requests: [ServiceRequest], of system: SystemHandle) -> ServicesOutcome {
        let reader = BlockReader(session: self, system: system, jobs: requests.map { ServiceJob($0) })
        var interruption: ReadingError?
        do {
            try reader.run()
        } catch {
            interruption = error
        }
        var outcome = ServicesOutcome(services: [], absent: [:], refusals: [:], interruption: interruption)
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
