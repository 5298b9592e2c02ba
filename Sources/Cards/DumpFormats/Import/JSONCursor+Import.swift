// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

extension JSONCursor {
    /// The value as an object, or `nil` for anything else.
    var objectIfAny: JSONObject? {
        if case .object(let object) = value { object } else { nil }
    }

    /// Returns the member `key`, or `nil` when the value is not an object or has no such member.
    func member(_ key: String) -> JSONCursor? {
        (try? optional(key)) ?? nil
    }

    /// Returns the first of these members that the object has.
    ///
    /// - Throws: ``CardModel/DocumentError/missing(key:)`` with the last of the names when it has none.
    func required(anyOf keys: String...) throws(DocumentError) -> JSONCursor {
        for key in keys { if let member = member(key) { return member } }
        return try required(keys.last ?? "")
    }

    var isArray: Bool {
        if case .array = value { true } else { false }
    }

    /// Decodes a code of four hexadecimal digits **in wire order**, low byte first: `0F09` is 090F.
    func wireCode<Code: FourDigitCode>(_ type: Code.Type = Code.self) throws(DocumentError) -> Code {
        Code(rawValue: try number(bytes(count: 2)[...], .little))
    }

    /// Decodes an area of eight hexadecimal digits in wire order: its code, then the end, each low byte first.
    func wireArea() throws(DocumentError) -> (start: AreaCode, end: AreaCode) {
        let bytes = try bytes(count: 4)
        return (
            AreaCode(rawValue: try number(bytes.prefix(2), .little)),
            AreaCode(rawValue: try number(bytes.suffix(2), .little))
        )
    }

    /// Decodes a code of four hexadecimal digits, high byte first, or `nil` for `null`.
    func keyVersion() throws(DocumentError) -> KeyVersion {
        if case .integer = value {
            return KeyVersion(rawValue: UInt16(truncatingIfNeeded: try integer(in: 0...0xFFFF)))
        }
        return try code()
    }

    /// Decodes bytes in hexadecimal or base64, distinguished by the length of the text.
    func bytesOrBase64(count: Int) throws(DocumentError) -> [UInt8] {
        let text = try text()
        if let bytes = try? Hex.decode(text), bytes.count == count { return bytes }
        if let bytes = Base64.decode(text), bytes.count == count { return bytes }
        throw malformed(.bytesInHexOrBase64, "\(count)")
    }

    /// Decodes a block in hexadecimal or base64.
    func block() throws(DocumentError) -> Block {
        guard let block = Block(try bytesOrBase64(count: 16)) else { throw malformed(.bytes, "16") }
        return block
    }

    /// Decodes blocks keyed by number, where the names are hexadecimal numbers.
    func blocksByHexNumber() throws(DocumentError) -> [(number: UInt16, block: Block)] {
        var blocks: [(UInt16, Block)] = []
        for (key, value) in try members() {
            guard key.utf8.count <= 5, key.utf8.allSatisfy({ Hex.value(of: $0) != nil }),
                let number = UInt16(key, radix: 16)
            else {
                throw value.malformed(.hexName, "4")
            }
            blocks.append((number, try value.block()))
        }
        return blocks.sorted { $0.0 < $1.0 }
    }

    /// Decodes a block number. FareBot and Metrodroid stored it in a signed byte, so 82 of a FeliCa Lite can be -126.
    func blockNumber() throws(DocumentError) -> UInt16 {
        let number = try integer(in: -128...0xFFFF)
        return number < 0 ? UInt16(UInt8(truncatingIfNeeded: number)) : UInt16(truncatingIfNeeded: number)
    }

    /// Converts a time in milliseconds since 1970 to ISO 8601.
    func moment() throws(DocumentError) -> String {
        // The year 9999 is the last with four digits in ISO 8601.
        Timestamp(milliseconds: try integer(in: 0...253_402_300_799_999)).utcText
    }

    /// Decodes a list of bytes written as signed numbers.
    func signedBytes(count: Int) throws(DocumentError) -> [UInt8] {
        var bytes: [UInt8] = []
        for element in try elements() { bytes.append(UInt8(truncatingIfNeeded: try element.integer(in: -128...255))) }
        guard bytes.count == count else { throw malformed(.byteList, "\(count)") }
        return bytes
    }

    /// Decodes a Type 2 Tag from `pages`, each with its `data` and optionally its `index`.
    ///
    /// Pages that could not be read have `isUnauthorized` or no data.
    func type2Tag(uid: JSONCursor, readAt: String?) throws(DocumentError) -> CardDump {
        var pages: [UInt16: [UInt8]] = [:]
        var isComplete = true
        for (place, page) in try required("pages").elements().enumerated() {
            let index = try page.optional("index")?.blockNumber() ?? UInt16(exactly: place)
            guard let index else { throw page.malformed(.atMostPages, "65536") }
            let data = try page.optional("data")
            let isClosed = try page.optional("isUnauthorized")?.bool() ?? false
            guard let data, !isClosed, try data.text() != "" else {
                isComplete = false
                continue
            }
            guard pages.updateValue(try data.bytesOrBase64(count: 4), forKey: index) == nil else {
                throw page.malformed(.uniquePage)
            }
        }
        guard !pages.isEmpty else { throw malformed(.onePage) }
        var identity = CardIdentity(technology: .typeA)
        // A 4-byte UID in base64 is as long as one in hexadecimal, but no 7-byte number is.
        if let bytes = try? uid.bytesOrBase64(count: 7) {
            identity.uid = bytes
        } else {
            identity.uid = try uid.bytesOrBase64(count: 4)
        }
        return CardDump(readAt: readAt, complete: isComplete, card: identity, type2: Type2Dump(pages: pages))
    }

    private func number(_ bytes: ArraySlice<UInt8>, _ order: ByteOrder) throws(DocumentError) -> UInt16 {
        var reader = ByteReader(bytes)
        guard let number = try? reader.readUInt16(order) else { throw malformed(.twoByteCode) }
        return number
    }
}

extension FourDigitCode {
    /// Creates a code from its decimal number, as written by Metrodroid and FareBot: `2319` is 090F.
    init?(decimal text: some StringProtocol) {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt16(text)
        else { return nil }
        self.init(rawValue: number)
    }

    /// The four digits in wire order: `0F09` for 090F.
    var wireDigits: String { Hex.encode(rawValue.byteSwapped, digits: 4) }
}
