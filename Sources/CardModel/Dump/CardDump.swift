// SPDX-License-Identifier: Apache-2.0

/// All that was read from one card: the document `kazasu.dump/1`, the waist between reading and decoding.
///
/// Members that this version does not know are kept in the `extra` of their level and written again.
public struct CardDump: Hashable, Sendable {
    /// The value of the document's `schema` member.
    public static let schema = "kazasu.dump/1"

    /// The program that read the card, as in `kazasu 0.1.0`; `nil` when the document does not say.
    public var tool: String?
    /// When the card was read, ISO 8601 with the offset from UTC; `nil` when the document does not say.
    public var readAt: String?
    /// The reader's ID; `nil` when the document does not say.
    public var reader: String?
    /// Whether everything was read that can be read without a key.
    public var complete: Bool
    /// What was not read although it could have been.
    public var missing: [MissingPart]
    /// What the reader learnt of the card when it found it.
    public var card: CardIdentity
    /// The FeliCa systems in the card's order; empty for other cards.
    public var systems: [SystemDump]
    /// The applications of an ISO 7816 card in the order in which they were read; empty for other cards.
    public var applications: [ApplicationDump]
    /// The memory of a Type 2 Tag; `nil` for other cards.
    public var type2: Type2Dump?
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// A dump of a card.
    public init(
        tool: String? = nil, readAt: String? = nil, reader: String? = nil, complete: Bool = true,
        missing: [MissingPart] = [], card: CardIdentity, systems: [SystemDump] = [],
        applications: [ApplicationDump] = [], type2: Type2Dump? = nil, extra: JSONObject = JSONObject()
    ) {
        self.tool = tool
        self.readAt = readAt
        self.reader = reader
        self.complete = complete
        self.missing = missing
        self.card = card
        self.systems = systems
        self.applications = applications
        self.type2 = type2
        self.extra = extra
    }

    /// The first system with this code.
    public func system(_ code: SystemCode) -> SystemDump? {
        systems.first { $0.systemCode == code }
    }

    /// The first application with this name; the master file for `nil`.
    public func application(_ aid: AID?) -> ApplicationDump? {
        applications.first { $0.aid == aid }
    }

    /// The blocks that were read of a service, by block number; `nil` when the service is not in the dump.
    public func blocks(_ system: SystemCode, _ service: ServiceCode) -> BlockTable? {
        self.system(system)?.service(service)?.blocks
    }
}
