// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore

/// Whether a file is a recording that anybody may see: the check of `kazasu contribute --check`.
///
/// Each line is read, masked again and written again. A line that does not come out as it was is not of this form, or holds
/// a value that ``RecordingMask`` would not have written; the value itself is in no fault.
package struct RecordingCheck: Hashable, Sendable {
    /// What is wrong with a line, or with the whole file.
    package enum Fault: Hashable, Sendable {
        /// Not a line of this form, in this place.
        case notThisForm
        /// Of another version of the form.
        case version(found: String)
        /// More than ``Recording/longestFile``.
        case tooLong
        /// More than ``Recording/mostLines``.
        case tooManyLines
        /// The digest in the file's name is another one.
        case digest
        /// A value that is not masked.
        case unmasked
        /// A frame that the course never sends.
        case notHarmless
        /// A time before that of an earlier line.
        case timeGoesBack

        /// Its word in JSON.
        package var word: String {
            switch self {
            case .notThisForm: "notThisForm"
            case .version: "version"
            case .tooLong: "tooLong"
            case .tooManyLines: "tooManyLines"
            case .digest: "digest"
            case .unmasked: "unmasked"
            case .notHarmless: "notHarmless"
            case .timeGoesBack: "timeGoesBack"
            }
        }
    }

    /// A fault and where it is.
    package struct Found: Hashable, Sendable {
        /// From 1.
        package var line: Int
        package var fault: Fault
    }

    /// The faults in the order of the lines; one a line at most, and not more than ``most``.
    package private(set) var faults: [Found] = []
    /// The first line; `nil` if it cannot be read.
    package private(set) var header: Recording.Header?
    /// The lines after it.
    package private(set) var items: [Recording.Item] = []

    /// After so many faults, the rest of a file is not worth a line each.
    package static let most = 100

    /// The check of a file that was not read because of its length.
    package static let tooLong = RecordingCheck(faults: [Found(line: 1, fault: .tooLong)])

    private init(faults: [Found]) { self.faults = faults }

    /// Checks a file.
    ///
    /// - Parameters:
    ///   - bytes: the contents; of a longer file, at least one byte more than ``Recording/longestFile``.
    ///   - name: the file's name without its folder, whose digest must fit; `nil` where it does not count.
    package init(_ bytes: [UInt8], name: String?) {
        guard bytes.count <= Recording.longestFile else {
            faults = [Found(line: 1, fault: .tooLong)]
            return
        }
        guard let lines = read(bytes) else { return }
        check(lines)
        if let name, !name.hasSuffix((try? Recording.fileName(model: "", of: bytes)) ?? "\n") {
            faults.insert(Found(line: 1, fault: .digest), at: 0)
        }
        faults = Array(faults.prefix(Self.most))
    }

    /// Reads the lines as far as they are of this form.
    ///
    /// - Returns: the text of each, the first one included; `nil` if there is no more to check.
    private mutating func read(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
        var lines: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            guard lines.count < Recording.mostLines else { return stop(lines.count + 1, .tooManyLines) }
            // Every line ends with a newline.
            guard line.endIndex < rest.endIndex, line.count <= Transcript.longestLine else {
                return stop(lines.count + 1, .notThisForm)
            }
            rest = rest[line.endIndex...].dropFirst()
            do throws(DocumentError) {
                let json = JSONCursor(try JSONValue(parsing: line))
                if lines.isEmpty {
                    header = try Recording.Header(json: json)
                } else {
                    items.append(try Recording.Item(json: json))
                }
            } catch .unknownSchema(let found, _) where lines.isEmpty {
                return stop(1, .version(found: String(found.prefix(40))))
            } catch {
                return stop(lines.count + 1, .notThisForm)
            }
            lines.append(line)
        }
        guard case .end? = items.last else { return stop(max(1, lines.count), .notThisForm) }
        return lines
    }

    private mutating func stop(_ line: Int, _ fault: Fault) -> [ArraySlice<UInt8>]? {
        faults.append(Found(line: line, fault: fault))
        return nil
    }

    private mutating func check(_ lines: [ArraySlice<UInt8>]) {
        guard let header else { return }
        func isEqual(_ text: String, _ line: ArraySlice<UInt8>) -> Bool { text.utf8.elementsEqual(line) }
        if !isEqual(header.line, lines[0]) {
            faults.append(Found(line: 1, fault: .notThisForm))
        } else if RecordingMask.apply(header) != header {
            faults.append(Found(line: 1, fault: .unmasked))
        }
        var latest = Duration.zero
        for (index, masked) in RecordingMask.apply(items).enumerated() {
            let item = items[index]
            let line = index + 2
            let time = item.time ?? latest
            if !isEqual(item.line, lines[index + 1]) || item.isEnd && index != items.count - 1 {
                faults.append(Found(line: line, fault: .notThisForm))
            } else if masked.item.line != item.line {
                faults.append(Found(line: line, fault: .unmasked))
            } else if header.course == .reader, !masked.isHarmless {
                faults.append(Found(line: line, fault: .notHarmless))
            } else if time < latest {
                faults.append(Found(line: line, fault: .timeGoesBack))
            }
            latest = max(latest, time)
        }
    }
}

extension Recording.Item {
    fileprivate var isEnd: Bool {
        if case .end = self { true } else { false }
    }
}
