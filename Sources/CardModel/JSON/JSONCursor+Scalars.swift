// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

extension JSONCursor {
    /// This as a text.
    public func text() throws(DocumentError) -> String {
        switch source {
        case .tree(.string(let text), _, _, _): return text
        case .tape(let tape, let index):
            guard let text = tape.text(index) else { throw malformed("a string") }
            return text
        default: throw malformed("a string")
        }
    }

    /// This as a truth value.
    public func bool() throws(DocumentError) -> Bool {
        guard case .bool(let value) = value else { throw malformed("true or false") }
        return value
    }

    /// This as a whole number within `range`.
    public func integer(in range: ClosedRange<Int> = Int.min...Int.max) throws(DocumentError) -> Int {
        guard case .integer(let number) = value, let value = Int(exactly: number), range.contains(value) else {
            throw malformed(range == Int.min...Int.max ? "a whole number" : "a number \(range)")
        }
        return value
    }

    /// This as bytes written in hexadecimal; exactly `count` of them when that is given.
    public func bytes(count: Int? = nil) throws(DocumentError) -> [UInt8] {
        if let bytes = (try? text()).flatMap({ try? Hex.decode($0) }), count == nil || bytes.count == count {
            return bytes
        }
        throw malformed(count.map { "\($0 * 2) hexadecimal digits" } ?? "hexadecimal digits")
    }

    /// This as a code of four hexadecimal digits.
    public func code<Code: FourDigitCode>(_ type: Code.Type = Code.self) throws(DocumentError) -> Code {
        let code: Code? =
            switch source {
            case .tape(let tape, let index): tape.withBytes(index) { Code(digits: $0) }
            case .tree: Code(digits: try text().utf8.span)
            }
        guard let code else { throw malformed("four hexadecimal digits") }
        return code
    }

    /// This as the sixteen bytes of a block; in other forms of hexadecimal too, which take longer.
    func block() throws(DocumentError) -> Block {
        let packed: Block? =
            switch source {
            case .tape(let tape, let index): tape.withBytes(index) { Block(digits: $0) }
            case .tree(.string(let digits), _, _, _): Block(hexadecimal: digits)
            case .tree: nil
            }
        if let packed { return packed }
        guard let block = Block(try bytes(count: 16)) else { throw malformed("16 bytes") }
        return block
    }
}

extension String {
    /// The text of bytes that are UTF-8.
    init(decodingUTF8 bytes: Span<UInt8>) {
        if let text = try? UTF8Span(validating: bytes) { self = String(copying: text) } else { self = "" }
    }
}
