// SPDX-License-Identifier: Apache-2.0

import CardModel

/// A small dump that has every member of `kazasu.dump/1`, and how to change it.
enum DumpDocument {
    static let text = """
        {
          "schema": "kazasu.dump/1",
          "tool": "kazasu 0.1.0",
          "readAt": "2026-11-20T12:34:56+09:00",
          "reader": "pn532_uart:/dev/ttyUSB0",
          "complete": false,
          "missing": [
            {"system": "0003", "service": "090F", "fromBlock": "000A", "reason": "cardLost"},
            {"reason": "radioError"}
          ],
          "card": {"technology": "felica", "idm": "0101031234567890", "pmm": "0120220427674eff", "bitRate": 212},
          "felica": {
            "systems": [
              {
                "systemCode": "0003",
                "idm": "0101031234567890",
                "pmm": "0120220427674eff",
                "areas": [
                  {"start": "0000", "end": "FFFE", "keyVersion": "0001"},
                  {"start": "0040", "end": "07FF", "keyVersion": null}
                ],
                "services": [
                  {"code": "0048", "keyVersion": "0001", "state": "keyRequired", "blocks": {}},
                  {
                    "code": "090F",
                    "keyVersion": null,
                    "state": "lost",
                    "blocks": {"0000": "00112233445566778899aabbccddeeff", "00FF": "000102030405060708090a0b0c0d0e0f"}
                  },
                  {"code": "1009", "keyVersion": "0001", "state": "refused", "status": "01A6", "blocks": {}},
                  {"code": "100B", "keyVersion": "0001", "state": "refused", "status": null, "blocks": {}},
                  {"code": "100F", "keyVersion": "0001", "state": "skipped", "blocks": {}}
                ]
              }
            ]
          }
        }
        """

    /// A step on the way to a value.
    enum Step: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    /// The document with the value at `path` replaced, or removed for `nil`.
    static func changed(_ path: [Step], to value: JSONValue?) throws -> JSONValue {
        try change(JSONValue(parsing: Array(text.utf8)), path[...], value) ?? .null
    }

    private static func change(_ old: JSONValue?, _ path: ArraySlice<Step>, _ value: JSONValue?) -> JSONValue? {
        guard let step = path.first else { return value }
        switch (step, old) {
        case (.key(let key), .object(var object)?):
            object[key] = change(object[key], path.dropFirst(), value)
            return .object(object)
        case (.index(let index), .array(var array)?) where array.indices.contains(index):
            if let element = change(array[index], path.dropFirst(), value) {
                array[index] = element
            } else {
                array.remove(at: index)
            }
            return .array(array)
        default: return old
        }
    }

    /// A path as errors write it, read back: `felica.systems[0].idm`.
    static func steps(_ path: String) -> [Step] {
        path.split(separator: ".").flatMap { part in
            part.split { $0 == "[" || $0 == "]" }.enumerated().map { place, word in
                place == 0 ? .key(String(word)) : .index(Int(word) ?? 0)
            }
        }
    }
}
