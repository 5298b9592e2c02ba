// SPDX-License-Identifier: Apache-2.0

/// How the search for one card ended.
enum Search<Found> {
    case found(Found)
    case nothing
    case aborted
}
