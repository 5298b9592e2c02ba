// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu
package import SystemPackage

/// A dump named by the user, in any known format.
package enum DumpFile {
    /// Reads a dump in Kazasu's own format.
    package static func readOwn(_ path: String) throws(CommandError) -> CardDump {
        let bytes = try Files.read(path, as: .resumed)
        do {
            return try parsed(bytes[...])
        } catch {
            throw CommandError(error, path: path)
        }
    }

    /// A dump in Kazasu's own format, which the gate of `--redact` learns.
    fileprivate static func parsed(_ bytes: ArraySlice<UInt8>) throws(DocumentError) -> CardDump {
        let dump = try CardDump(parsing: bytes)
        RedactionGate.shared.learn(dump)
        return dump
    }

    /// All dumps in the bytes of a file, which the gate of `--redact` learns.
    package static func dumps(_ bytes: [UInt8]) throws(DocumentError) -> [CardDump] {
        let dumps = try readDumps(bytes, formats: .complete)
        for dump in dumps { RedactionGate.shared.learn(dump) }
        return dumps
    }

    /// The bytes of a card file for a virtual reader. A dump of another program is converted.
    package static func cardFile(_ path: String, limit: Int = 8 << 20) throws(CommandError) -> [UInt8] {
        try cardFile(Files.read(path, limit: limit, as: .card), path)
    }

    /// The same from the bytes of the file.
    package static func cardFile(_ bytes: [UInt8], _ path: String) throws(CommandError) -> [UInt8] {
        let isOwn = (try? JSONCursor(JSONValue(parsing: bytes)).required("schema").text())?.hasPrefix("kazasu.")
        guard isOwn != true, (try? DumpFormatRegistry.complete.read(bytes)) != nil else { return bytes }
        return Array(try dump(bytes, path).json.compactText.utf8)
    }

    /// The one dump of a file of any format.
    package static func read(_ path: String) throws(CommandError) -> CardDump {
        try dump(Files.read(path), path)
    }

    private static func dump(_ bytes: [UInt8], _ path: String) throws(CommandError) -> CardDump {
        do {
            let dumps = try dumps(bytes)
            guard let dump = dumps.first, dumps.count == 1 else {
                let decode = Caller.current.command("decode")
                throw CommandError(.dumpSeveral, values: [Files.name(path), "\(dumps.count)", decode])
            }
            return dump
        } catch let error as DocumentError {
            throw CommandError(error, path: path)
        } catch let failure as CommandError {
            throw failure
        } catch {
            throw CommandError.bug("\(error)")
        }
    }
}

