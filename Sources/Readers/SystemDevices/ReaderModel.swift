// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// A reader that is known by its USB numbers, whether Kazasu can use it or not.
///
/// The table `Data/reader-models.tsv` lists them all, and gives the sources of the facts.
package struct ReaderModel: Hashable, Sendable {
    /// The vendor's number.
    package let vendor: UInt16
    /// The product's number.
    package let product: UInt16
    /// The display name.
    package let name: String
    /// The driver that opens it: `pn53x_usb` and `acr122_usb` are libnfc's, others Kazasu's own; `nil` when there is
    /// none.
    package let driver: String?
    /// The kernel driver that takes it when it is plugged in, where one does.
    package let kernelDriver: String?
    /// Whether pcscd takes it, where that is installed.
    package let isTakenByPcscd: Bool
    /// Why nothing opens it; `nil` when ``driver`` does.
    package let obstacle: LocalizedText?

    package static var all: [ReaderModel] { table.rows }

    /// The errors in the table; a release has none.
    package static var faults: [FactTableError] { table.faults }

    /// Returns the model of a device, `nil` when it is not a known reader.
    package init?(of device: USBDevice) {
        guard let model = Self.all.first(where: { $0.vendor == device.vendor && $0.product == device.product }) else {
            return nil
        }
        self = model
    }

    private static let table = FactTable(
        PackageResources.reader_models_tsv,
        columns: ["vendor", "product", "name", "driver", "kernel", "pcsc", "english", "japanese"],
        key: ["vendor", "product"], row: ReaderModel.init(_:))

    private init(_ row: FactRow) throws(FactTableError) {
        vendor = try row.hex("vendor")
        product = try row.hex("product")
        name = try row.required("name")
        driver = try row.text("driver")
        kernelDriver = try row.text("kernel")
        isTakenByPcscd = try row.text("pcsc") == "yes"
        obstacle = try row.name()
        // A model has a driver or a reason why not.
        guard (driver == nil) != (obstacle == nil) else { throw row.fault("driver", .empty) }
    }
}

extension USBDevice {
    /// The interfaces that a Kazasu driver uses: the vendor's own where a reader has one, else all.
    package var readerInterfaces: [USBInterface] {
        let own = interfaces.filter { $0.classCode == 0xFF }
        return own.isEmpty ? interfaces : own
    }

    /// The kernel driver that a reader has lost, and the free interface that it would have.
    ///
    /// A loaded driver takes its readers when they are plugged in. A program that is killed while it has one cannot
    /// give it back, so the next one does.
    package func lostKernelDriver(_ paths: SystemPaths = SystemPaths()) -> (name: String, interface: USBInterface)? {
        guard let name = ReaderModel(of: self)?.kernelDriver, let free = readerInterfaces.first,
            readerInterfaces.allSatisfy({ $0.driver == nil }),
            !Directory.names(in: "\(paths.usbDrivers)/\(name)").isEmpty
        else { return nil }
        return (name, free)
    }
}
