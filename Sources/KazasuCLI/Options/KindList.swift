// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders

/// Kinds of records as a user lists them: `rail,bus`.
struct KindList: ExpressibleByArgument, Equatable, Sendable {
    var kinds: Set<RecordKind>

    init?(argument: String) {
        kinds = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let kind = RecordKind(rawValue: String(part)) else { return nil }
            kinds.insert(kind)
        }
        if kinds.isEmpty { return nil }
    }
}
