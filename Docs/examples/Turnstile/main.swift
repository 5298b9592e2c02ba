// SPDX-License-Identifier: Apache-2.0

// A turnstile: opens for the cards whose numbers are its arguments, on every reader that is connected.
import Kazasu

let allowed = Set(CommandLine.arguments.dropFirst().map { $0.lowercased() })

for try await event in taps().events {
    switch event {
    case .reader(let id, let state):
        print(id, "is", state)
    case .tap(let tap) where tap.kind == .on:
        // A number that is random each time, as on phones, identifies nobody.
        guard !tap.isRandom, let number = tap.card.number, allowed.contains(number) else {
            print(tap.reader, "stays closed")
            continue
        }
        print(tap.reader, "opens for", number)
    case .tap:
        continue
    // What a later version may report.
    @unknown default:
        continue
    }
}
