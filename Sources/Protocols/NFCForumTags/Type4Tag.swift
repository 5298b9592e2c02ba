// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import ISO7816
package import NDEF
internal import ReaderCore

/// A Type 4 Tag: an ISO 7816 card with the NDEF application.
package final class Type4Tag {
    private let session: ISO7816Session
    /// How the files of the application are selected.
    private var form = SelectForm.withoutAnswer

    private enum SelectForm {
        /// Mapping 2 and later: P2 = 0C.
        case withoutAnswer
        /// Mapping 1: P2 = 00.
        case withAnswer
        /// The same on cards that refuse an Le, as some from before the standard do (nfcpy's issue 168).
        case withoutLength

        func command(_ target: SelectTarget, _ answer: SelectAnswer) -> CommandAPDU {
            var command = CommandAPDU.select(target, answer: answer)
            if self == .withoutLength { command.ne = 0 }
            return command
        }
    }

    /// The NDEF application of mapping 2 and later.
    package static let application = AID("D2760000850101")
    /// The NDEF application of mapping 1.
    package static let firstApplication = AID("D2760000850100")
    /// The file with the Capability Container.
    package static let capabilityFile = FileIdentifier(rawValue: 0xE103)

    /// Makes the tag behind a session; other commands of the session can be sent in between.
    package init(session: ISO7816Session) {
        self.session = session
    }

    /// Selects the NDEF application and reads its Capability Container.
    ///
    /// - Throws: ``TagError``; ``TagError/noNDEF(_:)`` if there is no such application, or it cannot be used.
    package func capability() throws(TagError) -> Type4Capability {
        try selectApplication()
        try select(Type4Tag.capabilityFile)
        // A Capability Container has at least fifteen bytes; its length comes first.
        let head = try read(from: 0, count: 2, most: 0xFF)
        guard head.count == 2 else { throw .noNDEF(.brokenCapability) }
        let length = Int(head[0]) << 8 | Int(head[1])
        guard (15...0xFFFE).contains(length) else { throw .noNDEF(.brokenCapability) }
        let rest = try read(from: 2, count: length - 2, most: 0xFF)
        guard let capability = Type4Capability(head + rest) else { throw .noNDEF(.brokenCapability) }
        return capability
    }

    /// Selects the NDEF file listed in the Capability Container.
    func selectFile(_ capability: Type4Capability) throws(TagError) -> Type4Capability.File {
        guard (1...3).contains(capability.majorVersion) else { throw .noNDEF(.unknownVersion) }
        guard let file = capability.ndefFile, file.size >= file.lengthBytes else { throw .noNDEF(.brokenCapability) }
        guard file.isReadable else { throw .noNDEF(.notReadable) }
        try select(file.id)
        return file
    }

    /// Reads bytes of the current file in as many commands as necessary; fewer if the file ends earlier.
    ///
    /// - Parameter most: the maximum that the card allows in one command.
    func read(from offset: Int, count: Int, most: Int) throws(TagError) -> [UInt8] {
        let step = max(1, min(most, session.limits.bytesPerRead))
        var bytes: [UInt8] = []
        while bytes.count < count {
            let wanted = min(step, count - bytes.count)
            let response = try ask { () throws(ISO7816Error) in
                try session.readBinary(offset: offset + bytes.count, count: wanted)
            }
            // The offset may be after the end of a file that is shorter than it should be.
            if response.status == .wrongParameters { return bytes }
            if response.status.rawValue == 0x6982 { throw .noNDEF(.notReadable) }
            guard response.status == .success || response.status == .endOfFile else {
                throw .iso7816(.status(.readBinary, response.status))
            }
            guard !response.data.isEmpty else { return bytes }
            bytes += response.data.prefix(wanted)
        }
        return bytes
    }

    /// Writes bytes of the current file.
    func write(at offset: Int, _ bytes: [UInt8], most: Int) throws(TagError) {
        guard !bytes.isEmpty else { return }
        try ask { () throws(ISO7816Error) in
            try session.updateBinary(offset: offset, data: bytes, bytesPerCommand: max(1, most))
        }
    }

    private func selectApplication() throws(TagError) {
        let forms: [(AID?, SelectForm)] = [
            (Type4Tag.application, .withoutAnswer), (Type4Tag.firstApplication, .withAnswer),
            (Type4Tag.firstApplication, .withoutLength),
        ]
        for case (let aid?, let form) in forms {
            let command = form.command(.application(aid), .fileControlInformation)
            let response = try ask { () throws(ISO7816Error) in try session.transmit(command) }
            guard response.status == .success else { continue }
            self.form = form
            return
        }
        throw .noNDEF(.notFormatted)
    }

    private func select(_ file: FileIdentifier) throws(TagError) {
        let command = form.command(.file(file), form == .withoutAnswer ? .nothing : .fileControlInformation)
        let response = try ask { () throws(ISO7816Error) in try session.transmit(command) }
        guard response.status != .fileNotFound else { throw .noNDEF(.brokenCapability) }
        guard response.status == .success else { throw .iso7816(.status(.select, response.status)) }
    }

    /// Performs one operation of the session and converts its errors to those of a tag.
    private func ask<Value>(_ work: () throws(ISO7816Error) -> Value) throws(TagError) -> Value {
        do throws(ISO7816Error) {
            return try work()
        } catch .transport(.cancelled) {
            throw .cancelled
        } catch .transport(.noAnswer), .transport(.cardReleased), .otherCard {
            throw .tagLost
        } catch .transport(let error) {
            throw .transport(error)
        } catch {
            throw .iso7816(error)
        }
    }
}

