// SPDX-License-Identifier: Apache-2.0

/// The way to a value of a document; the text of it is made for errors only.
final class JSONPlace: Sendable {
    private let step: JSONCursor.Step
    private let parent: JSONPlace?

    init(_ step: JSONCursor.Step, in parent: JSONPlace?) {
        self.step = step
        self.parent = parent
    }

    /// As in `felica.systems[0].systemCode`; empty for the whole document.
    var text: String {
        let before = parent?.text ?? ""
        return switch step {
        case .document: ""
        case .member(let key): before.isEmpty ? key : "\(before).\(key)"
        case .element(let index): "\(before)[\(index)]"
        }
    }
}
