// SPDX-License-Identifier: Apache-2.0

// A line for each card that is put on the reader, until Ctrl-C.
import Kazasu

for try await tap in taps() where tap.kind == .on {
    print(tap.card.number ?? "unknown", "on", tap.reader)
}