extension Type4Tag: NDEFTag {
    package var typeNumber: Int { 4 }

    /// Reads the message of the NDEF file. A failed exchange is repeated from the start.
    package func readNDEF() throws(TagError) -> NDEFArea {
        try twice { () throws(TagError) in try readOnce() }
    }

    /// Returns the capacity of the NDEF file, whatever its length field contains.
    package func writableArea() throws(TagError) -> NDEFArea {
        try twice { () throws(TagError) in
            let file = try selectFile(capability())
            return NDEFArea(message: [], capacity: file.capacity, obstacle: file.isWritable ? nil : .readOnly)
        }
    }

    /// Checks the offsets: UPDATE BINARY cannot encode one above 32,767, so a message that extends further is refused.
    package func checkPlaces(of bytes: [UInt8]) throws(TagError) {
        try twice { () throws(TagError) in
            let reach = try Type4Tag.reach(selectFile(capability()))
            guard bytes.count <= reach else { throw .tooLong(length: bytes.count, capacity: reach) }
        }
    }

    /// Sets the length to 0, writes the message, then its length.
    ///
    /// A message that fits into one command is sent together with its length, which the card writes as one.
    package func writeUnchecked(_ bytes: [UInt8]) throws(TagError) {
        try twice { () throws(TagError) in
            let capability = try capability()
            let file = try selectFile(capability)
            let most = max(1, min(capability.longestWrite, 0xFF))
            let length = Type4Tag.field(bytes.count, file.lengthBytes)
            if length.count + bytes.count <= most {
                try write(at: 0, length + bytes, most: most)
                return
            }
            try write(at: 0, Type4Tag.field(0, file.lengthBytes), most: most)
            try write(at: file.lengthBytes, bytes, most: most)
            try write(at: 0, length, most: most)
        }
    }

    private static func reach(_ file: Type4Capability.File) -> Int {
        CommandAPDU.highestBinaryOffset - file.lengthBytes
    }

    private func readOnce() throws(TagError) -> NDEFArea {
        let capability = try capability()
        let file = try selectFile(capability)
        let most = max(1, capability.longestRead)
        let field = try read(from: 0, count: file.lengthBytes, most: most)
        guard field.count == file.lengthBytes else { throw .noNDEF(.brokenCapability) }
        let length = field.reduce(0) { $0 << 8 | Int($1) }
        guard length <= file.capacity else { throw .noNDEF(.lengthBeyondEnd) }
        let message = try read(from: file.lengthBytes, count: length, most: most)
        guard message.count == length else { throw .noNDEF(.lengthBeyondEnd) }
        return NDEFArea(message: message, capacity: file.capacity, obstacle: file.isWritable ? nil : .readOnly)
    }

    private static func field(_ length: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: length >> (8 * (count - 1 - $0))) }
    }

    /// Does work that begins with SELECT of the application; if the card did not answer, or not correctly, once more.
    private func twice<Value>(_ work: () throws(TagError) -> Value) throws(TagError) -> Value {
        do throws(TagError) {
            return try work()
        } catch .tagLost {
            return try work()
        } catch .transport(let error) where error.isTransient {
            return try work()
        } catch {
            throw error
        }
    }
}
