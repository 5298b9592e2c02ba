// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import MQTT

/// An event as the collector stores it.
package struct CollectedEvent: Hashable, Sendable {
    /// The reader that it is about, by the names in the event.
    package struct Source: Hashable, Comparable, Sendable {
        package var site: String
        package var reader: String

        package static func < (one: Source, other: Source) -> Bool {
            (one.site, one.reader) < (other.site, other.reader)
        }
    }

    /// A UUID in lower case; those of one reader grow.
    package var id: String
    package var source: Source
    package var sequence: Int
    package var type: String
    /// In UTC with milliseconds, so that texts sort as times.
    package var at: String
    /// The whole document, without a byte order mark.
    package var body: String
    /// Site and reader as in topics.
    package var topicSite: String
    package var topicReader: String

    /// Why a message is not stored.
    package enum Malformed: String, Error, Sendable {
        case topic, notJSON, schema, id, site, reader, seq, type, at, tooLong
        /// The database does not accept it.
        case database
        /// Another event, of this or another reader, is stored with this id.
        case idInUse
    }

    /// The longest event in bytes, ten times that of a long history.
    package static let longest = 1 << 18

    /// Reads a message from a topic `PREFIX/SITE/READER/event`.
    ///
    /// A broker's rules are about topics, so that the names in the document must be those of its topic.
    package init(_ message: MQTTMessage, prefix: String) throws(Malformed) {
        guard let (site, reader) = Self.names(message.topic, prefix: prefix) else { throw .topic }
        (topicSite, topicReader) = (site, reader)
        guard message.payload.count <= Self.longest else { throw .tooLong }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let payload = message.payload.dropFirst(message.payload.starts(with: mark) ? mark.count : 0)
        guard let document = try? JSONValue(parsing: Array(payload)), case .object(let members) = document,
            let text = String(validating: payload, as: UTF8.self)
        else { throw .notJSON }
        body = text
        func string(_ key: String) -> String? {
            guard case .string(let text)? = members[key], !text.isEmpty, !text.utf8.contains(0), text.utf8.count <= 1000
            else { return nil }
            return text
        }
        guard string("schema") == "kazasu.tap/1" else { throw .schema }
        guard let id = string("id")?.lowercased(), Self.isUUID(id) else { throw .id }
        self.id = id
        guard let named = string("site"), MQTTTopics.name(named) == site else { throw .site }
        guard let named = string("reader"), MQTTTopics.reader(named) == reader else { throw .reader }
        source = Source(site: string("site") ?? site, reader: named)
        guard case .integer(let number)? = members["seq"], number > 0, number < Int64.max else { throw .seq }
        sequence = Int(number)
        guard let type = string("type") else { throw .type }
        self.type = type
        guard let at = string("at").flatMap(Timestamp.init) else { throw .at }
        self.at = at.text(.utc)
    }

    /// Whether it is the same event, received again.
    func isSame(_ other: CollectedEvent) -> Bool { source == other.source && sequence == other.sequence }

    static func names(_ topic: String, prefix: String) -> (site: String, reader: String)? {
        guard topic.hasPrefix(prefix + "/") else { return nil }
        let levels = topic.dropFirst(prefix.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3, levels[2] == "event", !levels[0].isEmpty, !levels[1].isEmpty else { return nil }
        return (String(levels[0]), String(levels[1]))
    }

    static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } }
    }
}
