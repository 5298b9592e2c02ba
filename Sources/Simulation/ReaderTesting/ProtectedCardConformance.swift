// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import ReaderCore
internal import VirtualReader

extension ReaderConformance {
    /// MIFARE Classic and the password of a Type 2 Tag, where the reader passes them on; a reader that does not has to say so.
    ///
    /// Wrong keys and passwords, what is refused, and what is written and counted. Nothing is closed afterwards.
    package static func protectedCards(
        _ reader: any Reader, _ stage: ConformanceStage, _ cancellation: CancellationToken
    ) throws -> ConformanceReport {
        var suite = ProtectedCardConformance(reader, stage)
        guard reader.information.technologies.contains(.typeA) else {
            suite.report.skipped.append("\(Technology.typeA)")
            return suite.report
        }
        try suite.classic()
        try suite.password()
        return suite.report
    }
}

/// The suite for cards that a key or password opens.
private struct ProtectedCardConformance {
    var report = ConformanceReport()
    private let reader: any Reader
    private let stage: ConformanceStage

    private static let time = Duration.seconds(5)
    private static let uid: [UInt8] = [0x90, 0xD3, 0x07, 0xC1]
    private static let key = [UInt8](repeating: 0xFF, count: 6)

    init(_ reader: any Reader, _ stage: ConformanceStage) { (self.reader, self.stage) = (reader, stage) }

    private func send(_ frame: [UInt8]) throws(TransportError) -> [UInt8] {
        try reader.transceive(frame, timeout: Self.time)
    }

    private mutating func expect(_ frame: [UInt8], _ answer: [UInt8], _ name: String) {
        let reader = reader
        report.expect(.success(answer), name) { () throws(TransportError) in
            try reader.transceive(frame, timeout: Self.time)
        }
    }

    /// Expects a refusal: a NAK, or an error.
    private mutating func expectRefusal(_ frame: [UInt8], _ name: String) {
        guard let answer = try? send(frame), !(answer.count == 1 && answer[0] != 0x0A) else { return }
        report.breaches.append("\(name): \(answer)")
    }

    /// Expects an acknowledgement, which readers give as nothing or as `0A`.
    private mutating func expectDone(_ frame: [UInt8], _ name: String) {
        switch Result(catching: { () throws(TransportError) in try send(frame) }) {
        case .success([]), .success([0x0A]): return
        case .success(let answer): report.breaches.append("\(name): \(answer)")
        case .failure(let error): report.breaches.append("\(name): \(error)")
        }
    }

    /// - Parameter tries: how often it is looked for. A card that has refused a command may take the next request for another
    ///   one, and only then be ready to be selected; a tag's reading allows for that, too.
    private mutating func activate(_ uid: [UInt8], _ name: String, tries: Int = 1) {
        let reader = reader
        report.expect(.success(uid), name) { () throws(TransportError) in
            for _ in 0..<tries {
                guard case .typeA(let target)? = try reader.activate(.typeA(isoDEP: false)) else { continue }
                return target.uid
            }
            return []
        }
    }

    /// As many as `Type2Tag` takes.
    private static let triesAfterRefusal = 3

    // MARK: MIFARE Classic

    private static func authentication(_ block: UInt8, _ key: [UInt8] = key) -> [UInt8] { [0x60, block] + key + uid }

    /// A value, its inverse, itself, and the address of its block.
    private static func value(_ number: UInt8, at block: UInt8) -> [UInt8] {
        let value: [UInt8] = [number, 0, 0, 0]
        return value + value.map { ~$0 } + value + [block, ~block, block, ~block]
    }

