// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The communication log that felica-tool exports as JSON: every packet with its time.
///
/// Facts: felica-tool `util/ExportUtils.kt`: an array of objects with `type` (`COMMAND` or `RESPONSE`), `name`,
/// `timestamp_ns` and `data`, the packet with its LEN byte. Its private exports have `XX` in place of bytes of IDm and
/// blocks: such an IDm is not known, such a block is not there.
public struct FelicaToolLogFormat: DumpFormat {
    /// The format.
    public init() {}
    /// `felica-tool-log`.
    public var id: String { "felica-tool-log" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("felica-tool communication log", "felica-tool の通信記録") }

    /// A list whose first element is a packet with its time.
    public func recognises(_ source: DumpSource) -> Bool {
        guard let json = source.json, json.isArray, let first = (try? json.elements())?.first else { return false }
        return first.member("timestamp_ns") != nil && first.member("data") != nil && first.member("type") != nil
    }

    /// One card; commands that it did not answer are passed over.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .notJSON(reason: source.kind) }
        var log = FeliCaLog()
        var command: LoggedPacket?
        for entry in try root.elements() {
            let type = try entry.required("type")
            let packet = try LoggedPacket(entry.required("data"))
            switch try type.text() {
            case "COMMAND": command = packet
            case "RESPONSE":
                guard let asked = command else { throw packet.misplaced }
                try log.add(asked, packet)
                command = nil
            default: throw type.malformed("COMMAND or RESPONSE")
            }
        }
        return [try log.finish()]
    }
}
