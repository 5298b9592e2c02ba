// SPDX-License-Identifier: Apache-2.0

internal import CExpat
import CardModel

/// One run of expat over a text; forwards its events and keeps the first error.
@safe final class XMLRun {
    private let parser: XML_Parser
    private let handler: any XMLHandler
    private(set) var error: DocumentError?
    /// The number of open elements.
    private var depth = 0
    /// No card file nests deeper.
    private static let deepest = 32

    init(_ parser: XML_Parser, _ handler: any XMLHandler) {
        unsafe self.parser = unsafe parser
        self.handler = handler
    }

    /// Returns the run that an expat callback belongs to.
    static func of(_ context: UnsafeMutableRawPointer?) -> XMLRun? {
        unsafe context.map { unsafe Unmanaged<XMLRun>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The current line of expat, from 1.
    var line: Int { unsafe Int(clamping: XML_GetCurrentLineNumber(parser)) }

    func start(_ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        guard error == nil, let name = unsafe name else { return }
        depth += 1
        guard depth <= XMLRun.deepest else { return refuse(.xmlDepth, "\(XMLRun.deepest)") }
        var values: [String: String] = [:]
        var place = 0
        // Names and values alternate, up to a null pointer.
        while let list = unsafe attributes, let key = unsafe list[place], let value = unsafe list[place + 1] {
            unsafe values[String(cString: key)] = unsafe String(cString: value)
            place += 2
        }
        let element = unsafe String(cString: name)
        attempt { () throws(DocumentError) in try handler.start(element, values, line: line) }
    }

    func text(_ text: UnsafePointer<CChar>?, _ count: Int32) {
        guard error == nil, let text = unsafe text else { return }
        handler.text(unsafe UnsafeRawBufferPointer(start: text, count: Int(count)).map { $0 })
    }

    func end(_ name: UnsafePointer<CChar>?) {
        guard error == nil, let name = unsafe name else { return }
        depth -= 1
        let element = unsafe String(cString: name)
        attempt { () throws(DocumentError) in try handler.end(element, line: line) }
    }

    /// Stops parsing with an error at the current line.
    func refuse(_ code: DocumentError.Expectation.Code, _ values: String...) {
        attempt { () throws(DocumentError) in throw .malformedLine(line: line, expected: .init(code, values: values)) }
    }

    private func attempt(_ body: () throws(DocumentError) -> Void) {
        do {
            try body()
        } catch {
            self.error = error
            _ = unsafe XML_StopParser(parser, 0)
        }
    }
}

/// Parses XML text with expat; the only importer of `CExpat`.
enum XMLEvents {
    /// Calls `handler` for every element, until the end or the first error.
    ///
    /// Document types are refused: no card file has one, and entities are what makes XML dangerous.
    static func parse(_ bytes: [UInt8], _ handler: any XMLHandler) throws(DocumentError) {
        guard let length = Int32(exactly: bytes.count), let parser = unsafe XML_ParserCreate(nil) else {
            throw .tooLong(bytes: bytes.count, limit: Int(Int32.max))
        }
        defer { unsafe XML_ParserFree(parser) }
        let run = unsafe XMLRun(parser, handler)
        let context = unsafe Unmanaged.passUnretained(run).toOpaque()
        unsafe XML_SetUserData(parser, context)
        unsafe XML_SetElementHandler(
            parser,
            { context, name, attributes in unsafe XMLRun.of(context)?.start(name, attributes) },
            { context, name in unsafe XMLRun.of(context)?.end(name) })
        unsafe XML_SetCharacterDataHandler(parser) { context, text, count in
            unsafe XMLRun.of(context)?.text(text, count)
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
            unsafe XMLRun.of(context)?.refuse(.noDocumentType)
        }
        // In one piece: expat rescans an unfinished piece whenever another one arrives.
        let status = withExtendedLifetime(run) {
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe XML_Parse(parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1)
            }
        }
        if let error = run.error { throw error }
        guard status == XML_STATUS_OK else {
            let reason = unsafe XML_ErrorString(XML_GetErrorCode(parser)).map { unsafe String(cString: $0) } ?? "?"
            throw .malformedLine(line: run.line, expected: .init(.xml, "\(reason)"))
        }
    }
}

/// Receives an XML text element by element.
protocol XMLHandler: AnyObject {
    /// Called at the start of an element.
    func start(_ name: String, _ attributes: [String: String], line: Int) throws(DocumentError)
    /// Called for text in the element that began last; the text can arrive in several parts.
    func text(_ bytes: [UInt8])
    /// Called at the end of an element.
    func end(_ name: String, line: Int) throws(DocumentError)
}
