// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The forms of `kazasu history`.
enum HistoryFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case table, csv, json, ndjson
}
