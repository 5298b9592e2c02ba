// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
package import Kazasu

/// Kinds of card as a user lists them: `f,a,b`.
package struct TechnologyList: ExpressibleByArgument, Equatable, Sendable {
    package static var argumentKind: ArgumentKind { .list }
    package static var example: LocalizedText? { LocalizedText("f,a,b, in the order to look", "f,a,b（探す順）") }

    package var technologies: [Technology]

    package static let usual = TechnologyList(technologies: CardFinder.usualOrder)

    private static let letters: [(letter: String, technology: Technology)] = [
        ("f", .felica), ("a", .typeA), ("b", .typeB),
    ]

    package init(technologies: [Technology]) {
        self.technologies = technologies
    }

    package init?(argument: String) {
        technologies = []
        for part in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            guard let known = TechnologyList.letters.first(where: { $0.letter == part }),
                !technologies.contains(known.technology)
            else { return nil }
            technologies.append(known.technology)
        }
        if technologies.isEmpty { return nil }
    }

    package var defaultValueDescription: String {
        technologies.compactMap { one in TechnologyList.letters.first { $0.technology == one }?.letter }
            .joined(separator: ",")
    }
}

/// Which types of ISO 14443 to look for, in order.
package struct ISOTypes: ExpressibleByArgument, Equatable, Sendable {
    package static var argumentKind: ArgumentKind { .list }
    package static var example: LocalizedText? { LocalizedText("a, b or a,b", "a、b、a,b のいずれか") }
    package static var pattern: String? { "^[ab]$" }

    package var technologies: [Technology]

    package static let both = ISOTypes(technologies: [.typeA, .typeB])

    package init(technologies: [Technology]) {
        self.technologies = technologies
    }

    package init?(argument: String) {
        technologies = []
        for part in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            switch part {
            case "a": technologies.append(.typeA)
            case "b": technologies.append(.typeB)
            default: return nil
            }
        }
    }

    package var defaultValueDescription: String { "a,b" }
}
