// SPDX-License-Identifier: Apache-2.0

/// The named values of a JSON object, in order; a name stands at most once.
public struct JSONObject: Hashable, Sendable {
    /// The names and values in order.
    public private(set) var members: [Member]

    /// One name and its value.
    public struct Member: Hashable, Sendable {
        /// The name.
        public let key: String
        /// What it names.
        public var value: JSONValue
    }

    /// An object of these members; of a name that stands twice the last value counts, at the first place.
    public init(_ members: [(String, JSONValue)] = []) {
        // Not by the subscript, which looks through all members each time: a document may have very many.
        self.members = []
        self.members.reserveCapacity(members.count)
        var places: [String: Int] = [:]
        for (key, value) in members {
            if let place = places[key] {
                self.members[place].value = value
            } else {
                places[key] = self.members.count
                self.members.append(Member(key: key, value: value))
            }
        }
    }

    /// The value of `key`; setting appends or replaces, setting `nil` removes.
    public subscript(key: String) -> JSONValue? {
        get { members.first { $0.key == key }?.value }
        set {
            let place = members.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Adds the members of `other` whose names are not there yet.
    public mutating func merge(_ other: JSONObject) {
        let known = Set(members.map(\.key))
        members += other.members.filter { !known.contains($0.key) }
    }

    /// All but the members with these names.
    public func without(_ keys: Set<String>) -> JSONObject {
        var rest = self
        rest.members.removeAll { keys.contains($0.key) }
        return rest
    }
}
