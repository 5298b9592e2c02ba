// SPDX-License-Identifier: Apache-2.0

/// Texts from a tag made fit for a terminal.
public enum DisplayText {
    /// The text without what could change a terminal or hide itself: line ends become ⏎, tabs blanks, other control, format
    /// and private characters U+FFFD.
    public static func harmless(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control: scalars.append(scalar == "\n" ? "⏎" : scalar == "\t" ? " " : "\u{FFFD}")
            case .format where scalar == "\u{200D}": scalars.append(scalar)
            case .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}
