// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension JSONCursor {
    /// Checks that this object has no other members, so that a slip of the pen does not pass for a setting.
    func allowOnly(_ keys: Set<String>) throws(DocumentError) {
        for (key, value) in try members() where !keys.contains(key) {
            throw value.malformed("no such member; known are \(keys.sorted().joined(separator: ", "))")
        }
    }

    /// This as one of a few words.
    func word<Value>(_ meanings: [String: Value]) throws(DocumentError) -> Value {
        guard let value = meanings[try text()] else {
            throw malformed(meanings.keys.sorted().joined(separator: " or "))
        }
        return value
    }

    /// The bytes that this is in hexadecimal, `nil` when it is something else.
    var hexadecimal: [UInt8]? {
        guard case .string(let text) = value else { return nil }
        return try? Hex.decode(text)
    }

    /// The code that this is, `nil` when it is something else.
    func text<Code: FourDigitCode>(as type: Code.Type) -> Code? {
        guard case .string(let text) = value else { return nil }
        return Code(text)
    }

    /// This as bytes in hexadecimal, at most `limit` of them.
    func bytes(atMost limit: Int) throws(DocumentError) -> [UInt8] {
        let data = try bytes()
        guard data.count <= limit else { throw malformed("at most \(limit) bytes") }
        return data
    }

    /// This as a list of command codes of two hexadecimal digits.
    func commands() throws(DocumentError) -> Set<CommandCode> {
        Set(
            try list { element throws(DocumentError) in
                guard let code = try element.bytes(count: 1).first.flatMap(CommandCode.init(rawValue:)) else {
                    let known = CommandCode.allCases.map { Hex.encode($0.rawValue, digits: 2) }
                    throw element.malformed("a command that virtual cards know: \(known.joined(separator: ", "))")
                }
                return code
            })
    }
}
