// SPDX-License-Identifier: Apache-2.0

/// What the brackets of a text say before it is parsed.
struct JSONOutline {
    /// How many arrays and objects stand in one another at most.
    private(set) var depth = 0
    /// Whether the text ends within an array, an object or a string.
    private(set) var endsTooEarly = false

    /// Looks through a text, JSON or not.
    init(_ bytes: [UInt8]) {
        var open = 0
        var isString = false
        var isEscaped = false
        for byte in bytes {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isString: isEscaped = true
            case UInt8(ascii: "\""): isString.toggle()
            case _ where isString: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                open += 1
                depth = max(depth, open)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): open -= 1
            default: break
            }
        }
        endsTooEarly = open > 0 || isString
    }
}
