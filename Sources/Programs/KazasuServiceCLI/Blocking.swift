// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import Synchronization

/// Runs asynchronous work for a command, whose own thread waits for it.
enum Blocking {
    /// Waits for the result of `body`.
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let work = Work<Value, Failure>()
        // Tasks that the main thread begins would run above the default priority, which the system refuses to users.
        Task(priority: .medium) {
            do throws(Failure) {
                work.finish(.success(try await body()))
            } catch {
                work.finish(.failure(error))
            }
        }
        return try work.result().get()
    }

    private final class Work<Value: Sendable, Failure: Error>: Sendable {
        private let value = Mutex<Result<Value, Failure>?>(nil)
        private let done = Latch()

        func finish(_ result: Result<Value, Failure>) {
            value.withLock { $0 = result }
            done.open()
        }

        func result() -> Result<Value, Failure> {
            while true {
                done.wait()
                if let result = value.withLock({ $0 }) { return result }
            }
        }
    }
}
