// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
internal import NDEF

extension TagReport {
    /// The members of `kazasu.tag/1` after `card`, except what only a key reveals: `type`, `product`, `ndef` and those specific
    /// to the type.
    ///
    /// - Parameters:
    ///   - language: the language of names; keys and ids never change.
    ///   - originality: the check of the chip's signature; `nil` leaves it out.
    ///   - redact: returns the replacement for a personal value; `nil` shows everything, also the contents of records.
    package func members(
        _ language: Language, originality: JSONValue?, redact: ((String) -> String)? = nil
    ) -> JSONObject {
        var object = JSONObject([
            ("type", ndef == .none(.notAnnounced) ? .null : .int(type)), ("product", .text(product)),
            ("ndef", .object(ndefMembers(hidesContents: redact != nil))),
        ])
        object["originality"] = originality
        object["type2"] = type2.map { .object($0.members(redact ?? { $0 })) }
        object["type3"] = type3?.json
        object["lite"] = lite.map { .object($0.members(language)) }
        object["type4"] = type4?.json
        return object
    }

    private func ndefMembers(hidesContents: Bool) -> JSONObject {
        switch ndef {
        case .none(let reason): return JSONObject([("formatted", false), ("reason", .string(reason.rawValue))])
        case .message(let bytes, let capacity, let isWritable):
            var object = JSONObject([
                ("formatted", true), ("capacity", .int(capacity)), ("writable", .bool(isWritable)),
            ])
            object.merge(NDEFMessage.members(of: bytes, hidesContents: hidesContents))
            return object
        }
    }
}

extension NDEFMessage {
    /// Members of a document about the bytes of a message: `length`, `records`, and `error` when they cannot be read.
    ///
    /// - Parameter hidesContents: whether only the kinds of the records are shown.
    package static func members(of bytes: [UInt8], hidesContents: Bool) -> JSONObject {
        var object = JSONObject([("length", .int(bytes.count))])
        object["records"] = .array([])
        do throws(NDEFError) {
            let message =
                bytes.isEmpty ? NDEFMessage([]) : try NDEFMessage(decoding: bytes, allowingTrailingBytes: true)
            object["records"] = hidesContents ? .array(message.records.map(\.kindOnly)) : message.json
        } catch {
            object["error"] = .string(error.reason.rawValue)
        }
        return object
    }
}

extension NDEFRecord {
    /// The kind of the record, without its contents.
    fileprivate var kindOnly: JSONValue {
        [
            "kind": .text((try? content(allowingUndefinedPrefix: true))?.word), "tnf": .int(format.rawValue),
            "type": .string(format == .absoluteURI ? "" : typeText), "length": .int(payload.count),
        ]
    }
}

extension Type3Attributes {
    fileprivate var json: JSONValue {
        [
            "version": .string("\(majorVersion).\(minorVersion)"), "blocksPerRead": .int(blocksPerRead),
            "blocksPerWrite": .int(blocksPerWrite), "blockCount": .int(blockCount),
            "writeFlag": .string(Hex.encode([writeFlag])), "accessFlag": .string(Hex.encode([accessFlag])),
            "checksum": .bool(isChecksumRight),
        ]
    }
}

extension Type4Capability {
    fileprivate var json: JSONValue {
        [
            "version": .string("\(majorVersion).\(minorVersion)"), "longestRead": .int(longestRead),
            "longestWrite": .int(longestWrite),
            "files": .array(
                files.map { file in
                    [
                        "kind": .string("\(file.kind)"), "id": .string(file.id.description), "size": .int(file.size),
                        "read": .string(Hex.encode([file.readAccess])),
                        "write": .string(Hex.encode([file.writeAccess])),
                    ]
                }),
        ]
    }
}

extension Type2Report {
    fileprivate func members(_ redact: (String) -> String) -> JSONObject {
        var object = JSONObject([
            ("uid", .text(memory.uid.map { redact(Hex.encode($0)) })),
            ("version", .text(version.map { Hex.encode($0) })), ("pageCount", .optional(product?.pageCount)),
            ("userPages", product?.userPages.map { .array([.int($0.lowerBound), .int($0.upperBound)]) } ?? .null),
            ("page3", .text(memory[3].map { Hex.encode($0) })),
            ("staticLocks", .text(locks.staticBytes.map { Hex.encode($0) })),
            ("dynamicLocks", .text(locks.dynamicBytes.map { Hex.encode($0) })),
            ("lockedPages", .array(locks.pages.map { .int($0) })),
        ])
        if let configuration {
            object["protection"] = [
                "fromPage": .int(configuration.firstProtectedPage), "reading": .bool(configuration.protectsReading),
                "locked": configuration.isLocked.map { .bool($0) } ?? .null,
                "countsReads": configuration.countsReads.map { .bool($0) } ?? .null,
                "passwordTries": .optional(configuration.passwordTries),
            ]
        }
        if let mirror = configuration?.mirror {
            object["mirror"] = [
                "content": .string("\(mirror.content)"), "page": .int(mirror.page), "byte": .int(mirror.byte),
            ]
        }
        object["counters"] = .object(
            JSONObject(counters.sorted { $0.key < $1.key }.map { ("\($0.key)", .int($0.value)) }))
        object["signature"] = .text(signature.map { redact(Hex.encode($0)) })
        if !notAsked.isEmpty { object["notAsked"] = .array(notAsked.map { .string($0) }) }
        if let layout {
            object["tlvBlocks"] = .array(
                layout.blocks.map { block in
                    [
                        "tag": .string(Hex.encode([block.tag.rawValue], uppercase: true)),
                        "address": .int(block.address), "length": .int(block.value.count),
                    ]
                })
        }
        return object
    }
}

extension LiteReport {
    fileprivate func members(_ language: Language) -> JSONObject {
        func list(_ blocks: [Int]?) -> JSONValue { blocks.map { .array($0.map { .int($0) }) } ?? .null }
        var object = JSONObject([
            ("userBlockCount", .int(LiteReport.userBlockCount)), ("userBlocksRead", list(userBlocks)),
        ])
        object["dataFormatCode"] = .text(dataFormatCode.map { Hex.encode($0, digits: 4) })
        object["issuer"] = .text(issuer?[language])
        guard let configuration else { return object }
        object["readOnlyBlocks"] = list(configuration.readOnlyBlocks)
        object["systemBlocksWritable"] = .bool(configuration.isSystemWritable)
        object["announcesNDEF"] = .bool(configuration.announcesNDEF)
        object["keyChangeable"] = .bool(configuration.isKeyChangeable)
        object["readNeedsAuthentication"] = list(configuration.authenticatedReads)
        object["writeNeedsAuthentication"] = list(configuration.authenticatedWrites)
        object["writeNeedsMAC"] = list(configuration.writesWithMAC)
        return object
    }
}
