// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import SystemDevices

/// The udev rules that let users open readers: whoever sits at the machine, and the members of the group `plugdev`.
/// Never everybody.
///
/// There are two files, because of their order: systemd evaluates the tag `uaccess` in its rules number 73, and
/// libccid's rules number 92 set a group of their own (libnfc issue 286).
package struct UdevRules: Hashable, Sendable {
    /// A file of rules.
    package struct File: Hashable, Sendable {
        package let name: String
        package let text: String
    }

    /// The directory for an administrator's rules.
    package static let folder = "/etc/udev/rules.d"
    /// The other directories from which udev reads rules.
    private static let folders = [
        folder, "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d",
    ]

    package static let files = [
        File(name: "70-kazasu.rules", text: text(seat, "whoever sits at the machine")),
        File(name: "93-kazasu.rules", text: text("MODE=\"0660\", GROUP=\"plugdev\"", "the members of plugdev")),
    ]

    /// The rule part that lets whoever sits at the machine open a device.
    static let seat = "TAG+=\"uaccess\""

    /// The match for a device of a model.
    static func match(_ model: ReaderModel) -> String {
        let vendor = Hex.encode(model.vendor, digits: 4, uppercase: false)
        let product = Hex.encode(model.product, digits: 4, uppercase: false)
        return "ATTR{idVendor}==\"\(vendor)\", ATTR{idProduct}==\"\(product)\""
    }

    /// Whether the rules are in one of udev's folders.
    static func areInstalled(on machine: Machine) -> Bool {
        folders.contains { folder in files.contains { machine.exists("\(folder)/\($0.name)") } }
    }

    /// The first of the rules that an administrator disabled by a link to `/dev/null`. The link hides the rule of that
    /// name in every other folder (udev(7)).
    static func masked(on machine: Machine) -> String? {
        files.map { "\(folder)/\($0.name)" }.first { Directory.linkTarget(of: machine.path($0)) == "/dev/null" }
    }

    private static func text(_ action: String, _ whom: String) -> String {
        let rules = ReaderModel.all.filter { $0.driver != nil }.map { model in
            "# \(model.name)\n\(match(model)), \(action)\n"
        }
        return """
            # SPDX-License-Identifier: Apache-2.0
            # Contactless card readers that Kazasu drives, for \(whom).
            ACTION=="remove", GOTO="kazasu_end"
            SUBSYSTEM!="usb", GOTO="kazasu_end"
            ENV{DEVTYPE}!="usb_device", GOTO="kazasu_end"

            \(rules.joined())
            LABEL="kazasu_end"

            """
    }
}