    mutating func classic() throws {
        guard var memory = ClassicMemory(blockCount: 64, uid: Self.uid) else { return }
        memory.write(5, Self.value(100, at: 5))
        try stage.place(VirtualClassicCard(memory, atqa: nil, sak: nil))
        activate(Self.uid, "Classic: finds it")
        if case .failure(.unsupported) = Result(catching: { () throws(TransportError) in
            try send(Self.authentication(4))
        }) {
            report.skipped.append("MIFARE Classic")
            try stage.clear()
            return
        }
        activate(Self.uid, "Classic: finds it again", tries: Self.triesAfterRefusal)
        expectDone(Self.authentication(4), "Classic: opens a sector")
        expect([0x30, 0x05], Self.value(100, at: 5), "Classic: reads a block")
        let data = [UInt8](1...16)
        expectDone([0xA0, 0x04] + data, "Classic: writes a block")
        expect([0x30, 0x04], data, "Classic: reads it again")
        expectDone([0xC1, 0x05, 0x05, 0x00, 0x00, 0x00], "Classic: adds to a value")
        expectDone([0xB0, 0x05], "Classic: stores the sum")
        expectDone([0xC0, 0x05, 0x02, 0x00, 0x00, 0x00], "Classic: subtracts from a value")
        expectDone([0xB0, 0x05], "Classic: stores the difference")
        expect([0x30, 0x05], Self.value(103, at: 5), "Classic: reads the value")
        expectDone(Self.authentication(8), "Classic: opens another sector")
        expect([0x30, 0x08], [UInt8](repeating: 0, count: 16), "Classic: reads a block of the other sector")
        expectRefusal(Self.authentication(12, [1, 2, 3, 4, 5, 6]), "Classic: a wrong key")
        expectRefusal([0x30, 0x0C], "Classic: reads a block after a wrong key")
        activate(Self.uid, "Classic: finds it after a wrong key", tries: Self.triesAfterRefusal)
        expectRefusal([0x30, 0x04], "Classic: reads a block without a key")
        activate(Self.uid, "Classic: finds it after a refusal", tries: Self.triesAfterRefusal)
        expectDone(Self.authentication(4), "Classic: opens a sector after a refusal")
        expect([0x30, 0x04], data, "Classic: what was written is still there")
        try stage.clear()
        expectRefusal([0x30, 0x04], "Classic: left")
    }

    // MARK: Passwords

    mutating func password() throws {
        guard var memory = Type2Memory(.ntag213, uid: ConformanceCards.uid) else { return }
        memory.write(0x29, [0x04, 0x00, 0x00, 0x05])
        memory.write(0x2A, [0x80, 0x05, 0x00, 0x00])
        memory.write(0x2B, [0xDE, 0xAD, 0xBE, 0xEF])
        memory.write(0x2C, [0x12, 0x34, 0x00, 0x00])
        memory.write(0x06, [1, 2, 3, 4])
        try stage.place(VirtualType2Tag(memory))
        // The reader may still release the card that was there before, which a new one takes for a request.
        activate(ConformanceCards.uid, "password: finds the tag", tries: Self.triesAfterRefusal)
        if case .failure(.unsupported) = Result(catching: { () throws(TransportError) in
            try send([0x1B, 0x00, 0x00, 0x00, 0x00])
        }) {
            report.skipped.append("passwords of Type 2 Tags")
            try stage.clear()
            return
        }
        activate(ConformanceCards.uid, "password: finds the tag after a wrong one", tries: Self.triesAfterRefusal)
        expectRefusal([0x30, 0x06], "password: reads a page without it")
        activate(ConformanceCards.uid, "password: finds the tag after a refusal", tries: Self.triesAfterRefusal)
        expect([0x1B, 0xDE, 0xAD, 0xBE, 0xEF], [0x12, 0x34], "password: is accepted")
        expect([0x30, 0x06], [1, 2, 3, 4] + [UInt8](repeating: 0, count: 12), "password: reads a page with it")
        expect([0xA2, 0x07, 5, 6, 7, 8], [0x0A], "password: writes a page with it")
        activate(ConformanceCards.uid, "password: finds the tag again")
        expectRefusal([0x30, 0x06], "password: reads a page after a new selection")
        try stage.clear()
    }
}
