// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// Commands for one purpose in the program's own help; those that are alike share a line.
package struct HelpGroup: Sendable {
    let heading: LocalizedText
    let lines: [[HelpEntry]]

    package init(heading: LocalizedText, lines: [[HelpEntry]]) { (self.heading, self.lines) = (heading, lines) }
}

/// A command in that list, and what it does.
package struct HelpEntry: Sendable {
    let name: String
    let words: LocalizedText

    package init(_ name: String, _ english: String, _ japanese: String) {
        (self.name, words) = (name, LocalizedText(english, japanese))
    }
}
