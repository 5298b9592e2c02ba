// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel

/// Which types of ISO 14443 to look for, in order.
struct ISOTypes: ExpressibleByArgument, Equatable, Sendable {
    var technologies: [Technology]

    static let both = ISOTypes(technologies: [.typeA, .typeB])

    init(technologies: [Technology]) {
        self.technologies = technologies
    }

    init?(argument: String) {
        technologies = []
        for part in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            switch part {
            case "a": technologies.append(.typeA)
            case "b": technologies.append(.typeB)
            default: return nil
            }
        }
    }

    var defaultValueDescription: String { "a,b" }
}
