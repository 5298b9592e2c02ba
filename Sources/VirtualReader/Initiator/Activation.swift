// SPDX-License-Identifier: Apache-2.0

/// How looking for a card ended.
enum Activation<Found: Hashable & Sendable>: Hashable, Sendable {
    case found(Found)
    case nothing
    case aborted
}
