// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import SystemDevices

/// The udev rules that let users open readers: whoever sits at the machine, and the members of the group `plugdev`.
/// Never everybody.
///
/// There are two files, because of their order: systemd evaluates the tag `uaccess` in its rules number 73, and
/// libccid's rules number 92 set a group of their own (libnfc issue 286): pcscd's since CCID 1.7.0, which a chip card
/// reader keeps.
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
        File(
            name: "70-kazasu.rules",
            text: text("whoever sits at the machine", rules: rules(seat))),
        File(
            name: "93-kazasu.rules",
            text: text(
                "the members of \(group)",
                rules: """
                    \(rules("ENV{\(property)}=\"\(group)\""))
                    ENV{\(property)}!="\(group)", GOTO="kazasu_end"
                    # A chip card reader belongs to pcscd where that has a group of its own (pcsc-lite 2.4); plugdev gets an entry
                    # in its access list, by setfacl of the package acl.
                    ENV{ID_USB_INTERFACES}=="*:\(chipCardInterface):*", PROGRAM=="/usr/bin/getent group \(pcscdGroup)", \
                    ENV{\(property)}="\(pcscdGroup)"
                    # Final, since libnfc's rules come later.
                    MODE:="0660", GROUP:="$env{\(property)}"
                    ENV{\(property)}=="\(pcscdGroup)", TEST=="\(accessListProgram)", \
                    RUN+="\(accessListProgram) -m g:\(group):rw $devnode"

                    """)),
    ]

    /// The group of those who use readers without sitting at the machine.
    static let group = "plugdev"
    /// The group of a pcscd that is not root's, and of the readers that it opens (pcsc-lite 2.4.0, CCID 1.7.0).
    package static let pcscdGroup = "pcscd"
    /// Class, subclass and protocol of a chip card reader's interface.
    private static let chipCardInterface = "0b0000"
    /// A property that udev does not store.
    private static let property = ".KAZASU_GROUP"
    static let accessListProgram = "/usr/bin/setfacl"

    /// The vendors of the readers, as sysfs writes their numbers.
    package static var vendors: [String] {
        Set(ReaderModel.all.filter { $0.driver != nil }.map(\.vendor)).sorted().map {
            Hex.encode($0, digits: 4, uppercase: false)
        }
    }

    /// The arguments for udevadm after which the rules apply to readers that are already connected.
    package static var applyingCommands: [[String]] {
        [["control", "--reload"]]
            + vendors.map { ["trigger", "--action=change", "--subsystem-match=usb", "--attr-match=idVendor=\($0)"] }
    }

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

    private static func rules(_ action: String) -> String {
        ReaderModel.all.filter { $0.driver != nil }.map { model in
            "# \(model.name)\n\(match(model)), \(action)\n"
        }.joined()
    }

    private static func text(_ whom: String, rules: String) -> String {
        """
        # SPDX-License-Identifier: Apache-2.0
        # Contactless card readers that Kazasu drives, for \(whom).
        ACTION=="remove", GOTO="kazasu_end"
        SUBSYSTEM!="usb", GOTO="kazasu_end"
        ENV{DEVTYPE}!="usb_device", GOTO="kazasu_end"

        \(rules)
        LABEL="kazasu_end"

        """
    }
}
