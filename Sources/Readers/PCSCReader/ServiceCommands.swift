// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// The FeliCa commands that a reader sends by itself, one pseudo-APDU each, where it passes on no packets (JIS X 6319-4
/// commands of Identiv's uTrust readers): Polling, Request Service, Request Response, Read and Write Without Encryption, and
/// Request System Code. Other commands have no pseudo-APDU.
///
/// The answer begins with the IDm; LEN and the response code are put in front of it here. The manuals leave open in which
/// order the bytes of service codes go. A read settles it: where the card knows no such service in one order and reads it in
/// the other, the other is right. Until that is known nothing is written.
///
/// Sources: Identiv manuals uTrust 3700F p43, 4701F p38–39, 3720F p42, SCL3711 p45.
struct ServiceCommands {
    /// In which order the bytes of service and node codes go.
    private enum Order {
        case unknown
        /// As in packets: least significant byte first.
        case packet
        case swapped
    }

    private var order = Order.unknown

    /// Sends a packet with LEN and returns the card's, with LEN.
    ///
    /// - Throws: ``TransportError/noAnswer``; ``TransportError/unsupported(detail:)`` for a command without a pseudo-APDU, or
    ///   when the reader does not know it, ``TransportError/corrupted(status:)``.
    mutating func transceive(
        _ packet: [UInt8], _ send: ([UInt8]) throws(TransportError) -> [UInt8]
    ) throws(TransportError) -> [UInt8] {
        guard packet.count >= 2, Int(packet[0]) == packet.count else { throw .noAnswer }
        let isSwapped = order == .swapped
        let answer = try ask(packet, isSwapped: isSwapped, send)
        guard order == .unknown else { return answer }
        switch packet[1] {
        case Self.read:
            if Self.succeeded(answer) {
                order = .packet
            } else if Self.knowsNoService(answer) {
                let other = try ask(packet, isSwapped: true, send)
                guard Self.succeeded(other) else { return answer }
                order = .swapped
                return other
            }
            return answer
        case Self.requestService:
            // A node in no order is absent in both.
            guard answer.dropFirst(11).allSatisfy({ $0 == 0xFF }) else { return answer }
            let other = try ask(packet, isSwapped: true, send)
            return other.dropFirst(11).allSatisfy { $0 == 0xFF } ? answer : other
        default: return answer
        }
    }

    private static let (requestService, read, write) = (UInt8(0x02), UInt8(0x06), UInt8(0x08))

    private static func succeeded(_ answer: [UInt8]) -> Bool { answer.count > 12 && answer[10] == 0x00 }

    /// Status flag 2 A6: there is no such service.
    private static func knowsNoService(_ answer: [UInt8]) -> Bool {
        answer.count >= 12 && answer[10] != 0x00 && answer[11] == 0xA6
    }

    private func ask(
        _ packet: [UInt8], isSwapped: Bool, _ send: ([UInt8]) throws(TransportError) -> [UInt8]
    ) throws(TransportError) -> [UInt8] {
        guard let command = command(for: packet, isSwapped: isSwapped) else {
            throw .unsupported(detail: .init(.noFeliCaCommand, Self.name(of: packet)))
        }
        let content = try PseudoAPDU.content(of: send(command), notPassed: FrameWrapping.Content.felica.notPassed)
        guard content.count >= 8, content.count + 2 <= 0xFF else {
            throw content.isEmpty ? .noAnswer : .corrupted(status: 0)
        }
        return [UInt8(content.count + 2), packet[1] &+ 1] + content
    }

    private static func name(of packet: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF")
        return String([digits[Int(packet[1] >> 4)], digits[Int(packet[1] & 0x0F)]])
    }

    /// The pseudo-APDU of a packet; `nil` if there is none.
    private func command(for packet: [UInt8], isSwapped: Bool) -> [UInt8]? {
        // LEN and code, in a Polling no IDm.
        let body = Array(packet.dropFirst(packet[1] == 0x00 ? 2 : 10))
        switch packet[1] {
        case 0x00 where body.count == 4: return [0xFF, 0x40, 0x00, 0x00, 0x04] + body
        case 0x04 where body.isEmpty: return [0xFF, 0x44, 0x00, 0x00, 0x00]
        case 0x0C where body.isEmpty: return [0xFF, 0x4A, 0x00, 0x00, 0x00]
        case Self.requestService:
            guard let count = body.first, body.count == 1 + 2 * Int(count) else { return nil }
            return [0xFF, 0x42, count, 0x00, UInt8(body.count - 1)] + Self.codes(body[1...], isSwapped)
        case Self.read: return blocks(0x46, body, isSwapped)
        case Self.write where order != .unknown: return blocks(0x48, body, isSwapped)
        default: return nil
        }
    }

    /// Services, blocks of two bytes each, and data.
    private func blocks(_ instruction: UInt8, _ body: [UInt8], _ isSwapped: Bool) -> [UInt8]? {
        guard let services = body.first, body.count > 1 + 2 * Int(services) else { return nil }
        let place = 1 + 2 * Int(services)
        let count = Int(body[place])
        let rest = Array(body[(place + 1)...])
        let elements = rest.prefix(2 * count)
        // An element of three bytes has bit 7 of the first one cleared.
        guard elements.count == 2 * count,
            stride(from: 0, to: 2 * count, by: 2).allSatisfy({ elements[$0] & 0x80 != 0 })
        else { return nil }
        let data = rest.dropFirst(2 * count)
        guard instruction == 0x48 ? data.count == 16 * count : data.isEmpty else { return nil }
        let content = Self.codes(body[1..<place], isSwapped) + rest
        guard let length = UInt8(exactly: content.count) else { return nil }
        return [0xFF, instruction, services, UInt8(truncatingIfNeeded: count), length] + content
    }

    private static func codes(_ bytes: ArraySlice<UInt8>, _ isSwapped: Bool) -> [UInt8] {
        let bytes = Array(bytes)
        return isSwapped ? bytes.indices.map { bytes[$0 ^ 1] } : bytes
    }
}
