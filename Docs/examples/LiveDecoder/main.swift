// SPDX-License-Identifier: Apache-2.0

// A decoder of one's own (that of OwnDecoder) on the cards that are put on a reader: reads just the blocks that it asks for.
import Kazasu

let readers = CommandLine.arguments.dropFirst().first.map { [$0] }
let decoders: DecoderRegistry = [CanteenDecoder()]

for try await tap in taps(on: readers, .decoders(decoders.decoders), reading: .decoders(decoders)) {
    guard tap.kind == .on else { continue }
    if let error = tap.readError { print(error) }
    for meal in tap.history?.history ?? [] { print(meal.amount ?? 0, "yen") }
    print(tap.balance?.balances.first?.amount ?? 0, "yen left")
    break
}
