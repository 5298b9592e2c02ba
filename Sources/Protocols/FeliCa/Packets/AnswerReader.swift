// SPDX-License-Identifier: Apache-2.0

package import ByteCodec
public import CardModel

/// Reads an answer field by field; any violation of the packet format becomes ``FeliCaError/malformed(_:_:)``.
///
/// A ``FeliCaCommand`` receives one after LEN, response code and IDm.
public struct AnswerReader {
    /// The command being answered.
    public let command: CommandCode
    private var reader: ByteReader

    /// Checks LEN, the response code and the IDm, and continues after them.
    ///
    /// - Parameters:
    ///   - frame: the answer with its LEN byte.
    ///   - command: the command that was sent.
    ///   - idm: the expected IDm; `nil` if the answer has no IDm that was known before.
    /// - Throws: ``FeliCaError/malformed(_:_:)``.
    package init(_ frame: [UInt8], to command: CommandCode, from idm: IDm?) throws(FeliCaError) {
        self.command = command
        guard let declared = frame.first else { throw .malformed(command, .empty) }
        guard Int(declared) == frame.count else {
            throw .malformed(command, .length(declared: Int(declared), received: frame.count))
        }
        reader = ByteReader(frame[1...])
        let expected = command.response
        let code = expected.rawValue > 0xFF ? try uint16(.big) : UInt16(try uint8())
        guard code == expected.rawValue else { throw flaw(.responseCode(code)) }
        guard let idm else { return }
        let sender = try idmField()
        guard sender == idm else { throw flaw(.idm(sender)) }
    }

    /// The number of bytes left.
    public var remaining: Int { reader.remaining }

    /// Returns the error for a fault in this answer.
    public func flaw(_ flaw: FeliCaError.Reason) -> FeliCaError { .malformed(command, flaw) }

    /// Reads the next `count` bytes; none for a count below 1.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)`` if fewer are left.
    public mutating func bytes(_ count: Int) throws(FeliCaError) -> ArraySlice<UInt8> {
        guard let field = try? reader.readBytes(count) else {
            throw flaw(.tooShort(missing: count - remaining))
        }
        return field
    }

    /// Reads one byte.
    public mutating func uint8() throws(FeliCaError) -> UInt8 {
        try bytes(1).reduce(0) { $0 | $1 }
    }

    /// Reads two bytes.
    package mutating func uint16(_ order: ByteOrder) throws(FeliCaError) -> UInt16 {
        let field = try bytes(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        return order == .big ? field : field.byteSwapped
    }

    /// Reads the eight bytes of an IDm.
    package mutating func idmField() throws(FeliCaError) -> IDm {
        IDm(rawValue: try bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Reads a two-byte code, least significant byte first as node codes are on the wire.
    public mutating func code<Code: FourDigitCode>(_ type: Code.Type) throws(FeliCaError) -> Code {
        Code(rawValue: try uint16(.little))
    }

    /// Reads a key version; `FFFF` means that there is none.
    public mutating func keyVersion() throws(FeliCaError) -> KeyVersion? {
        let version = try uint16(.little)
        return version == 0xFFFF ? nil : KeyVersion(rawValue: version)
    }

    /// Reads `count` entries of one kind.
    package mutating func list<Element>(
        _ count: Int, _ element: (inout AnswerReader) throws(FeliCaError) -> Element
    ) throws(FeliCaError) -> [Element] {
        var elements: [Element] = []
        while elements.count < count { elements.append(try element(&self)) }
        return elements
    }

    /// Reads a count byte that must match the request.
    public mutating func expectCount(_ expected: Int) throws(FeliCaError) {
        let received = Int(try uint8())
        guard received == expected else { throw flaw(.count(expected: expected, received: received)) }
    }

    /// Reads everything that is left.
    public mutating func rest() -> [UInt8] { Array(reader.readRest()) }

    /// Reads the Status Flags without checking them.
    public mutating func statusFlags() throws(FeliCaError) -> StatusFlags {
        StatusFlags(try uint8(), try uint8())
    }

    /// Reads the Status Flags and continues only if Status Flag 1 is 00.
    ///
    /// - Throws: ``FeliCaError/status(_:)`` for any other, whatever follows it, and for Status Flags `00 xx` (xx not 00)
    ///   with no byte after them, which amount to a refusal.
    public mutating func expectSuccess() throws(FeliCaError) {
        let flags = try statusFlags()
        if flags.flag1 == 0, flags.flag2.rawValue == 0 || remaining > 0 { return }
        throw .status(flags)
    }

    /// Checks that nothing is left.
    public func expectEnd() throws(FeliCaError) {
        guard remaining == 0 else { throw flaw(.trailingBytes(extra: remaining)) }
    }
}
