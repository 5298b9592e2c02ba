// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import SystemPackage

/// The dumps of files and folders, one at a time; a bad one does not keep the others back.
struct DumpFiles {
    let paths: [String]

    /// One dump, or why there is none.
    struct Item {
        /// The file, with the line where a file has several dumps.
        var place: String
        var dump: Result<CardDump, Failure>
        /// Whether it is a line of a file that has more of them.
        var isOneOfMany = false
    }

    /// The longest file of another format, in bytes; Kazasu's own dumps, one a line, may be of any length.
    private static let longestFile = 64 << 20

    /// Whether more than one dump must be expected.
    var areMany: Bool { paths.count > 1 || paths.contains(where: DumpFiles.isFolder) }

    /// Calls `body` for every dump, files of a folder by name, folders in folders too.
    func forEach(_ body: (Item) throws -> Void) throws {
        var visited: Set<Folder> = []
        for path in paths {
            if DumpFiles.isFolder(path) {
                try DumpFiles.folder(FilePath(path), &visited, body)
            } else {
                try DumpFiles.file(path, body) { () throws(Failure) in try LineFile(path) }
            }
        }
    }

    private static func file(
        _ path: String, _ body: (Item) throws -> Void, open: () throws(Failure) -> LineFile
    ) throws {
        do {
            let file = try open()
            let first = try file.nextLine() ?? []
            if let dump = try? CardDump(parsing: first) {
                try lines(file, path, dump, body)
            } else {
                let bytes = try file.rest(after: first, limit: longestFile)
                if isLines(bytes) { return try lines(bytes, path, body) }
                let dumps: [CardDump]
                do {
                    dumps = try DumpFile.dumps(bytes)
                } catch {
                    throw Failure(error, path: path)
                }
                for (index, dump) in dumps.enumerated() {
                    let place = dumps.count == 1 ? path : "\(path)#\(index + 1)"
                    try body(Item(place: place, dump: .success(dump)))
                }
            }
        } catch let failure as Failure {
            if failure.status == .brokenPipe || failure.status == .cannotWrite { throw failure }
            try body(Item(place: path, dump: .failure(failure)))
        }
    }

    /// One dump a line.
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

    /// Whether there is a document on each line, though the first is no dump: the second is one by itself.
    private static func isLines(_ bytes: [UInt8]) -> Bool {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard lines.count > 1, lines[0].first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
            case .object? = try? JSONValue(parsing: lines[1])
        else { return false }
        return true
    }

    /// One dump a line, the first of which cannot be read.
    private static func lines(_ bytes: [UInt8], _ path: String, _ body: (Item) throws -> Void) throws {
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where line.contains(where: { $0 > 0x20 }) {
            let place = "\(path):\(index + 1)"
            try body(Item(place: place, dump: dump(line, place), isOneOfMany: true))
        }
    }

    private static func dump(_ line: ArraySlice<UInt8>, _ place: String) -> Result<CardDump, Failure> {
        do {
            return .success(try CardDump(parsing: line))
        } catch {
            return .failure(Failure(error, path: place))
        }
    }

    // MARK: Folders

    /// A folder, by whatever path and link it is reached.
    private struct Folder: Hashable {
        let device: DeviceID
        let inode: Inode
    }

    private static func isFolder(_ path: String) -> Bool {
        path != "-" && (try? FilePath(path).stat())?.type == .directory
    }

    /// Regular files of a folder and of the folders in it, sorted by name, without hidden ones. Each folder is read once,
    /// even when links lead back to it; what is neither file nor folder is left alone: it may never end.
    private static func folder(
        _ path: FilePath, _ visited: inout Set<Folder>, _ body: (Item) throws -> Void
    ) throws {
        let names: [FilePath.Component]
        do {
            let entries = try FolderEntries(path)
            let status = try entries.status
            guard visited.insert(Folder(device: status.deviceID, inode: status.inode)).inserted else { return }
            names = entries.names.filter { !$0.string.hasPrefix(".") }.sorted { $0.string < $1.string }
        } catch let error as Errno {
            return try body(Item(place: path.string, dump: .failure(Files.unreadable(path.string, error.rawValue))))
        }
        for name in names {
            let inner = path.appending(name)
            switch try? inner.stat().type {
            case .directory?: try folder(inner, &visited, body)
            case .regular?, nil: try file(inner.string, body) { () throws(Failure) in try LineFile(regular: inner) }
            default: break
            }
        }
    }
}
