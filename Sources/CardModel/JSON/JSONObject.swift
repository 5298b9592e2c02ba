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
        var builder = Builder(capacity: members.count)
        for (key, value) in members { builder.add(key, value, replacing: true) }
        self = builder.object
    }

    /// Collects members without looking through all of them each time: a document may have very many.
    struct Builder {
        private(set) var object: JSONObject
        /// Where each name stands, once there are so many that looking is slower than hashing.
        private var places: [String: Int] = [:]

        private static let few = 24

        init(capacity: Int = 0) {
            object = JSONObject(empty: ())
            object.members.reserveCapacity(capacity)
        }

        /// Adds a member; of a name that is there already the first value counts, or the last when it is replaced.
        mutating func add(_ key: String, _ value: JSONValue, replacing: Bool = false) {
            if let place = place(of: key) {
                if replacing { object.members[place].value = value }
                return
            }
            object.members.append(Member(key: key, value: value))
            if object.members.count == Builder.few {
                for (index, member) in object.members.enumerated() { places[member.key] = index }
            } else if object.members.count > Builder.few {
                places[key] = object.members.count - 1
            }
        }

        private func place(of key: String) -> Int? {
            object.members.count < Builder.few ? object.members.firstIndex { $0.key == key } : places[key]
        }
    }

    private init(empty: ()) {
        members = []
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

    /// All but the members with these names, which are few.
    public func without(_ keys: [String]) -> JSONObject {
        var rest = JSONObject(empty: ())
        for member in members where !keys.contains(member.key) { rest.members.append(member) }
        return rest
    }
}
