// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

extension HexListing {
    /// What the reader learnt of a card of type A or B, as a comment.
    func identity(_ card: CardIdentity) -> String {
        let parts: [(String, String?)] = [
            ("UID", card.uid.map(upper)), ("ATQA", card.atqa.map { Hex.encode($0, digits: 4) }),
            ("SAK", card.sak.map { upper([$0]) }), ("ATS", card.ats.map(upper)), ("PUPI", card.pupi.map(upper)),
            ("AppData", card.applicationData.map(upper)), ("ProtocolInfo", card.protocolInfo.map(upper)),
        ]
        let text = parts.compactMap { name, value in value.map { " \(name) \($0)" } }.joined()
        return text.isEmpty ? "" : "#\(text)\n"
    }

    /// The pages of a Type 2 Tag, `PAGE HEX`, and what it answered beside them.
    func pages(_ tag: Type2Dump) -> String {
        var text = ""
        if let version = tag.version { text += "# version \(upper(version))\n" }
        if let signature = tag.signature { text += "# signature \(upper(signature))\n" }
        for (number, count) in tag.counters.sorted(by: { $0.key < $1.key }) { text += "# counter \(number) \(count)\n" }
        for (page, bytes) in tag.pages.sorted(by: { $0.key < $1.key }) {
            text += "\(Type2Dump.name(of: page)) \(digits(bytes))\n"
        }
        if case .array(let names)? = tag.extra["notAsked"] {
            for case .string(let name) in names { text += "# not asked \(name)\n" }
        }
        if case .string(let page)? = tag.extra["closedFrom"] {
            // Of those that are protected, only Ultralight C knows no GET_VERSION.
            let secret = tag.version != nil ? "password" : tag.extra["notAsked"] == nil ? "key" : "key or password"
            text += "# page \(page) needs the \(secret)\n"
        }
        return text
    }

    /// The files of an application, `AID FILE OFFSET HEX`, sixteen bytes a line; `MF` for the master file.
    func files(_ application: ApplicationDump) -> String {
        let name = application.aid.map { upper($0.bytes) } ?? "MF"
        var text = ""
        for file in application.files {
            switch file.state {
            case .read: break
            case .keyRequired: text += "# \(name) \(file.id) key required\n"
            case .refused(let status?):
                text += "# \(name) \(file.id) refused, status word \(Hex.encode(status, digits: 4))\n"
            case .refused(nil): text += "# \(name) \(file.id) refused by silence\n"
            case .lost: text += "# \(name) \(file.id) not read to its end\n"
            case .skipped: text += "# \(name) \(file.id) skipped\n"
            }
            for offset in stride(from: 0, to: file.data.count, by: 16) {
                let bytes = Array(file.data[offset..<min(offset + 16, file.data.count)])
                text += "\(name) \(file.id) \(Hex.encode(offset, digits: 4)) \(digits(bytes))\n"
            }
        }
        return text
    }

    private func upper(_ bytes: [UInt8]) -> String { Hex.encode(bytes, uppercase: true) }

    private func digits(_ bytes: [UInt8]) -> String { Hex.encode(bytes, uppercase: true, separator: separator) }
}
