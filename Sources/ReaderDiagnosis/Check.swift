// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// One thing that was examined, the finding, and its fix.
package struct Check: Hashable, Sendable {
    /// The thing that was examined.
    package enum Layer: String, Hashable, Sendable, CaseIterable {
        /// Whether a reader is plugged in.
        case bus
        /// Whether Kazasu has a driver for it.
        case model
        /// Whether the user is allowed to open it.
        case permission
        case kernelDriver
        /// Whether another program holds it.
        case process
        /// Whether pcscd can be used, for readers that need it.
        case service
        /// Whether its firmware has known faults.
        case firmware
        /// libnfc's configuration files, and the environment.
        case configuration
        case serialPort
        /// The system: a real one, a container, WSL.
        case host
        /// Whether the named reader answers.
        case reader
    }

    /// The severity.
    package enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case ok
        /// Worth knowing.
        case note
        /// Works, but not as well as it could, or may mislead.
        case warning
        /// The reader cannot be used because of it.
        case fault
    }

    /// The finding.
    package let code: Code
    /// The values for `{0}`, `{1}` and so on.
    let values: [LocalizedText]
    private let row: CheckRow

    package init(_ code: Code, _ values: [LocalizedText]) {
        self.code = code
        self.values = values
        row = CheckRow.of(code)
    }

    package init(_ code: Code, _ values: String...) {
        self.init(code, values.map { LocalizedText($0, $0) })
    }

    /// The thing that was examined.
    package var layer: Layer { row.layer }
    /// The severity.
    package var verdict: Verdict { row.verdict }
    /// The finding, as a sentence without its full stop.
    package var message: LocalizedText { row.message.filled(values) }
    /// The fix; `nil` when nothing has to be fixed.
    package var remedy: LocalizedText? { row.remedy?.filled(values) }
}

/// The meaning of a ``Check/Code``: a row of `Data/checks.tsv`.
struct CheckRow: Hashable, Sendable {
    let code: Check.Code
    let layer: Check.Layer
    let verdict: Check.Verdict
    let message: LocalizedText
    let remedy: LocalizedText?

    static let table = FactTable(
        PackageResources.checks_tsv,
        columns: ["code", "layer", "verdict", "english", "japanese", "remedyEnglish", "remedyJapanese"],
        key: ["code"], row: CheckRow.init(_:))

