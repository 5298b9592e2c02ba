// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import CardReading

/// Kinds of card as a user lists them: `f,a,b`.
struct TechnologyList: ExpressibleByArgument, Equatable, Sendable {
    var technologies: [Technology]

    static let usual = TechnologyList(technologies: AnyCardFinder.usualOrder)

    private static let letters: [(letter: String, technology: Technology)] = [
        ("f", .felica), ("a", .typeA), ("b", .typeB),
    ]

    init(technologies: [Technology]) {
        self.technologies = technologies
    }

    init?(argument: String) {
        technologies = []
        for part in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            guard let known = TechnologyList.letters.first(where: { $0.letter == part }),
                !technologies.contains(known.technology)
            else { return nil }
            technologies.append(known.technology)
        }
        if technologies.isEmpty { return nil }
    }

    var defaultValueDescription: String {
        technologies.compactMap { one in TechnologyList.letters.first { $0.technology == one }?.letter }
            .joined(separator: ",")
    }
}
