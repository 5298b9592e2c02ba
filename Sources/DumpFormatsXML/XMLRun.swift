// SPDX-License-Identifier: Apache-2.0

internal import CExpat
import CardModel

/// One run of expat over a text: passes its events on and keeps the first error.
@safe final class XMLRun {
    private let parser: XML_Parser
    private let handler: any XMLHandler
    private(set) var error: DocumentError?

    init(_ parser: XML_Parser, _ handler: any XMLHandler) {
        unsafe self.parser = unsafe parser
        self.handler = handler
    }

    /// The run that a callback of expat belongs to.
    static func of(_ context: UnsafeMutableRawPointer?) -> XMLRun? {
        unsafe context.map { unsafe Unmanaged<XMLRun>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The line that expat is at, from 1.
    var line: Int { unsafe Int(clamping: XML_GetCurrentLineNumber(parser)) }

    func start(_ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        guard error == nil, let name = unsafe name else { return }
        var values: [String: String] = [:]
        var place = 0
        // Names and values in turn, until a null pointer.
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
        let element = unsafe String(cString: name)
        attempt { () throws(DocumentError) in try handler.end(element, line: line) }
    }

    /// Stops because of what stands here.
    func refuse(_ expected: String) {
        attempt { () throws(DocumentError) in throw .malformedLine(line: line, expected: expected) }
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
