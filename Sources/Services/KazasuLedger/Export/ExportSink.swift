// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Receives an export piece by piece.
final class ExportSink {
    private let output: ([UInt8]) -> Bool
    private var encode: (String) -> [UInt8] = { Array($0.utf8) }
    private var buffer: [UInt8] = []
    /// Whether the receiver has stopped the export.
    private(set) var isStopped = false

    private static let piece = 1 << 16

    init(_ output: @escaping ([UInt8]) -> Bool) { self.output = output }

    /// Writes all further text in CP932; characters that it lacks become `〓`.
    ///
    /// - Throws: ``LedgerError/noCharacterSet`` when the C library has no converter.
    func useCP932() throws(LedgerError) {
        let converter = try CP932()
        encode = converter.encode
    }

    func write(_ text: String) {
        guard !isStopped else { return }
        buffer += encode(text)
        if buffer.count >= ExportSink.piece { flush() }
    }

    /// Writes lines with their ends.
    func write(_ lines: [String], newline: String = "\n") {
        for line in lines { write(line + newline) }
    }

    func flush() {
        if !isStopped, !buffer.isEmpty { isStopped = !output(buffer) }
        buffer.removeAll(keepingCapacity: true)
    }
}

/// The C library's converter to CP932.
@safe private final class CP932 {
    private let converter: iconv_t

    init() throws(LedgerError) {
        guard let opened = unsafe iconv_open("CP932", "UTF-8"), unsafe opened != iconv_t(bitPattern: -1) else {
            throw .noCharacterSet
        }
        unsafe converter = opened
    }

    func encode(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                bytes += encode(Array(String(scalar).utf8)) ?? [0x81, 0xAC]
            }
        }
        return bytes
    }

    private func encode(_ character: [UInt8]) -> [UInt8]? {
        var input = character.map { CChar(bitPattern: $0) }
        var output: [CChar] = [0, 0, 0, 0]
        var (inputLeft, outputLeft) = (input.count, output.count)
        let result = unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                var (from, to) = (input.baseAddress, output.baseAddress)
                return unsafe iconv(converter, &from, &inputLeft, &to, &outputLeft)
            }
        }
        guard result >= 0, inputLeft == 0 else {
            unsafe iconv(converter, nil, nil, nil, nil)
            return nil
        }
        return output.prefix(output.count - outputLeft).map { UInt8(bitPattern: $0) }
    }

    deinit { unsafe iconv_close(converter) }
}
