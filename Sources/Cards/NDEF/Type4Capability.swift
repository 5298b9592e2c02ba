// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The Capability Container of a Type 4 Tag, file E103.
///
/// CCLEN (two bytes), version (two nibbles), MLe and MLc (two bytes each), then control blocks: `04 06` with an NDEF
/// file, `05 06` with a proprietary file, `06 08` with an NDEF file that can be longer than 65,534 bytes. Source: NFC
/// Forum Type 4 Tag 2.0 and 3.0, §5.1; nfcpy `tt4.py`.
package struct Type4Capability: Hashable, Sendable {
    /// The length of the file as stated in it, in bytes.
    package let length: Int
    /// The major mapping version; 1 to 3 are known.
    package let majorVersion: UInt8
    /// The minor mapping version.
    package let minorVersion: UInt8
    /// The maximum number of bytes in one READ BINARY.
    package let longestRead: Int
    /// The maximum number of bytes in one UPDATE BINARY.
    package let longestWrite: Int
    /// The files listed in the control blocks, in order.
    package let files: [File]

    /// A file listed in a control block.
    package struct File: Hashable, Sendable {
        /// The kind of file.
        package let kind: Kind
        package let id: FileIdentifier
        /// The size in bytes, including the length field at its start.
        package let size: Int
        /// The read access: 00 always; 80 to FE are proprietary rules, FF never.
        package let readAccess: UInt8
        /// The write access: 00 always; 80 to FE are proprietary rules, FF never.
        package let writeAccess: UInt8

        /// The kind of file.
        package enum Kind: UInt8, Hashable, Sendable {
            /// An NDEF file with a two-byte length.
            case ndef = 4
            /// A proprietary file.
            case proprietary = 5
            /// An NDEF file with a four-byte length.
            case extendedNDEF = 6
        }

        /// The size of the length field at the start of the file, in bytes.
        package var lengthBytes: Int { kind == .extendedNDEF ? 4 : 2 }
        /// The length of the longest message, in bytes.
        package var capacity: Int { max(0, size - lengthBytes) }
        /// Whether it can be read without a condition.
        package var isReadable: Bool { readAccess == 0 }
        /// Whether it can be written without a condition.
        package var isWritable: Bool { writeAccess == 0 }
    }

    /// Parses the bytes of the file; `nil` when they are too short for the fields before the control blocks.
    ///
    /// Control blocks end at the length stated in the file, or at a truncated one; those of another kind or length are
    /// skipped.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let length = try? reader.readUInt16(.big), let version = try? reader.readUInt8(),
            let longestRead = try? reader.readUInt16(.big), let longestWrite = try? reader.readUInt16(.big)
        else { return nil }
        self.length = Int(length)
        majorVersion = version >> 4
        minorVersion = version & 0x0F
        self.longestRead = Int(longestRead)
        self.longestWrite = Int(longestWrite)
        var files: [File] = []
        while reader.offset < Int(length), let tag = try? reader.readUInt8(), let count = try? reader.readUInt8(),
            let value = try? reader.readBytes(Int(count))
        {
            if let file = File(tag, value) { files.append(file) }
        }
        self.files = files
    }

    package var ndefFile: File? { files.first { $0.kind != .proprietary } }
}

extension Type4Capability.File {
    fileprivate init?(_ tag: UInt8, _ value: ArraySlice<UInt8>) {
        guard let kind = Kind(rawValue: tag), value.count == (kind == .extendedNDEF ? 8 : 6) else { return nil }
        var reader = ByteReader(value)
        guard let id = try? reader.readUInt16(.big) else { return nil }
        let size: Int?
        if kind == .extendedNDEF {
            size = (try? reader.readUInt32(.big)).map { Int($0) }
        } else {
            size = (try? reader.readUInt16(.big)).map { Int($0) }
        }
        guard let size, let read = try? reader.readUInt8(), let write = try? reader.readUInt8() else { return nil }
        self.init(
            kind: kind, id: FileIdentifier(rawValue: id), size: size, readAccess: read, writeAccess: write)
    }
}
