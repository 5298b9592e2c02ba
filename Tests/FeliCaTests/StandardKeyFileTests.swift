// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa
import Testing

/// Files with keys of FeliCa Standard.
struct StandardKeyFileTests {
    private static let des = "0123456789abcdef"
    private static let aes = "00112233445566778899AABBCCDDEEFF"
    private static let other = "FEDCBA9876543210"
    private static let card = IDm(rawValue: 0x010A_4B00_1234_5678)
    private static let system = SystemCode(rawValue: 0x0003)
    private static let node = NodeCode(rawValue: 0x1408)

    private static func keys(_ files: String...) throws(DocumentError) -> StandardKeys {
        var keys = StandardKeys()
        for file in files { try keys.add(file: Array(file.utf8)) }
        return keys
    }

    private static func digits(_ key: StandardKey?) -> String? { key?.withBytes { Hex.encode($0) } }

    private static func digits(
        _ keys: StandardKeys, _ scheme: StandardScheme = .des, card: IDm = card, node: NodeCode = node
    ) -> String? {
        digits(keys.entry(node, in: system, scheme, card: card)?.key)
    }

    @Test(arguments: [
        "0003 1408 \(des)", "# a comment\n\n  0003\t1408\t\(des.uppercased())   # another\r\n", "3 0x1408 \(des) -",
        "0003 1408 \(des) 0102", "0003 1408 \(des) - 010A4B0012345678", "0003 1408 \(des) 0102 110a4b0012345678",
        "\u{FEFF}0003 1408 \(des)", "0003 1408 \(des)\n0003 1408 \(des)",
        #"{"system_code":"0003","node":"1408","algo":"DES","version":"0102","idm":null,"key":"\#(des)"}"#,
        #" { "key" : "\#(des)" , "algo":"DES", "extra": 12, "node":"1408", "system_code":"0003" } "#,
        "system_code,node,version,key\n0003,1408,258,\(des)", "system_code,node,version,key\r\n0003,1408,,\(des)\r\n",
    ])
    func formats(_ file: String) throws {
        let keys = try Self.keys(file)
        #expect(Self.digits(keys) == Self.des)
        #expect(Self.digits(keys, .aes) == nil)
        #expect(Self.digits(keys, node: NodeCode(rawValue: 0x1409)) == nil)
        let version = keys.entry(Self.node, in: Self.system, .des, card: Self.card)?.version
        #expect(version == (file.contains("0102") || file.contains("258") ? KeyVersion(rawValue: 0x0102) : nil))
        #expect(keys.hasKey(of: Self.node, in: Self.system, card: Self.card))
    }

    /// A node may have a key of each kind, a card's own goes before the shared one, and other cards do not get it.
    @Test func ownAndSharedKeys() throws {
        let keys = try Self.keys(
            "0003 1408 \(Self.des)\n0003 1408 \(Self.aes)\n0003 1408 \(Self.other) - 010A4B0012345678\n"
                + #"{"system_code":"0003","node":"FFFF","algo":"AES","version":"0001","idm":null,"key":"\#(Self.aes)"}"#
        )
        #expect(Self.digits(keys) == Self.other.lowercased())
        #expect(Self.digits(keys, card: IDm(rawValue: 0x210A_4B00_1234_5678)) == Self.other.lowercased())
        #expect(Self.digits(keys, card: IDm(rawValue: 0x010A_4B00_1234_5679)) == Self.des)
        #expect(Self.digits(keys, .aes) == Self.aes.lowercased())
        #expect(Self.digits(keys, .aes, node: .system) == Self.aes.lowercased())
    }

    @Test func derivedKeys() throws {
        let keys = try Self.keys(
            """
            0003 group 0000,1000:1408,1048 \(Self.des) \(Self.other)
            0003 group 0000:1408 \(Self.other) \(Self.des)
            0003 group 1408,1048 \(Self.aes)
            0003 individual 000102030405060708090A0B0C0D0E0F
            0003 individual 00000000000000000000000000000001 010A4B0012345678
            """)
        let lists = keys.groups(with: Self.node, in: Self.system, .des, card: Self.card)
        #expect(lists.map { $0.areas.map(\.description) } == [["0000"], ["0000", "1000"]])
        #expect(lists.map { $0.key.withBytes { Hex.encode($0) } }.first == Self.other.lowercased() + Self.des)
        let aes = keys.groups(with: Self.node, in: Self.system, .aes, card: Self.card)
        #expect(aes.map { $0.nodes.map(\.description) } == [["1408", "1048"]])
        #expect(aes.first?.key.withBytes { Hex.encode($0) } == "00112233445566778899aabbccddeefe")
        let shared = keys.groups(with: Self.node, in: Self.system, .aes, card: IDm(rawValue: 1))
        #expect(shared.first?.key.withBytes { Hex.encode($0) } == "00102030405060708090a0b0c0d0e0f0")
        #expect(Self.digits(keys) == nil)
        #expect(keys.hasKey(of: Self.node, in: Self.system, card: Self.card))
        #expect(!keys.hasKey(of: .system, in: Self.system, card: Self.card))
    }

