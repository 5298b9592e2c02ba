// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

extension OutputFile {
    /// A file for a picture of a person: never a terminal or a device.
    convenience init(picture path: String) throws(CommandError) {
        try self.init(path)
        guard isFile else {
            throw CommandError(.pictureNotAFile)
        }
    }

    /// Writes a picture. A file that is there is replaced, which is said.
    ///
    /// - Returns: whether it was written; if not, the command ends with the reason.
    func finish(picture bytes: [UInt8], _ context: Context) -> Bool {
        let isReplaced = isFile && hasContents
        var isWritten = false
        context.attempt { () throws(CommandError) in
            try finish(bytes)
            isWritten = true
        }
        if isWritten, isReplaced { context.note(tr("\(path) was replaced", "\(path) を置き換えました")) }
        return isWritten
    }
}

/// A picture that was written.
struct WrittenPicture {
    /// Its id in documents.
    let id: String
    let path: String
}

extension [WrittenPicture] {
    /// Where a picture was written; `nil` if it was not.
    func path(_ id: String) -> String? { first { $0.id == id }?.path }
}

/// The files that options name for pictures of a document, opened before the card is read.
struct PictureFiles {
    private var files: [(ids: [String], file: OutputFile)] = []

    /// - Parameters:
    ///   - wanted: for each option its file, and the pictures of which the first that is there goes into it.
    ///   - open: opens a file.
    init(
        _ wanted: [(option: String, path: String?, ids: [String])], _ context: Context,
        _ open: (String) throws(CommandError) -> OutputFile = { path throws(CommandError) in
            try OutputFile(picture: path)
        }
    ) throws(CommandError) {
        for (option, path, ids) in wanted {
            try context.check(option, isGiven: path != nil)
            if let path { files.append((ids, try open(path))) }
        }
    }

    /// Writes the pictures. Where one is missing, the command ends with the reason.
    ///
    /// - Parameter file: the file with the pictures; `nil` for any.
    func write<Report: IdentityDocument>(
        _ report: Report, from file: Report.File? = nil, _ context: Context
    ) -> [WrittenPicture] {
        func concerns(_ other: Report.File) -> Bool { file.map { $0 == other } ?? true }
        return files.compactMap { ids, output in
            guard let id = ids.first(where: { report.picture($0) != nil }), let bytes = report.picture(id) else {
                let isRefused = report.warnings.contains {
                    if case .refused = $0.reason { concerns($0.file) } else { false }
                }
                let isWithheld = report.withheldFiles.contains(where: concerns)
                context.attempt { () throws(CommandError) in
                    throw .noPicture(output.path, isWithheld: isWithheld, isRefused: isRefused)
                }
                return nil
            }
            return output.finish(picture: bytes, context) ? WrittenPicture(id: id, path: output.path) : nil
        }
    }
}
