// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import Glibc
internal import NFCTransport

/// What libnfc logs while a reader is recorded: at its debug level every frame that it writes to its bus and reads
/// from it, in hexadecimal digits.
///
/// A line is `LEVEL<tab>CATEGORY<tab>MESSAGE`; the message of a frame is `TX: 00 00 ff …` or `RX: …` (libnfc 1.8.0,
/// `log-internal.h`, `log.h`), and at most 255 bytes of it are logged.
enum LibNFCLog {
    /// The variable that libnfc looks at before each line that it logs.
    static let variable = "LIBNFC_LOG_LEVEL"
    /// Everything.
    static let debugLevel = "3"

    /// What the lines of a log say, in order.
    static func events(in log: [UInt8]) -> [LinkEvent.Content] {
        log.split(separator: UInt8(ascii: "\n")).compactMap { event(String(decoding: $0, as: UTF8.self)) }
    }

    private static func event(_ line: String) -> LinkEvent.Content? {
        let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return .note(line) }
        let message = parts[2]
        if let colon = message.firstIndex(of: ":"), let bytes = bytes(message[colon...].dropFirst()) {
            switch message[..<colon] {
            case "TX": return .sent(bytes)
            case "RX": return .received(bytes)
            // Other bytes that a chip gave are in a frame as well, where what is personal is found.
            default: if bytes.count > 1 { return nil }
            }
        }
        return .note(parts.dropFirst().joined(separator: " "))
    }

    /// Digits in pairs with blanks between them.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        let pairs = text.split(separator: " ")
        guard !pairs.isEmpty, pairs.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
        return try? Hex.decode(text)
    }
}
