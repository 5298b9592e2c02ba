// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import SystemPackage

/// Options of the commands that list the nodes of a card.
package struct CacheOptions: ParsableArguments {
    package init() {}

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Neither use nor keep layouts of cards seen before.", "読んだことのあるカードの一覧を使わず、保存もしない。"))
    package var noCache = false
}

/// The layouts of cards seen before, in the user's cache: a card of a kind that Kazasu does not know is proved the next
/// time.
///
/// Whatever is wrong with the file or its folder, a command works as without it. Only what belongs to the user is read or
/// written, so that nobody else, nor root with the user's `HOME`, leaves files there.
struct LayoutCache {
    /// `nil` where it is not used.
    private let path: FilePath?
    private let kept: KeptLayouts

    init(_ options: CacheOptions, _ session: ReaderSession) {
        let isUsed = session.mayKeepLayouts && !options.noCache && CommandHost.current == nil
        path = isUsed ? LayoutCache.usualPath : nil
        kept = path.flatMap { LayoutCache.read($0) } ?? KeptLayouts()
    }

    /// What the nodes of a card are predicted from.
    var layouts: CardLayouts { .shipped.adding(kept) }

    /// Keeps those systems of a card that was read as a whole that were not known.
    ///
    /// - Parameter card: all systems of the card.
    func keep(_ scans: [SystemScan], of card: [SystemCode], _ context: Context) {
        guard let path else { return }
        // Another command may have changed it meanwhile.
        var kept = LayoutCache.read(path) ?? KeptLayouts()
        let added = kept.add(scans, of: card, besides: .shipped)
        guard !added.isEmpty, LayoutCache.write(kept, to: path) else { return }
        let codes = added.map(\.description).joined(separator: tr(", ", "、"))
        context.detail(
            tr(
                "kept the layout of system \(codes) in \(path.string)",
                "システム \(codes) の一覧を \(path.string) に保存しました"))
    }

    private static var usualPath: FilePath? {
        SystemEnvironment.folder("XDG_CACHE_HOME", usual: ".cache").map { FilePath($0 + "/kazasu/layouts") }
    }

    /// Returns `nil` if there is no such file, it is somebody else's, or its contents are not ours.
    private static func read(_ path: FilePath) -> KeptLayouts? {
        let options: FileDescriptor.OpenOptions = [.noFollow, .nonBlocking, .closeOnExec]
        guard let file = try? FileDescriptor.open(path, .readOnly, options: options) else { return nil }
        defer { try? file.close() }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_size <= KeptLayouts.longestText
        else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= KeptLayouts.longestText {
            guard let count = try? buffer.withUnsafeMutableBytes({ try file.read(into: $0) }) else { return nil }
            guard count > 0 else { return KeptLayouts(parsing: bytes) }
            bytes += buffer.prefix(count)
        }
        return nil
    }

    /// Replaces the file.
    ///
    /// - Returns: whether that was possible.
    private static func write(_ kept: KeptLayouts, to path: FilePath) -> Bool {
        let folder = path.removingLastComponent()
        guard isOwn(folder) || makeFolder(folder) else { return false }
        do {
            let file = try TemporaryFile(in: folder, permissions: .ownerReadWrite)
            try file.descriptor.writeWhole(Array(kept.text.utf8))
            try file.move(to: path)
            return true
        } catch {
            return false
        }
    }

    /// Makes the folder, and the cache above it, in a folder of the user.
    private static func makeFolder(_ folder: FilePath) -> Bool {
        let cache = folder.removingLastComponent()
        func make(_ folder: FilePath) -> Bool {
            isOwn(folder.removingLastComponent()) && folder.withPlatformString { mkdir($0, 0o700) } == 0
        }
        return (isOwn(cache) || make(cache)) && make(folder)
    }

    private static func isOwn(_ folder: FilePath) -> Bool {
        var status = stat()
        return folder.withPlatformString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_uid == geteuid()
    }
}
