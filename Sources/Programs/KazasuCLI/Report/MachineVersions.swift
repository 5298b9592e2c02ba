// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu

/// The versions of what is below Kazasu on this machine.
enum MachineVersions {
    /// The kernel's release, such as `6.1.0-18-amd64`.
    static var kernelRelease: String {
        var names = utsname()
        uname(&names)
        return withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// A value of `/etc/os-release`, such as `VERSION_ID`.
    static func distribution(_ name: String) -> String? {
        guard let bytes = try? Files.read("/etc/os-release", limit: 1 << 16, as: nil) else { return nil }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("\(name)=") }
        return line.map { $0.dropFirst(name.count + 1).filter { $0 != "\"" } }.map { String($0) }
    }

    /// The version of pcscd, which its library does not report; `nil` when it is not installed.
    static var pcscd: String? {
        let program = "/usr/sbin/pcscd"
        guard access(program, X_OK) == 0, let pipe = popen("\(program) --version 2>/dev/null", "r") else { return nil }
        defer { pclose(pipe) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), pipe) != nil else { return nil }
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // As in "pcsc-lite version 1.9.9."
        guard let version = words.split(whereSeparator: \.isWhitespace).first(where: { $0.first?.isNumber == true })
        else {
            return nil
        }
        return String(version.hasSuffix(".") ? version.dropLast() : version)
    }

    /// The version of libccid, as its driver's description has it.
    static var libccid: String? {
        let path = "/usr/lib/pcsc/drivers/ifd-ccid.bundle/Contents/Info.plist"
        guard let bytes = try? Files.read(path, limit: 1 << 20, as: nil) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let key = text.firstRange(of: "<key>CFBundleShortVersionString</key>") else { return nil }
        return text[key.upperBound...].firstMatch(of: /<string>([0-9.]{1,20})<\/string>/).map { String($0.output.1) }
    }
}
