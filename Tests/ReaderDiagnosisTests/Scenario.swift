// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReaderDiagnosis
import TestSupport
import Testing

/// A made-up system and what a doctor must find on it.
struct Scenario: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// What must be found; the first is what the scenario is for.
    let finds: [Check.Code]
    /// What must not be found.
    let findsNot: [Check.Code]
    /// Whether a reader can be used.
    let isReady: Bool
    /// What the first check's sentence contains in English.
    let says: String
    let build: @Sendable (FakeMachine) throws -> Void

    init(
        _ name: String, finds: [Check.Code], not: [Check.Code] = [], ready: Bool = false, says: String = "",
        build: @escaping @Sendable (FakeMachine) throws -> Void
    ) {
        testDescription = name
        (self.finds, findsNot, isReady, self.says, self.build) = (finds, not, ready, says, build)
    }

    static let node = "/dev/bus/usb/001/005"

    static let all: [Scenario] = bus + permissions + holders + configurations + ports + hosts

    static let bus = [
        Scenario("nothing plugged in", finds: [.noReader, .plainHost, .configurationFine], not: [.plugged]) { _ in },
        Scenario(
            "an RC-S380 that is well", finds: [.plugged, .driven, .permitted, .noKernelDriver, .unheld],
            not: [.noReader, .firmwareFine, .firmwareFault], ready: true, says: "port 1-1 (bus 1, device 5)"
        ) { try $0.plugIn("054c:06c1") },
        Scenario("the driver is named", finds: [.driven], ready: true, says: "(rcs300)") {
            try $0.plugIn("054c:0dc8", interfaces: [("0b", nil), ("ff", nil)])
        },
        Scenario(
            "a copy that nobody drives", finds: [.notDriven, .plugged], not: [.driven], says: "its own protocol"
        ) {
            try $0.plugIn("054c:1fc9", interfaces: [("03", "usbhid")])
        },
        Scenario("an RC-S320", finds: [.driven], not: [.notDriven], ready: true, says: "(rcs320)") {
            try $0.plugIn("054c:01bb")
        },
        Scenario("another chip card reader", finds: [.strangeReader, .noReader], says: "(08E6:3437)") {
            try $0.plugIn("08e6:3437", interfaces: [("0b", nil)])
        },
        Scenario("one that needs pcscd, which is not installed", finds: [.serviceMissing, .strangeReader]) {
            try $0.plugIn("072f:223b", interfaces: [("0b", nil)])
        },
        Scenario("pcscd that is installed and does not run", finds: [.serviceStopped], not: [.serviceMissing]) {
            try $0.plugIn("072f:223b", interfaces: [("0b", nil)])
            try $0.write("/usr/sbin/pcscd", "")
        },
        Scenario("pcscd as it should be", finds: [.serviceThere], says: "/run/pcscd/pcscd.comm") {
            try $0.plugIn("072f:223b", interfaces: [("0b", nil)])
            try $0.write("/run/pcscd/pcscd.comm", "")
        },
        Scenario(
            "pcscd's socket for others only", finds: [.serviceClosed], not: [.serviceThere], says: "permission to open"
        ) {
            try $0.plugIn("072f:223b", interfaces: [("0b", nil)])
            try $0.write("/run/pcscd/pcscd.comm", "")
            $0.locked["/run/pcscd/pcscd.comm"] = (EACCES, nil)
        },
        Scenario("pcscd at another place", finds: [.serviceThere], not: [.serviceMissing], says: "/tmp/there") {
            try $0.plugIn("072f:223b", interfaces: [("0b", nil)])
            try $0.write("/tmp/there", "")
            $0.environment["PCSCLITE_CSOCK_NAME"] = "/tmp/there"
        },
        Scenario(
            "pcscd is nobody's business without a reader that needs it", finds: [.noReader], not: [.serviceMissing]
        ) { _ in },
        Scenario("an ACR122U with good firmware", finds: [.firmwareFine], ready: true, says: "2.14") {
            try $0.plugIn("072f:2200", interfaces: [("0b", nil)], release: "0214")
        },
        Scenario("an ACR122U with bad firmware", finds: [.firmwareFault], ready: true, says: "2.15: in some states") {
            try $0.plugIn("072f:2200", interfaces: [("0b", nil)], release: "0215")
        },
        Scenario("an ACR122U that pcscd refuses", finds: [.firmwareFault], ready: true, says: "2.03") {
            try $0.plugIn("072f:2200", interfaces: [("0b", nil)], release: "0203")
        },
    ]

    static let permissions = [
        Scenario("no udev rule", finds: [.noRule], not: [.permitted], says: node) {
            try $0.plugIn("054c:06c1")
            $0.locked[node] = (EACCES, nil)
        },
        Scenario("a rule that came after the reader", finds: [.ruleNotApplied], says: node) {
            try $0.plugIn("054c:06c1")
            $0.locked[node] = (EACCES, nil)
            try $0.write("/usr/local/lib/udev/rules.d/70-kazasu.rules", "")
            try $0.write("/etc/group", "plugdev:x:46:")
        },
        Scenario("rules for a group that there is not, as on Fedora", finds: [.groupMissing], says: "no group plugdev")
        {
            try $0.plugIn("054c:06c1")
            $0.locked[node] = (EACCES, nil)
            try $0.write("/usr/local/lib/udev/rules.d/70-kazasu.rules", "")
            try $0.write("/etc/group", "plugdevices:x:46:")
        },
        Scenario(
            "a rule that is masked", finds: [.ruleMasked], not: [.ruleNotApplied, .noRule],
            says: "/etc/udev/rules.d/93-kazasu.rules is masked"
        ) {
            try $0.plugIn("054c:06c1")
            $0.locked[node] = (EACCES, nil)
            try $0.write("/usr/lib/udev/rules.d/93-kazasu.rules", "")
            try $0.files.link("/etc/udev/rules.d/93-kazasu.rules", to: "/dev/null")
        },
        Scenario("a group that the user is not in", finds: [.notInGroup], says: "the group plugdev") {
            try $0.plugIn("054c:06c1")
            $0.locked[node] = (EACCES, "plugdev")
        },
        Scenario("a member of the group that may not all the same", finds: [.noRule]) {
            try $0.plugIn("054c:06c1")
            $0.locked[node] = (EACCES, "plugdev")
            $0.groups = ["plugdev"]
        },
        Scenario(
            "a pcscd of its own group, and rules from before", finds: [.pcscdShutOut, .permitted], ready: true,
            says: "belongs to the group plugdev"
        ) {
            try $0.plugIn("054c:0dc8", interfaces: [("0b", nil), ("ff", nil)])
            try $0.write("/etc/group", "pcscd:x:990:")
            $0.owners[node] = "plugdev"
        },
        Scenario(
            "a pcscd of its own group that has the reader", finds: [.ownedByPcscd], not: [.notInGroup, .pcscdShutOut],
            says: node
        ) {
            try $0.plugIn("054c:0dc8", interfaces: [("0b", nil), ("ff", nil)])
            try $0.write("/etc/group", "pcscd:x:990:")
            $0.owners[node] = "pcscd"
            $0.locked[node] = (EACCES, "pcscd")
        },
        Scenario("a pcscd that is root", finds: [.permitted], not: [.pcscdShutOut], ready: true) {
            try $0.plugIn("072f:2200", interfaces: [("0b", nil)])
            try $0.write("/etc/group", "plugdev:x:46:")
            $0.owners[node] = "plugdev"
        },
        Scenario(
            "a reader that pcscd does not take", finds: [.permitted], not: [.pcscdShutOut], ready: true
        ) {
            try $0.plugIn("054c:06c1")
            try $0.write("/etc/group", "pcscd:x:990:")
            $0.owners[node] = "plugdev"
        },
        Scenario("no device file", finds: [.noDeviceFile], says: node) { try $0.plugIn("054c:06c1", hasNode: false) },
    ]

    static let holders = [
        Scenario("port100 has it", finds: [.kernelDriverYields, .unheld], ready: true, says: "port100") {
            try $0.plugIn("054c:06c1", interfaces: [("ff", "port100")])
        },
        Scenario(
            "port100 was not given back", finds: [.kernelDriverAway, .unheld], not: [.noKernelDriver], ready: true,
            says: "port100 is loaded but not attached"
        ) {
            try $0.plugIn("054c:06c1")
            try $0.write("/sys/bus/usb/drivers/port100/bind", "")
        },
        Scenario(
            "port100 is loaded, and Kazasu has the reader", finds: [.heldByProgram], not: [.kernelDriverAway]
        ) {
            try $0.plugIn("054c:06c1", interfaces: [("ff", "usbfs")])
            try $0.write("/sys/bus/usb/drivers/port100/bind", "")
            try $0.run("kazasu", process: 4711, holding: node)
        },
        Scenario("a kernel driver of other readers", finds: [.noKernelDriver], not: [.kernelDriverAway], ready: true) {
            try $0.plugIn("054c:0dc8", interfaces: [("0b", nil), ("ff", nil)])
            try $0.write("/sys/bus/usb/drivers/port100/bind", "")
        },
        Scenario("pcscd has it", finds: [.heldByPcscd], says: "process 612") {
            try $0.plugIn("072f:2200", interfaces: [("0b", "usbfs")])
            try $0.run("pcscd", process: 612, holding: node)
        },
        Scenario("another program has it", finds: [.heldByProgram], says: "python3 (process 4711)") {
            try $0.plugIn("054c:06c1", interfaces: [("ff", "usbfs")])
            try $0.run("python3", process: 4711, holding: node)
        },
        Scenario("somebody's program has it", finds: [.heldByUnknown]) {
            try $0.plugIn("054c:06c1", interfaces: [("ff", "usbfs")])
            try $0.run("python3", process: 4711, holding: "/dev/bus/usb/001/006")
        },
        Scenario("pcscd has the other interface", finds: [.pcscdBeside], not: [.heldByPcscd], ready: true) {
            try $0.plugIn("054c:0dc8", interfaces: [("0b", "usbfs"), ("ff", nil)])
            try $0.run("pcscd", process: 612, holding: node)
        },
    ]

    /// The entry of Debian's package.
    private static func vpcd(_ device: String) -> String {
        """
        # a comment
        FRIENDLYNAME "Virtual PCD"
        DEVICENAME   \(device)
        LIBPATH      /usr/lib/pcsc/drivers/serial/libifdvpcd.so
        CHANNELID    0x8C7B
        """
    }

    /// A listening socket among others, as the kernel lists them.
    private static func listening(_ address: String) -> String {
        """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: \(address) 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1234 1
           1: 00000000:8C7B 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 1235 1
           2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1236 1
        """
    }

    static let configurations = [
        Scenario("vpcd that listens on every interface", finds: [.slotOpen], not: [.slotConnects], says: "35963") {
            try $0.write("/etc/reader.conf.d/vpcd", vpcd("/dev/null:0x8C7B"))
            try $0.write("/proc/net/tcp", listening("00000000:8C7B"))
        },
        Scenario("vpcd behind a firewall or on loopback", finds: [.configurationFine], not: [.slotOpen, .slotConnects])
        {
            try $0.write("/etc/reader.conf.d/vpcd", vpcd("/dev/null:0x8C7B"))
            try $0.write("/proc/net/tcp", listening("0100007F:8C7B"))
        },
        Scenario("vpcd that connects itself", finds: [.slotConnects], not: [.slotOpen], says: "localhost:0x8C7B") {
            try $0.write("/etc/reader.conf.d/vpcd", vpcd("localhost:0x8C7B"))
        },
        Scenario("autoscan switched off", finds: [.autoscanOff], not: [.configurationFine], says: "libnfc.conf") {
            try $0.write("/etc/nfc/libnfc.conf", "# a comment\n allow_autoscan = false # why")
        },
        Scenario("a configuration that is well", finds: [.configurationFine], not: [.autoscanOff]) {
            try $0.write(
                "/etc/nfc/libnfc.conf", "allow_autoscan = \"true\"\n#allow_autoscan = false\nlog_level = 1\n=\nx")
        },
        Scenario("every port is scanned", finds: [.intrusiveScan]) {
            try $0.write("/etc/nfc/libnfc.conf", "allow_intrusive_scan=yes")
        },
        Scenario("a port that is not there", finds: [.configuredPortMissing, .portMissing], says: "/dev/ttyUSB9") {
            try $0.write(
                "/etc/nfc/devices.d/pn532.conf", "name = \"x\"\ndevice.connstring = \"pn532_uart:/dev/ttyUSB9\"")
        },
        Scenario("a driver that is not there", finds: [.configuredDriverMissing], says: "pcsc:Sony") {
            try $0.write("/etc/nfc/libnfc.conf", "device.connstring = pcsc:Sony")
        },
        Scenario("a folder that nobody reads", finds: [.unreadFolder], says: "/usr/local/etc/nfc") {
            try $0.write("/usr/local/etc/nfc/libnfc.conf", "allow_autoscan = true")
        },
        Scenario("too many readers", finds: [.tooManyDevices], says: "there are 5") { machine in
            for number in 0..<5 {
                try machine.write("/dev/ttyUSB\(number)", "")
                try machine.write(
                    "/etc/nfc/devices.d/\(number).conf", "device.connstring = pn532_uart:/dev/ttyUSB\(number)")
            }
        },
        Scenario("LIBNFC_DEVICE", finds: [.environmentDevice, .configuredPortMissing, .portMissing]) {
            $0.environment["LIBNFC_DEVICE"] = "pn532_uart:/dev/ttyUSB0"
        },
        Scenario("LIBNFC_AUTO_SCAN", finds: [.environmentAutoscan]) { $0.environment["LIBNFC_AUTO_SCAN"] = "false" },
        Scenario("LIBNFC_INTRUSIVE_SCAN", finds: [.environmentIntrusive]) {
            $0.environment["LIBNFC_INTRUSIVE_SCAN"] = "1"
        },
        Scenario("LIBNFC_LOG_LEVEL", finds: [.environmentLog]) { $0.environment["LIBNFC_LOG_LEVEL"] = "3" },
        Scenario("empty variables", finds: [.configurationFine], not: [.environmentDevice, .environmentLog]) {
            $0.environment = ["LIBNFC_DEVICE": "", "LIBNFC_LOG_LEVEL": "0", "LIBNFC_AUTO_SCAN": "true"]
        },
    ]

    static let ports = [
        Scenario("a serial port", finds: [.portFree], says: "/dev/ttyUSB0") { try $0.write("/dev/ttyUSB0", "") },
        Scenario("KAZASU_READER is not there", finds: [.portMissing], says: "/dev/ttyUSB3") {
            $0.environment["KAZASU_READER"] = "pn532_uart:/dev/ttyUSB3:115200"
        },
        Scenario("a port of dialout's", finds: [.portNotInGroup], not: [.portFree], says: "the group dialout") {
            try $0.write("/dev/ttyACM0", "")
            $0.locked["/dev/ttyACM0"] = (EACCES, "dialout")
        },
        Scenario("a port of nobody's", finds: [.portDenied]) {
            try $0.write("/dev/ttyACM0", "")
            $0.locked["/dev/ttyACM0"] = (EACCES, nil)
        },
        Scenario("a port in use", finds: [.portInUse], says: "minicom (process 33)") {
            try $0.write("/dev/ttyUSB0", "")
            try $0.run("minicom", process: 33, holding: "/dev/ttyUSB0")
        },
        Scenario("a speed that libnfc has not", finds: [.portSpeed], says: "921600") {
            try $0.write("/dev/ttyUSB0", "")
            $0.environment["KAZASU_READER"] = "pn532_uart:/dev/ttyUSB0:921600"
        },
    ]

    static let hosts = [
        Scenario("WSL with a reader", finds: [.wsl], not: [.wslWithoutReader], ready: true) {
            try $0.write("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2")
            try $0.plugIn("054c:06c1")
        },
        Scenario("WSL without one", finds: [.wslWithoutReader, .noReader]) {
            try $0.write("/proc/sys/kernel/osrelease", "5.15.153.1-Microsoft-standard-WSL2")
        },
        Scenario("a container with a port", finds: [.container], not: [.containerWithoutReader]) {
            try $0.write("/.dockerenv", "")
            try $0.write("/dev/ttyUSB0", "")
        },
        Scenario("a container without anything", finds: [.containerWithoutReader]) {
            try $0.write("/run/.containerenv", "")
        },
        Scenario("a container by its environment", finds: [.containerWithoutReader]) {
            $0.environment["container"] = "lxc"
        },
    ]
}
