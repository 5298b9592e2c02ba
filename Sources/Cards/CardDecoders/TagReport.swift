// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
package import NDEF

/// An NFC Forum tag decoded from a dump: its type, its contents and its capacity.
package struct TagReport: Hashable, Sendable {
    /// The tag type: 2, 3 or 4.
    package var type: Int
    /// The product; `nil` when unknown.
    package var product: String?
    /// The state of the NDEF message.
    package var ndef: NDEFState
    /// Details specific to Type 2 Tags.
    package var type2: Type2Report?
    /// The attribute information of a Type 3 Tag.
    package var type3: Type3Attributes?
    /// The Capability Container of a Type 4 Tag.
    package var type4: Type4Capability?
    /// Details specific to FeliCa Lite and Lite-S.
    package var lite: LiteReport?

    /// The state of a tag's NDEF message.
    package enum NDEFState: Hashable, Sendable {
        /// The bytes of the message and the capacity for it; no bytes when the tag is formatted but holds no message.
        case message([UInt8], capacity: Int, isWritable: Bool)
        /// There is no message, for this reason.
        case none(NDEFAbsence)
    }

    /// Decodes the tag in a dump; `nil` when the dump is not of a tag.
    ///
    /// - Parameter hasKey: whether the writer is to have the key of the tag.
    package init?(_ dump: CardDump, hasKey: Bool = false) {
        if let memory = dump.type2 {
            self.init(type2: memory, hasKey: hasKey)
        } else if let files = AID("D2760000850101").flatMap({ dump.application($0) }) {
            self.init(type4: files)
        } else if let blocks = TagReport.type3Blocks(dump) {
            self.init(type3: blocks)
            lite = LiteReport(dump)
        } else if let lite = LiteReport(dump) {
            // Same product and memory as a Type 3 Tag, but without the system by which readers find one.
            self.init(type: 3, ndef: .none(.notAnnounced))
            self.lite = lite
        } else {
            return nil
        }
        if let lite { product = lite.name }
    }

    init(type: Int, ndef: NDEFState) {
        self.type = type
        self.ndef = ndef
    }

    /// The blocks of the NDEF system; FeliCa Lite has one memory for both its systems.
    private static func type3Blocks(_ dump: CardDump) -> BlockTable? {
        guard let system = dump.system(.ndef) else { return nil }
        for code in [0x000B, 0x0009] as [UInt16] {
            for holder in [SystemCode.ndef, .lite] where dump.system(holder)?.idm == system.idm {
                let blocks = dump.blocks(holder, ServiceCode(rawValue: code))
                if let blocks, blocks[0] != nil { return blocks }
            }
        }
        return nil
    }

    private init(type3 blocks: BlockTable) {
        self.init(type: 3, ndef: .none(.notRead))
        guard let first = blocks[0] else { return }
        let attributes = Type3Attributes(first)
        type3 = attributes
        ndef = TagReport.state(attributes, blocks)
    }

    private static func state(_ attributes: Type3Attributes, _ blocks: BlockTable) -> NDEFState {
        guard attributes.isChecksumRight else { return .none(.checksum) }
        guard attributes.majorVersion == 1 else { return .none(.unknownVersion) }
        guard !attributes.isBeingWritten else { return .none(.halfWritten) }
        guard attributes.length <= attributes.capacity else { return .none(.lengthBeyondEnd) }
        var bytes: [UInt8] = []
        for number in 1...UInt16.max {
            if bytes.count >= attributes.length { break }
            guard let block = blocks[number] else { return .none(.notRead) }
            bytes += block.bytes
        }
        return .message(
            Array(bytes.prefix(attributes.length)), capacity: attributes.capacity, isWritable: attributes.isWritable)
    }

    private init(type4 files: ApplicationDump) {
        self.init(type: 4, ndef: .none(.notRead))
        guard let bytes = files.file(FileIdentifier(rawValue: 0xE103))?.data else { return }
        guard let capability = Type4Capability(bytes), let file = capability.ndefFile else {
            ndef = .none(.brokenCapability)
            return
        }
        type4 = capability
        // 6982: the card lets nobody read it without a key, whatever its Capability Container says.
        let isClosed = files.file(file.id).map { $0.state == .keyRequired || $0.state == .refused(status: 0x6982) }
        ndef = isClosed == true ? .none(.notReadable) : TagReport.state(capability, file, files.file(file.id)?.data)
    }

    private static func state(
        _ capability: Type4Capability, _ file: Type4Capability.File, _ data: [UInt8]?
    ) -> NDEFState {
        guard (1...3).contains(capability.majorVersion) else { return .none(.unknownVersion) }
        guard file.isReadable else { return .none(.notReadable) }
        guard let data, data.count >= file.lengthBytes else { return .none(.notRead) }
        let length = data.prefix(file.lengthBytes).reduce(0) { $0 << 8 | Int($1) }
        guard length <= file.capacity else { return .none(.lengthBeyondEnd) }
        let message = data.dropFirst(file.lengthBytes).prefix(length)
        guard message.count == length else { return .none(.notRead) }
        return .message(Array(message), capacity: file.capacity, isWritable: file.isWritable)
    }
}