    private static let byCode = Dictionary(
        table.rows.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    /// The row of a code; every code has one, which a test ensures.
    static func of(_ code: Check.Code) -> CheckRow {
        byCode[code] ?? CheckRow(code)
    }

    private init(_ code: Check.Code) {
        self.code = code
        (layer, verdict) = (.reader, .note)
        message = LocalizedText(code.rawValue, code.rawValue)
        remedy = nil
    }

    private init(_ row: FactRow) throws(FactTableError) {
        guard let code = try row.word("code", Check.Code.self), let layer = try row.word("layer", Check.Layer.self),
            let verdict = try row.word("verdict", Check.Verdict.self)
        else { throw row.fault("code", .empty) }
        (self.code, self.layer, self.verdict) = (code, layer, verdict)
        message = LocalizedText(try row.required("english"), try row.required("japanese"))
        let remedies = (try row.text("remedyEnglish"), try row.text("remedyJapanese"))
        if let english = remedies.0, let japanese = remedies.1 {
            remedy = LocalizedText(english, japanese)
        } else {
            guard remedies == (nil, nil) else { throw row.fault("remedyEnglish", .empty) }
            remedy = nil
        }
        // A fault without a fix helps nobody.
        if verdict == .fault || verdict == .warning, remedy == nil { throw row.fault("remedyEnglish", .empty) }
    }
}

/// The tables of this module.
package enum DiagnosisTables {
    /// The errors in them, by file name; a release has none.
    package static var faults: [String: [FactTableError]] {
        ["checks.tsv": CheckRow.table.faults, "firmware-faults.tsv": FirmwareWarning.table.faults]
            .filter { !$0.value.isEmpty }
    }
}

extension Check {
    /// The possible findings; the raw values are those of `kazasu.doctor/1`, and each has a row in `Data/checks.tsv`.
    @nonexhaustive
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// Bus: it is plugged in at port {0} (bus {1}, device {2}).
        case plugged
        /// Bus: no reader that Kazasu knows is on the USB.
        case noReader
        /// Bus: no reader that Kazasu knows is on the USB, and none is needed: the named one answers.
        case noUSBReader
        /// Bus: {0} ({1}) is a chip card reader that none of Kazasu's own drivers knows.
        case strangeReader
        /// Model: Kazasu drives it ({0}).
        case driven
        /// Model: no driver of Kazasu's can use it: {0}.
        case notDriven
        /// Permission: you may open {0}.
        case permitted
        /// Permission: you may not open {0}: no udev rule gives it to you; {1} would.
        case noRule
        /// Permission: you may not open {0}, which was plugged in before the udev rule came.
        case ruleNotApplied
        /// Permission: you may not open {0}: the udev rule {1} is turned off by a link to /dev/null.
        case ruleMasked
        /// Permission: {0} belongs to the group {1}, and you do not.
        case notInGroup
        /// Permission: it is on the USB, but {0} does not exist.
        case noDeviceFile
        case noKernelDriver
        /// KernelDriver: the kernel driver {0} has it; Kazasu takes it for each command and gives it back.
        case kernelDriverYields
        /// KernelDriver: the kernel driver {0} is loaded and does not hold it; {1} is the interface.
        case kernelDriverAway
        /// Process: no other program holds it.
        case unheld
        /// Process: pcscd holds its chip card interface; Kazasu uses the other one.
        case pcscdBeside
        /// Process: pcscd (process {0}) holds it.
        case heldByPcscd
        /// Process: {1} (process {0}) holds it.
        case heldByProgram
        /// Process: a program of another user holds it.
        case heldByUnknown
        /// Service: pcscd can be asked at {0}.
        case serviceThere
        /// Service: pcscd has the reader {0}.
        case serviceHasReader
        /// Service: pcscd is not installed.
        case serviceMissing
        /// Service: pcscd does not run.
        case serviceStopped
        /// Service: pcscd's socket exists, but nothing answers on it.
        case serviceSilent
        /// Service: you may not open {0}, at which pcscd is asked.
        case serviceClosed
        /// Service: pcscd runs and refuses you.
        case serviceRefuses
        /// Service: vpcd listens at the ports {0} and {1} on every interface.
        case slotOpen
        /// Service: {0} lets vpcd connect to {1}, instead of listening.
        case slotConnects
        /// Firmware: no faults of its firmware {0} are known.
        case firmwareFine
        /// Firmware: firmware {0}: {1}.
        case firmwareFault
        /// Configuration: nothing in libnfc's files and in the environment misleads.
        case configurationFine
        /// Configuration: allow_autoscan = false in {0} hides USB readers from libnfc.
        case autoscanOff
        /// Configuration: allow_intrusive_scan = true in {0} lets libnfc write to every serial port.
        case intrusiveScan
        /// Configuration: {0} names {1}, which does not exist.
        case configuredPortMissing
        /// Configuration: {0} names {1}, for which libnfc as Debian builds it has no driver.
        case configuredDriverMissing
        /// Configuration: Debian's libnfc does not read {0}.
        case unreadFolder
        /// Configuration: libnfc takes four configured readers, and there are {0}.
        case tooManyDevices
        /// Configuration: LIBNFC_DEVICE hides every other reader of libnfc's.
        case environmentDevice
        /// Configuration: LIBNFC_AUTO_SCAN hides USB readers from libnfc.
        case environmentAutoscan
        /// Configuration: LIBNFC_INTRUSIVE_SCAN lets libnfc write to every serial port.
        case environmentIntrusive
        /// Configuration: LIBNFC_LOG_LEVEL lets libnfc write to standard error.
        case environmentLog
        /// SerialPort: {0} may be opened; whether a PN532 is behind it only a try can tell.
        case portFree
        /// SerialPort: {0} does not exist.
        case portMissing
        /// SerialPort: {0} belongs to the group {1}, and you do not.
        case portNotInGroup
        /// SerialPort: you may not open {0}.
        case portDenied
        /// SerialPort: {0} is in use by {2} (process {1}).
        case portInUse
        /// SerialPort: {0}: libnfc knows no speed of {1} baud.
        case portSpeed
        /// Host: an ordinary Linux system.
        case plainHost
        /// Host: this is Linux inside Windows (WSL); Windows hands USB devices over one by one.
        case wsl
        /// Host: Windows has handed no reader over to this WSL.
        case wslWithoutReader
        /// Host: this is a container; it sees the devices that it was started with.
        case container
        /// Host: this container was started without a reader.
        case containerWithoutReader
        /// Reader: {0} answers: {1}.
        case answers
        /// Reader: {0} cannot be used: {1}.
        case answersNot
    }
}
