// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import SystemDevices

/// What is known to be wrong with some editions of a reader's firmware: a row of `Data/firmware-faults.tsv`.
struct FirmwareFault: Hashable, Sendable {
    let vendor: UInt16
    let product: UInt16
    /// Device releases, first and last.
    let releases: ClosedRange<UInt16>
    let text: LocalizedText

    static let table = FactTable(
        PackageResources.firmware_faults_tsv, columns: ["vendor", "product", "from", "to", "english", "japanese"],
        key: ["vendor", "product", "from"], row: FirmwareFault.init(_:))

    private init(_ row: FactRow) throws(TableFault) {
        vendor = try row.hex("vendor")
        product = try row.hex("product")
        let (from, to): (UInt16, UInt16) = (try row.hex("from"), try row.hex("to"))
        guard from <= to else { throw row.fault("to", .notANumber) }
        releases = from...to
        text = LocalizedText(try row.required("english"), try row.required("japanese"))
    }

    /// What is known of a device's firmware.
    static func check(_ device: USBDevice, release: UInt16?) -> Check? {
        guard let release else { return nil }
        let known = table.rows.filter { $0.vendor == device.vendor && $0.product == device.product }
        guard !known.isEmpty else { return nil }
        let version = LocalizedText(Self.version(release), Self.version(release))
        guard let fault = known.first(where: { $0.releases.contains(release) }) else {
            return Check(.firmwareFine, [version])
        }
        return Check(.firmwareFault, [version, fault.text])
    }

    /// 0203 is 2.03.
    private static func version(_ release: UInt16) -> String {
        let digits = String(release & 0xFF, radix: 16)
        return "\(String(release >> 8, radix: 16)).\(digits.utf8.count < 2 ? "0" : "")\(digits)"
    }
}
