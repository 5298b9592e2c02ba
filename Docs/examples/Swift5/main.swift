// SPDX-License-Identifier: Apache-2.0

// Swift 5 mode, a class and a queue: nothing in Kazasu needs strict concurrency. A reader belongs to one thread at a time.
import Dispatch
import Kazasu

final class BalanceReader {
    private let queue = DispatchQueue(label: "reader")

    func read(from id: String?, then: @escaping (Result<BalanceReport, Error>) -> Void) {
        queue.async {
            then(Result { try openReader(id).waitForCard(.purse).balance() })
        }
    }
}

let done = DispatchSemaphore(value: 0)
let balances = BalanceReader()
balances.read(from: CommandLine.arguments.dropFirst().first) { result in
    switch result {
    case .success(let report): print(report.balances.map { $0.amount ?? 0 })
    case .failure(let error): print(error)
    }
    done.signal()
}
done.wait()
