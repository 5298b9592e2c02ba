// SPDX-License-Identifier: Apache-2.0

package import Kazasu

extension LicenseWarning {
    /// An element of `faults` in `kazasu.license/1`.
    package var json: JSONValue {
        [
            "file": .string(file.rawValue), "tag": .text(tag?.description), "reason": .string(reason.word),
            "message": .string(words),
        ]
    }
}

extension MyNumberWarning {
    /// An element of `faults` in `kazasu.mynumber/1`.
    package var json: JSONValue {
        [
            "file": .string(file.rawValue), "tag": .text(reason.tag), "reason": .string(reason.word),
            "message": .string(words),
        ]
    }
}

extension PassportWarning {
    /// An element of `faults` in `kazasu.passport/1`.
    package var json: JSONValue {
        ["file": .string(file.rawValue), "reason": .string(reason.word), "message": .string(words)]
    }
}

extension ResidenceWarning {
    /// An element of `faults` in `kazasu.residence/1`.
    package var json: JSONValue {
        ["file": .string(file.rawValue), "reason": .string(reason.word), "message": .string(words)]
    }
}
