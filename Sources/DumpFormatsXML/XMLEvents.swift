// SPDX-License-Identifier: Apache-2.0

internal import CExpat
import CardModel

/// Goes through an XML text with expat; the only importer of `CExpat`.
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
            unsafe XMLRun.of(context)?.refuse("no document type")
        }
        // In one piece: expat looks again at an unfinished piece each time that another one comes.
        let status = withExtendedLifetime(run) {
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe XML_Parse(parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1)
            }
        }
        if let error = run.error { throw error }
        guard status == XML_STATUS_OK else {
            let reason = unsafe XML_ErrorString(XML_GetErrorCode(parser)).map { unsafe String(cString: $0) } ?? "?"
            throw .malformedLine(line: run.line, expected: "XML (\(reason))")
        }
    }
}