    static let badLines = [
        "0003 1408", "0003", "0003 1408 \(des) 0001 010A4B0012345678 x", "0003 1408 \(des)0",
        "0003 1408 \(des.dropLast())",
        "0003 1408 \(des.dropLast())g", "0003 1408 \(des)\(des)00", "1G 1408 \(des)", "0003 14080 \(des)",
        "0003 1408 \(des) x", "0003 1408 \(des) 0001 010A4B00123456", "0003 1408 \(des) 0001 010A4B001234567G",
        "0003 group 0000:1408 \(des)", "0003 group 0000:1408 \(aes) \(aes)", "0003 group 0000:1408 \(des) \(aes)",
        "0003 group 1408 \(des)", "0003 group :1408 \(des) \(des)", "0003 group 0000: \(des) \(des)",
        "0003 group 0000,:1408 \(des) \(des)", "0003 group 0000:1408:1048 \(des) \(des)",
        "0003 group \(Array(repeating: "1408", count: 17).joined(separator: ",")) \(aes)", "0003 group 1408",
        "0003 individual \(des)", "0003 individual \(aes) x", "0003 individual", "0003,1408,1,\(des)", "{}", "{",
        #"{"system_code":"0003","node":"1408","algo":"AES","key":"\#(des)"}"#,
        #"{"system_code":"0003","node":"1408","key":"\#(des)"}"#,
        #"{"system_code":"0003","node":"1408","algo":"DES","key":"\#(des)"} x"#,
        #"{"system_code":"0003","node":"1408","algo":"DES","key":"\#(des)","key":"\#(des)"}"#,
        #"{"system_code":"0003","node":"1408","algo":"DES","version":"x","key":"\#(des)"}"#,
        #"{"system_code":"0003","node":"1408","algo":"D\u0045S","key":"\#(des)"}"#,
        "system_code,node,version,key\n0003,1408,1", "system_code,node,version,key\n0003,1408,F,\(des)",
        "system_code,node,version,key\n0003,1408,65536,\(des)", "system_code,node,version,key\n0003 1408 \(des)",
        "\u{0}\u{1}\u{2}", "鍵",
    ]

    /// Each names its line, and nothing that stands there.
    @Test(arguments: badLines)
    func badLine(_ line: String) {
        var keys = StandardKeys()
        do {
            try keys.add(file: Array("\n# comment\n\(line)\n".utf8))
            Issue.record("accepted: \(line)")
        } catch {
            guard case .malformedLine(let number, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(number == (line.hasPrefix("system_code") ? 4 : 3))
            let text = error.message.english + error.message.japanese
            #expect(!text.lowercased().contains(Self.des))
            #expect(!text.contains("1408"))
        }
    }

    /// A second, other key is refused, in the same file and in another one.
    @Test(arguments: [
        ("0003 1408 \(des)", "0003 1408 \(other)"),
        ("0003 1408 \(des) 0001", "0003 1408 \(des) 0002"),
        ("0003 1408 \(des) - 010A4B0012345678", "0003 1408 \(other) - 110A4B0012345678"),
        ("0003 group 0000:1408 \(des) \(des)", "0003 group 0000:1408 \(des) \(other)"),
        ("0003 group 1408 \(aes)", "0003 group 1408 \(other)\(other)"),
        ("0003 individual \(aes)", "0003 individual \(other)\(other)"),
    ])
    func otherKey(_ first: String, _ second: String) throws {
        let error = DocumentError.malformedLine(line: 2, expected: .init(.uniqueKey))
        #expect(throws: error) { try Self.keys(first + "\n" + second) }
        #expect(throws: DocumentError.malformedLine(line: 1, expected: .init(.uniqueKey))) {
            try Self.keys(first, second)
        }
        #expect(try !Self.keys(first, first).hasKey(of: .system, in: Self.system, card: Self.card))
    }

    @Test func tooLong() {
        let file = [UInt8](repeating: 0x0A, count: StandardKeys.longestFile + 1)
        var keys = StandardKeys()
        #expect(throws: DocumentError.self) { try keys.add(file: file) }
        #expect(keys.isEmpty)
    }

    /// Any bytes give keys or an error.
    @Test func anyBytes() throws {
        var generator = SeededGenerator(seed: 54)
        let signs = Array("0123456789ABCDEF \n\t,:{}\"#-groupindvalsytem_coke".utf8)
        var outcomes: Set<Bool> = []
        for _ in 0..<2_000 {
            let file = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                Bool.random(using: &generator) ? signs.randomElement(using: &generator) ?? 0 : 0x30
            }
            var keys = StandardKeys()
            outcomes.insert((try? keys.add(file: file)) != nil)
        }
        #expect(outcomes == [true, false])
    }
}