/// The dumps of files and folders, one at a time; a bad one does not stop the others.
package struct DumpFiles {
    package let paths: [String]

    package init(paths: [String]) { self.paths = paths }

    /// One dump, or the reason why it cannot be read.
    package struct Item {
        /// The file, with the line where a file has several dumps.
        package var place: String
        package var dump: Result<CardDump, CommandError>
        /// Whether it is a line of a file that has more of them.
        package var isOneOfMany = false
    }

    /// The longest file of another format, in bytes; Kazasu's own dumps, one per line, have no limit.
    private static let longestFile = 64 << 20

    /// Whether more than one dump must be expected.
    package var areMany: Bool { paths.count > 1 || paths.contains(where: Files.isFolder) }

    /// Calls `body` for every dump; the files of a folder are sorted by name, and subfolders are included.
    package func forEach(_ body: (Item) throws -> Void) throws {
        var visited: Set<Folder> = []
        for path in paths {
            if Files.isFolder(path) {
                try DumpFiles.folder(FilePath(path), &visited, body)
            } else {
                try DumpFiles.file(path, body) { () throws(CommandError) in try LineFile(path) }
            }
        }
    }

    private static func file(
        _ path: String, _ body: (Item) throws -> Void, open: () throws(CommandError) -> LineFile
    ) throws {
        do {
            let file = try open()
            let first = try file.nextLine() ?? []
            if let dump = try? DumpFile.parsed(first) {
                try lines(file, path, dump, body)
            } else {
                let bytes = try file.rest(after: first, limit: longestFile)
                if isLines(bytes) { return try lines(bytes, path, body) }
                let dumps: [CardDump]
                do {
                    dumps = try DumpFile.dumps(bytes)
                } catch {
                    throw CommandError(error, path: path)
                }
                for (index, dump) in dumps.enumerated() {
                    let place = dumps.count == 1 ? path : "\(path)#\(index + 1)"
                    try body(Item(place: place, dump: .success(dump)))
                }
            }
        } catch let failure as CommandError {
            if failure.status == .brokenPipe || failure.status == .cannotWrite { throw failure }
            try body(Item(place: path, dump: .failure(failure)))
        }
    }

    /// One dump per line.
    private static func lines(
        _ file: LineFile, _ path: String, _ first: CardDump, _ body: (Item) throws -> Void
    ) throws {
        var number = 1
        var waiting: CardDump? = first
        while let line = try file.nextLine() {
            number += 1
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            if let dump = waiting {
                waiting = nil
                try body(Item(place: "\(path):1", dump: .success(dump), isOneOfMany: true))
            }
            let place = "\(path):\(number)"
            try body(Item(place: place, dump: DumpFiles.dump(line, place), isOneOfMany: true))
        }
        if let dump = waiting { try body(Item(place: path, dump: .success(dump))) }
    }

    /// Whether there is a document on each line, though the first is not a dump: the second is one by itself.
    private static func isLines(_ bytes: [UInt8]) -> Bool {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard lines.count > 1, lines[0].first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
            case .object? = try? JSONValue(parsing: lines[1])
        else { return false }
        return true
    }

    /// One dump per line, the first of which cannot be read.
    private static func lines(_ bytes: [UInt8], _ path: String, _ body: (Item) throws -> Void) throws {
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where line.contains(where: { $0 > 0x20 }) {
            let place = "\(path):\(index + 1)"
            try body(Item(place: place, dump: dump(line, place), isOneOfMany: true))
        }
    }

    private static func dump(_ line: ArraySlice<UInt8>, _ place: String) -> Result<CardDump, CommandError> {
        do {
            return .success(try DumpFile.parsed(line))
        } catch {
            return .failure(CommandError(error, path: place))
        }
    }

    // MARK: Folders

    /// The identity of a folder, independent of the path or link that leads to it.
    private struct Folder: Hashable {
        let device: DeviceID
        let inode: Inode
    }

    /// Regular files of a folder and its subfolders, sorted by name, without hidden ones. Each folder is read once,
    /// even when links lead back to it; anything that is neither file nor folder is skipped: it may never end.
    private static func folder(
        _ path: FilePath, _ visited: inout Set<Folder>, _ body: (Item) throws -> Void
    ) throws {
        let names: [FilePath.Component]
        do {
            let entries = try FolderEntries(path)
            let status = entries.status
            guard visited.insert(Folder(device: status.deviceID, inode: status.inode)).inserted else { return }
            names = entries.names.filter { !$0.string.hasPrefix(".") }.sorted { $0.string < $1.string }
        } catch let error as Errno {
            return try body(Item(place: path.string, dump: .failure(Files.unreadable(path.string, error.rawValue))))
        }
        for name in names {
            let inner = path.appending(name)
            switch try? inner.stat().type {
            case .directory?: try folder(inner, &visited, body)
            case .regular?, nil:
                try file(inner.string, body) { () throws(CommandError) in try LineFile(regular: inner) }
            default: break
            }
        }
    }
}

/// A file read in pieces, line by line or as a whole; only the requested part is in memory.
package final class LineFile {
    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    /// How far the buffer has been searched for a line end.
    private var searched = 0
    private var isAtEnd = false
    /// Whether the last line taken had a line end.
    private var hadEnd = false

    /// The longest line that is read, in bytes; no card's dump is longer.
    package static let longestLine = 8 << 20
    private static let piece = 1 << 18

    /// Opens a file, `-` for standard input.
    package init(_ path: String) throws(CommandError) {
        guard !path.isEmpty else { throw .emptyName(tr("input", "入力")) }
        self.path = path
        descriptor = try Files.open(path)
    }

    /// Opens a regular file; does not block if it has been replaced by something else meanwhile.
    package init(regular path: FilePath) throws(CommandError) {
        self.path = path.string
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
            guard try file.stat().type == .regular else {
                try? file.close()
                throw Errno.invalidArgument
            }
            descriptor = file.rawValue
        } catch {
            throw Files.unreadable(path.string, (error as? Errno)?.rawValue ?? EIO)
        }
        try FilesInUse.shared.reads(descriptor, path.string)
    }

    deinit { close(descriptor) }

    /// The next line without its end; `nil` after the last.
    package func nextLine() throws(CommandError) -> ArraySlice<UInt8>? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer {
                    hadEnd = true
                    start = end + 1
                    searched = start
                }
                return buffer[start..<end]
            }
            searched = buffer.count
            guard !isAtEnd else {
                hadEnd = false
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return buffer[start...]
            }
            try fill()
            guard buffer.count - start <= LineFile.longestLine else { throw Files.tooLong(path, LineFile.longestLine) }
        }
    }

    /// Returns everything after the last line taken, preceded by `before`.
    package func rest(after before: ArraySlice<UInt8>, limit: Int) throws(CommandError) -> [UInt8] {
        while !isAtEnd {
            guard before.count + buffer.count - start <= limit else { throw Files.tooLong(path, limit) }
            try fill()
        }
        defer { start = buffer.count }
        return Array(before) + (hadEnd ? [UInt8(ascii: "\n")] : []) + buffer[start...]
    }

    private func fill() throws(CommandError) {
        if start > 0 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        var piece = [UInt8](repeating: 0, count: LineFile.piece)
        let count = try Descriptor.read(descriptor, into: &piece, name: path)
        if count == 0 { isAtEnd = true } else { buffer.append(contentsOf: piece.prefix(count)) }
    }
}