extension TagReport {
    /// The tag as fields of a card report: its type, then its message record by record.
    var fields: [CardField] { (type2?.fields ?? []) + (type4?.fields ?? []) + messageFields }

    private var messageFields: [CardField] {
        switch ndef {
        case .none where type == 3: return []
        case .none(let reason):
            return [
                CardField(
                    key: "message", name: LocalizedText("NDEF message", "NDEFメッセージ"), value: reason.rawValue,
                    label: LocalizedText("none (\(reason.rawValue))", "なし（\(reason.rawValue)）"), isPersonal: false)
            ]
        case .message(let bytes, let capacity, let isWritable):
            // A Type 3 Tag reports this in the fields of its attributes.
            var fields: [CardField] =
                type == 3
                ? []
                : [
                    .number("capacity", "Message capacity, bytes", "メッセージの容量（バイト）", capacity),
                    .flag("writable", "Writable", "書き込み可", isWritable),
                ]
            guard !bytes.isEmpty else { return fields }
            do throws(NDEFError) {
                let message = try NDEFMessage(decoding: bytes, allowingTrailingBytes: true)
                for (place, record) in message.records.enumerated() {
                    fields.append(
                        CardField(
                            key: "record\(place + 1)",
                            name: LocalizedText("Record \(place + 1)", "レコード \(place + 1)"), value: record.summary,
                            isPersonal: true))
                }
            } catch {
                fields.append(
                    CardField(
                        key: "message", name: LocalizedText("NDEF message", "NDEFメッセージ"),
                        value: error.reason.rawValue,
                        label: LocalizedText("malformed (\(error.reason.rawValue))", "不正（\(error.reason.rawValue)）"),
                        isPersonal: false))
            }
            return fields
        }
    }
}

extension Type2Report {
    fileprivate var fields: [CardField] {
        func field(_ key: String, _ english: String, _ japanese: String, _ value: String) -> CardField {
            CardField(key: key, name: LocalizedText(english, japanese), value: value, isPersonal: false)
        }
        var fields: [CardField] = []
        if let uid = memory.uid {
            fields.append(
                CardField(
                    key: "uid", name: LocalizedText("UID", "UID"), value: Hex.encode(uid, uppercase: true),
                    isPersonal: true))
        }
        if let product { fields.append(field("product", "Product", "製品", product.name)) }
        if let page = memory[3] {
            fields.append(field("page3", "Page 03 (CC or OTP)", "ページ03 (CCまたはOTP)", Hex.encode(page, uppercase: true)))
        }
        if locks.staticBytes != nil {
            let pages = locks.pages.map { Type2Dump.name(of: $0) }.joined(separator: " ")
            fields.append(field("lockedPages", "Locked pages", "ロック済みページ", pages.isEmpty ? "-" : pages))
        }
        for (number, count) in counters.sorted(by: { $0.key < $1.key }) {
            fields.append(.number("counter\(number)", "Counter \(number)", "カウンター \(number)", count))
        }
        fields.append(.flag("signature", "Has a signature (not verified)", "署名あり（未検証）", signature != nil))
        return fields
    }
}

extension Type4Capability {
    fileprivate var fields: [CardField] {
        [
            CardField(
                key: "version", name: LocalizedText("Version", "バージョン"), value: "\(majorVersion).\(minorVersion)",
                isPersonal: false),
            .number("mle", "Maximum bytes per read (MLe)", "最大読み取りバイト数（MLe）", longestRead),
            .number("mlc", "Maximum bytes per write (MLc)", "最大書き込みバイト数（MLc）", longestWrite),
        ]
    }
}

