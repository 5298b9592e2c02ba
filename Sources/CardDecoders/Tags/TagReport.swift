// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NDEF

/// What a dump says of an NFC Forum tag: its type, what is in it, and what room there is.
public struct TagReport: Hashable, Sendable {
    /// The number of the tag's type: 2, 3 or 4.
    public var type: Int
    /// The product; `nil` when it is not known.
    public var product: String?
    /// The state of the NDEF message.
    public var ndef: NDEFState
    /// What is special to Type 2 Tags.
    public var type2: Type2Report?
    /// The attribute information of a Type 3 Tag.
    public var type3: Type3Attributes?
    /// The Capability Container of a Type 4 Tag.
    public var type4: Type4Capability?
    /// What is special to FeliCa Lite and Lite-S.
    public var lite: LiteReport?

    /// The state of a tag's NDEF message.
    public enum NDEFState: Hashable, Sendable {
        /// There is a message, of these bytes and within this room; empty when there is only the room.
        case message([UInt8], capacity: Int, isWritable: Bool)
        /// There is none, for this reason; the words are those of the reading layer.
        case none(String)
    }

    /// The tag in a dump; `nil` when the dump is of no tag.
    public init?(_ dump: CardDump) {
        if let memory = dump.type2 {
            self.init(type2: memory)
        } else if let files = AID(hexadecimal: "D2760000850101").flatMap({ dump.application($0) }) {
            self.init(type4: files)
        } else if let blocks = TagReport.type3Blocks(dump) {
            self.init(type3: blocks)
            lite = LiteReport(dump)
        } else if let lite = LiteReport(dump) {
            // The same product and memory as a Type 3 Tag's, but without the system by which readers find one.
            self.init(type: 3, ndef: .none("notAnnounced"))
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
        self.init(type: 3, ndef: .none("notRead"))
        guard let first = blocks[0] else { return }
        let attributes = Type3Attributes(first)
        type3 = attributes
        ndef = TagReport.state(attributes, blocks)
    }

    private static func state(_ attributes: Type3Attributes, _ blocks: BlockTable) -> NDEFState {
        guard attributes.isChecksumRight else { return .none("checksum") }
        guard attributes.majorVersion == 1 else { return .none("unknownVersion") }
        guard !attributes.isBeingWritten else { return .none("halfWritten") }
        guard attributes.length <= attributes.capacity else { return .none("lengthBeyondEnd") }
        var bytes: [UInt8] = []
        for number in 1...UInt16.max where bytes.count < attributes.length {
            guard let block = blocks[number] else { return .none("notRead") }
            bytes += block.bytes
        }
        return .message(
            Array(bytes.prefix(attributes.length)), capacity: attributes.capacity, isWritable: attributes.isWritable)
    }

    private init(type4 files: ApplicationDump) {
        self.init(type: 4, ndef: .none("notRead"))
        guard let bytes = files.file(FileIdentifier(rawValue: 0xE103))?.data else { return }
        guard let capability = Type4Capability(bytes), let file = capability.ndefFile else {
            ndef = .none("brokenCapability")
            return
        }
        type4 = capability
        ndef = TagReport.state(capability, file, files.file(file.id)?.data)
    }

    private static func state(
        _ capability: Type4Capability, _ file: Type4Capability.File, _ data: [UInt8]?
    ) -> NDEFState {
        guard (1...3).contains(capability.majorVersion) else { return .none("unknownVersion") }
        guard file.isReadable else { return .none("notReadable") }
        guard let data, data.count >= file.lengthBytes else { return .none("notRead") }
        let length = data.prefix(file.lengthBytes).reduce(0) { $0 << 8 | Int($1) }
        guard length <= file.capacity else { return .none("lengthBeyondEnd") }
        let message = data.dropFirst(file.lengthBytes).prefix(length)
        guard message.count == length else { return .none("notRead") }
        return .message(Array(message), capacity: file.capacity, isWritable: file.isWritable)
    }
}
