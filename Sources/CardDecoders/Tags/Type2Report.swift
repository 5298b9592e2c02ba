// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NDEF

/// What a dump says of a Type 2 Tag beside its NDEF message.
public struct Type2Report: Hashable, Sendable {
    /// The pages that were read.
    public var memory: Type2Memory
    /// The product, by its version or as the reader found out; `nil` when it is not known.
    public var product: Type2Product?
    /// The answer to GET_VERSION; `nil` when the tag gave none.
    public var version: [UInt8]?
    /// The answer to READ_SIG; `nil` when the tag gave none.
    public var signature: [UInt8]?
    /// The counters by number.
    public var counters: [UInt8: UInt32]
    /// Commands that the reader did not pass on, so that the tag could not be asked, as in `GET_VERSION`.
    public var notAsked: [String]
    /// How the data area is divided; `nil` without a Capability Container that can be followed.
    public var layout: Type2Layout?
    /// Which pages are locked.
    public var locks: Type2Locks
    /// Who may do what; `nil` when the product has no such pages, or they were not read.
    public var configuration: Type2Configuration?

    /// The tag in a dump.
    public init(_ dump: Type2Dump) {
        memory = Type2Memory(dump)
        version = dump.version
        signature = dump.signature
        counters = dump.counters
        notAsked = []
        if case .array(let names)? = dump.extra["notAsked"] {
            notAsked = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
        }
        product = dump.version.flatMap(Type2Product.of)
        if product == nil, case .string(let name)? = dump.extra["product"] { product = Type2Product.named(name) }
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
    /// Where reading was refused before the configuration: there the protection begins.
    private static func refusal(_ product: Type2Product, _ dump: Type2Dump) -> Type2Configuration? {
        guard case .string(let text)? = dump.extra["closedFrom"], let page = UInt16(text, radix: 16),
            let configuration = product.configurationPage, page <= configuration &+ 1
        else { return nil }
        return Type2Configuration(refusedFrom: page)
    }
}

extension TagReport {
    init(type2 dump: Type2Dump) {
        let report = Type2Report(dump)
        self.init(type: 2, ndef: TagReport.state(report))
        product = report.product?.name
        type2 = report
    }

    private static func state(_ report: Type2Report) -> NDEFState {
        guard report.memory[3] != nil else { return .none("notRead") }
        guard let capability = report.memory.capability else { return .none("notFormatted") }
        guard let layout = report.layout else { return .none("unknownVersion") }
        guard capability.readAccess == 0 || capability.readAccess == Type2Capability.accessWithKey else {
            return .none("notReadable")
        }
        guard let message = layout.message else {
            switch layout.end {
            case .unreadable(let address):
                let page = UInt16(clamping: address / Type2Memory.pageSize)
                let isClosed = report.configuration.map { $0.protectsReading && $0.protects(page) } ?? false
                return .none(isClosed || capability.readAccess != 0 ? "notReadable" : "notRead")
            case .lengthBeyondEnd: return .none("lengthBeyondEnd")
            case .terminator, .dataArea, .message: return .none("noMessageBlock")
            }
        }
        // What a message of this length takes, whoever has no key.
        let pages = Type2WritePlan.pages(layout, length: message.value.count)
        let isWritable =
            capability.writeAccess == 0 && !pages.contains { report.locks.pages.contains($0) }
            && !pages.contains { report.configuration?.protects($0) == true }
        return .message(message.value, capacity: Type2WritePlan.capacity(layout), isWritable: isWritable)
    }
}
