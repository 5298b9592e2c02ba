// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The units of `packaging/systemd`. systemd itself does not run in tests.
@Suite("The unit for systemd", .waits)
struct UnitTests {
    /// The values of a setting, from all its lines.
    private static func values(_ setting: String, of name: String = "watch") throws -> [String] {
        let unit = String(
            decoding: try TestFiles.read("packaging/systemd/kazasu-\(name).service"), as: UTF8.self)
        return unit.split(separator: "\n").filter { $0.hasPrefix(setting + "=") }
            .flatMap { $0.dropFirst(setting.count + 1).split(separator: " ").map(String.init) }
    }

    /// The system calls of a set, as systemd has it.
    private static func calls(_ set: String) throws -> Set<String> {
        guard set.hasPrefix("@") else { return [set] }
        let listing = try ChildProcess.run("/usr/bin/systemd-analyze", ["syscall-filter", set])
        try #require(listing.end == .exited(0), "\(listing.errors)")
        let names = listing.output.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") && $0 != set }
        return try names.reduce(into: []) { $0.formUnion(try calls(String($1))) }
    }

    /// Whether processes may be traced here.
    static let canTrace =
        access("/usr/bin/systemd-analyze", X_OK) == 0
        && (try? ChildProcess.run("/usr/bin/strace", ["-qq", "-o", "/dev/null", "/bin/true"]))?.end == .exited(0)

    @Test("It lets every system call of watch pass", .enabled(if: canTrace))
    func systemCalls() throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        let port = try LoopbackPort.free()
        // With -D the child is watch itself, and gets the signal.
        let child = try RunningChild(
            "/usr/bin/strace",
            [
                "-D", "-f", "-qq", "-e", "signal=none", "-o", trace, Service.path, "watch", "-r",
                "virtual:\(Service.card)", "--keep", "--ledger", "\(folder.path)/ledger", "--outbox",
                "\(folder.path)/o", "--exec", "/bin/true", "--webhook", "http://127.0.0.1:1/", "--mqtt",
                "mqtt://127.0.0.1:1", "--metrics", "127.0.0.1:\(port)",
            ], environment: Service.environment, limit: .seconds(300))
        _ = try child.event(of: "on")
        _ = try child.message(containing: "ledger: ")
        child.send(SIGTERM)
        _ = child.finish()
        let text = String(decoding: try TestFiles.read(trace), as: UTF8.self)
        let used = Set(
            text.split(separator: "\n").compactMap { line in
                line.wholeMatch(of: /[0-9]+ +([a-z0-9_]+)\(.*/).map { String($0.output.1) }
            })
        #expect(used.contains("fdatasync"), "\(used.count) system calls were traced")
        let allowed = try Self.values("SystemCallFilter").reduce(into: Set<String>()) {
            $0.formUnion(try Self.calls($1))
        }
        #expect(used.subtracting(allowed).isEmpty)
    }

    /// Only `watch` and `serve` type what they read, and have lights; every unit opens the same readers, as the same user groups.
    @Test("Every unit may open the same readers", arguments: ["serve", "bridge"])
    func sameReaders(name: String) throws {
        for setting in ["DevicePolicy", "SupplementaryGroups"] {
            #expect(try Self.values(setting, of: name) == Self.values(setting), "\(setting)")
        }
        func devices(_ name: String) throws -> Set<String> {
            Set(try Self.values("DeviceAllow", of: name)).subtracting(["rw", "/dev/uinput", "char-gpiochip"])
        }
        #expect(try devices(name) == devices("watch"))
        #expect(try devices("watch").isSuperset(of: ["char-usb_device", "char-ttyAMA", "char-ttyS"]))
    }

    @Test("After a crash, what guards the lights gets a signal that it outlives", arguments: ["watch", "serve"])
    func lightsAfterACrash(name: String) throws {
        #expect(try Self.values("KillMode", of: name) == ["control-group"])
        #expect(try Self.values("KillSignal", of: name) == ["SIGTERM"])
        #expect(try Self.values("FinalKillSignal", of: name).isEmpty && Self.values("TimeoutStopSec", of: name).isEmpty)
    }

    @Test("Programs of --exec have a home that they may write to")
    func home() throws {
        let state = try "/var/lib/" + #require(try Self.values("StateDirectory").first)
        #expect(try Self.values("Environment").contains("HOME=" + state))
        #expect(try Self.values("WorkingDirectory") == [state])
    }
}