/// A FeliCa Lite or Lite-S decoded from a dump; it is a Type 3 Tag only while it announces NDEF.
package struct LiteReport: Hashable, Sendable {
    /// Whether it is a Lite-S, judged by its IC code or by blocks that FeliCa Lite lacks.
    package var isLiteS: Bool
    /// The user blocks that were read, among 0 to 13, without those that need the card key.
    package var userBlocks: [Int]
    /// The data format code, which identifies the issuer; `nil` when it was not read.
    package var dataFormatCode: UInt16?
    /// The memory configuration, which says what can be changed; `nil` when it was not read.
    package var configuration: LiteMemoryConfiguration?

    /// The product name.
    package var name: String { isLiteS ? "FeliCa Lite-S" : "FeliCa Lite" }

    /// The issuer, looked up by the data format code; `nil` when the code is in no table.
    package var issuer: LocalizedText? { dataFormatCode.flatMap { DecoderTables.liteIssuers[$0] } }

    /// The number of blocks available to the user, without REG.
    package static let userBlockCount = 14

    /// Decodes the card in a dump; `nil` when no block of its system was read.
    package init?(_ dump: CardDump) {
        let blocks = [0x000B, 0x0009].lazy.compactMap { dump.blocks(.lite, ServiceCode(rawValue: $0)) }.first {
            !$0.isEmpty
        }
        guard let blocks else { return nil }
        switch dump.card.pmm?.icType {
        case 0xF0: isLiteS = false
        case 0xF1, 0xF2: isLiteS = true
        default: isLiteS = blocks[0x90] != nil
        }
        userBlocks = blocks.numbers.map { Int($0) }.filter { $0 < LiteReport.userBlockCount }
        dataFormatCode = blocks[0x82].map { LiteIDBlock($0).format }
        configuration = blocks[0x88].map { [isLiteS] in LiteMemoryConfiguration($0, isLiteS: isLiteS) }
    }
}

/// The contents of a Type 2 Tag other than its NDEF message.
package struct Type2Report: Hashable, Sendable {
    /// The pages that were read.
    package var memory: Type2Memory
    /// The product, identified by its version or by the reader; `nil` when unknown.
    package var product: Type2Product?
    /// The answer to GET_VERSION; `nil` when the tag gave none.
    package var version: [UInt8]?
    /// The answer to READ_SIG; `nil` when the tag gave none.
    package var signature: [UInt8]?
    /// The counters, keyed by number.
    package var counters: [UInt8: UInt32]
    /// Commands that the reader did not pass on, so that the tag could not be queried, as in `GET_VERSION`.
    package var notAsked: [String]
    /// The layout of the data area; `nil` without a Capability Container that can be interpreted.
    package var layout: Type2Layout?
    /// The locked pages.
    package var locks: Type2Locks
    /// The access configuration; `nil` when the product has no such pages or they were not read.
    package var configuration: Type2Configuration?

    /// Decodes the tag in a dump.
    package init(_ dump: Type2Dump) {
        memory = Type2Memory(dump)
        version = dump.version
        signature = dump.signature
        counters = dump.counters
        notAsked = dump.notAsked
        product = dump.version.flatMap(Type2Product.of) ?? dump.product.flatMap(Type2Product.named)
        if let capability = memory.capability, capability.isSupported {
            layout = Type2Layout(capability, memory: memory)
        }
        locks = Type2Locks(memory: memory, product: product, layout: layout)
        configuration = product.flatMap { [memory] in
            Type2Configuration(memory: memory, product: $0) ?? Type2Report.refusal($0, dump)
        }
    }
}

extension Type2Report {
    /// The configuration to assume when reading was refused at or before its pages: protection starts there.
    private static func refusal(_ product: Type2Product, _ dump: Type2Dump) -> Type2Configuration? {
        guard let page = dump.closedFrom, let configuration = product.configurationPage, page <= configuration &+ 1
        else { return nil }
        return Type2Configuration(refusedFrom: page)
    }
}

extension TagReport {
    init(type2 dump: Type2Dump, hasKey: Bool) {
        let report = Type2Report(dump)
        self.init(type: 2, ndef: TagReport.state(report, hasKey: hasKey))
        product = report.product?.name
        type2 = report
    }

    private static func state(_ report: Type2Report, hasKey: Bool) -> NDEFState {
        guard report.memory[3] != nil else { return .none(.notRead) }
        guard let capability = report.memory.capability else { return .none(.notFormatted) }
        guard let layout = report.layout else { return .none(.unknownVersion) }
        guard capability.readAccess == 0 || capability.readAccess == Type2Capability.accessWithKey else {
            return .none(.notReadable)
        }
        guard let message = layout.message else {
            switch layout.end {
            case .unreadable(let address):
                let page = UInt16(clamping: address / Type2Memory.pageSize)
                let isClosed = report.configuration.map { $0.protectsReading && $0.protects(page) } ?? false
                return .none(isClosed || capability.readAccess != 0 ? .notReadable : .notRead)
            case .lengthBeyondEnd: return .none(.lengthBeyondEnd)
            case .terminator, .dataArea, .message: return .none(.noMessageBlock)
            }
        }
        // The pages that a message of this length needs.
        let pages = Type2WritePlan.pages(layout, length: message.value.count)
        let isWritable =
            (capability.writeAccess == 0 || hasKey && capability.writeAccess == Type2Capability.accessWithKey)
            && !pages.contains { report.locks.pages.contains($0) }
            && (hasKey || !pages.contains { report.configuration?.protects($0) == true })
        return .message(message.value, capacity: Type2WritePlan.capacity(layout), isWritable: isWritable)
    }
}
