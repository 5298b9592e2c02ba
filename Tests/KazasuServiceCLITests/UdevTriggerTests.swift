// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import KazasuCLI

/// `doctor --fix` applies the rules as the package's postinst does; a script stands in for udevadm.
@Suite("Applying udev rules", .waits)
struct UdevTriggerTests {
    private static func program(_ folder: TemporaryFolder, status: Int) throws -> String {
        let script = "#!/bin/sh\necho \"$@\" >> '\(folder.path)/calls'\nexit \(status)\n"
        let path = try folder.write(Array(script.utf8), as: "udevadm")
        #expect(chmod(path, 0o755) == 0)
        return path
    }

    private static func calls(_ folder: TemporaryFolder) -> [String] {
        let text = (try? TestFiles.read("\(folder.path)/calls")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    @Test("Rules are read again, then the readers of each vendor are changed, then it waits")
    func running() throws {
        let folder = try TemporaryFolder()
        let trigger = UdevTrigger(
            control: try folder.write([], as: "control"), program: try Self.program(folder, status: 0))
        #expect(trigger.run())
        let calls = Self.calls(folder)
        #expect(calls.first == "control --reload")
        #expect(calls.contains("trigger --action=change --subsystem-match=usb --attr-match=idVendor=054c"))
        #expect(calls.last == "settle --timeout=10" && calls.count == 7)
    }

    @Test("Where udev does not run nothing is called, and a refusal is noticed")
    func notRunning() throws {
        let folder = try TemporaryFolder()
        let program = try Self.program(folder, status: 1)
        #expect(!UdevTrigger(control: "\(folder.path)/control", program: program).run())
        #expect(Self.calls(folder).isEmpty)
        let control = try folder.write([], as: "control")
        #expect(!UdevTrigger(control: control, program: program).run())
        #expect(Self.calls(folder) == ["control --reload"])
        #expect(!UdevTrigger(control: control, program: "/no/such/udevadm").run())
    }
}
