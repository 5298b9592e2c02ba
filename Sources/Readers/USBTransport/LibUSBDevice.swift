// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB
internal import Glibc
internal import ReaderCore
internal import SystemDevices

/// A device that libusb holds open, with one interface claimed.
///
/// The kernel driver that holds the interface is detached, and reattached in ``close()``, by hand: libusb's automatic
/// way also attaches a driver where there was none. SET_CONFIGURATION is sent only to a device that has no
/// configuration: felica-rs traced wrong acknowledgements of the RC-S380 to the reset that a second one causes.
@safe final class LibUSBDevice {
    let context: OpaquePointer
    let handle: OpaquePointer
    let endpoints: USBEndpoints
    /// Whether the interface goes to the kernel driver in the end.
    private let isForKernel: Bool
    private var isClosed = false

    /// Opens a device and claims the first interface of a class that has these endpoints.
    ///
    /// - Parameter attachesDriver: whether to attach the kernel driver in the end even if none had the interface.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    init(_ device: USBDevice, classCode: UInt8, pipes: USBPipes, attachesDriver: Bool) throws(TransportError) {
        var context: OpaquePointer?
        guard unsafe libusb_init(&context) == 0, let context = unsafe context else {
            throw .readerUnavailable(reason: .absent, detail: .init(.noUSB))
        }
        do throws(TransportError) {
            let handle = try unsafe Self.open(device, context)
            do throws(TransportError) {
                let endpoints = try unsafe Self.endpoints(of: handle, classCode, pipes)
                isForKernel = try unsafe Self.claim(endpoints.interface, of: handle) || attachesDriver
                unsafe self.context = context
                unsafe self.handle = handle
                self.endpoints = endpoints
            } catch {
                unsafe libusb_close(handle)
                throw error
            }
        } catch {
            unsafe libusb_exit(context)
            throw error
        }
    }

    deinit {
        close()
    }

    /// Releases the interface and the device.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe libusb_release_interface(handle, endpoints.interface)
        if isForKernel { unsafe libusb_attach_kernel_driver(handle, endpoints.interface) }
        unsafe libusb_close(handle)
        unsafe libusb_exit(context)
    }

    /// Resets a device on its port, as if it were plugged in again; it may get another address as a result.
    ///
    /// - Returns: whether the kernel did so.
    static func reset(_ device: USBDevice) -> Bool {
        var context: OpaquePointer?
        guard unsafe libusb_init(&context) == 0, let context = unsafe context else { return false }
        defer { unsafe libusb_exit(context) }
        guard let handle = try? unsafe open(device, context) else { return false }
        defer { unsafe libusb_close(handle) }
        let result = unsafe libusb_error(libusb_reset_device(handle))
        // The device is found again under another address.
        return result == LIBUSB_SUCCESS || result == LIBUSB_ERROR_NOT_FOUND
    }

    private static func open(
        _ device: USBDevice, _ context: OpaquePointer
    ) throws(TransportError) -> OpaquePointer {
        var list: UnsafeMutablePointer<OpaquePointer?>?
        let count = unsafe libusb_get_device_list(context, &list)
        defer { if let list = unsafe list { unsafe libusb_free_device_list(list, 1) } }
        for index in 0..<max(0, count) {
            guard let candidate = unsafe list?[index],
                unsafe Int(libusb_get_bus_number(candidate)) == device.bus,
                unsafe Int(libusb_get_device_address(candidate)) == device.address
            else { continue }
            var handle: OpaquePointer?
            let result = unsafe libusb_open(candidate, &handle)
            if let handle = unsafe handle { return unsafe handle }
            throw whyNot(result, device)
        }
        throw .unplugged
    }

    private static func whyNot(_ result: Int32, _ device: USBDevice) -> TransportError {
        if let obstacle = device.obstacle { return obstacle.error }
        let number: Int32 =
            switch libusb_error(result) {
            case LIBUSB_ERROR_ACCESS: EACCES
            case LIBUSB_ERROR_BUSY: EBUSY
            case LIBUSB_ERROR_NO_DEVICE: ENODEV
            default: EIO
            }
        return DeviceNodeError(errorNumber: number, path: device.node).error
    }

    private static func endpoints(
        of handle: OpaquePointer, _ classCode: UInt8, _ pipes: USBPipes
    ) throws(TransportError) -> USBEndpoints {
        var active: Int32 = 0
        if unsafe libusb_get_configuration(handle, &active) == 0, active == 0 {
            unsafe libusb_set_configuration(handle, 1)
        }
        var configuration: UnsafeMutablePointer<libusb_config_descriptor>?
        guard unsafe libusb_get_active_config_descriptor(libusb_get_device(handle), &configuration) == 0,
            let configuration = unsafe configuration
        else { throw .readerUnavailable(reason: .unsupported, detail: .init(.noConfiguration)) }
        defer { unsafe libusb_free_config_descriptor(configuration) }
        guard let found = unsafe USBEndpoints(in: configuration.pointee, classCode: classCode, pipes: pipes) else {
            throw .readerUnavailable(reason: .unsupported, detail: .init(.noInterface))
        }
        return found
    }

    /// Claims an interface.
    ///
    /// - Returns: whether a kernel driver had it, which is to be reattached.
    private static func claim(_ interface: Int32, of handle: OpaquePointer) throws(TransportError) -> Bool {
        var tookFromKernel = false
        if unsafe libusb_kernel_driver_active(handle, interface) == 1 {
            switch unsafe libusb_error(libusb_detach_kernel_driver(handle, interface)) {
            case LIBUSB_SUCCESS: tookFromKernel = true
            // The driver was gone already.
            case LIBUSB_ERROR_NOT_FOUND: break
            case LIBUSB_ERROR_NO_DEVICE: throw .unplugged
            default: throw .readerUnavailable(reason: .busy, detail: .init(.keptByKernelDriver))
            }
        }
        let result = unsafe libusb_claim_interface(handle, interface)
        if result == 0 { return tookFromKernel }
        if tookFromKernel { unsafe libusb_attach_kernel_driver(handle, interface) }
        switch libusb_error(result) {
        case LIBUSB_ERROR_BUSY: throw .readerUnavailable(reason: .busy, detail: .init(.heldByProgram))
        case LIBUSB_ERROR_NO_DEVICE: throw .unplugged
        default: throw .readerUnavailable(reason: .busy, detail: .init(.notClaimed, "\(result)"))
        }
    }
}

/// The ways of a device's data.
package enum USBPipes: Hashable, Sendable {
    /// A bulk endpoint of each direction.
    case bulk
    /// To the device by vendor control transfers (request type 40, request, value and index 0), from it by the packets of
    /// an interrupt endpoint: the old PaSoRis (libpafe's `pasori_command.c`, felica-rs, pasorich).
    case controlAndInterrupt
}

/// The interface of a device that a driver uses, and its first endpoint of each direction.
struct USBEndpoints: Hashable, Sendable {
    let interface: Int32
    let pipes: USBPipes
    let input: UInt8
    /// 0, the control endpoint, with ``USBPipes/controlAndInterrupt``.
    let output: UInt8
    /// The most bytes of one transfer from the device. A packet that is full does not end a transfer, so that of an interrupt
    /// endpoint is one packet.
    let longestInput: Int
    /// The maximum packet size to the device, in bytes.
    let outputPacket: Int

    /// One endpoint: its address and its maximum packet size.
    private struct Endpoint {
        let address: UInt8
        let packet: Int

        var isInput: Bool { address & 0x80 != 0 }
    }

    /// More than the longest answer of any PaSoRi, and a whole number of packets of any size.
    private static let longestBulk = 4096

    /// Finds the first interface of a class that has the endpoints; `nil` when there is none.
    ///
    /// By class, not by number: an RC-S300 has a chip card interface first, which pcscd may hold.
    @unsafe init?(in configuration: libusb_config_descriptor, classCode: UInt8, pipes: USBPipes) {
        for index in unsafe 0..<Int(configuration.bNumInterfaces) {
            guard let settings = unsafe configuration.interface?[index], unsafe settings.num_altsetting > 0,
                let setting = unsafe settings.altsetting?.pointee, unsafe setting.bInterfaceClass == classCode
            else { continue }
            let type = pipes == .bulk ? LIBUSB_TRANSFER_TYPE_BULK : LIBUSB_TRANSFER_TYPE_INTERRUPT
            let all = unsafe Self.endpoints(setting, type)
            let out = all.first { !$0.isInput }
            guard let input = all.first(where: \.isInput), pipes == .controlAndInterrupt || out != nil else { continue }
            unsafe interface = Int32(setting.bInterfaceNumber)
            self.pipes = pipes
            self.input = input.address
            longestInput = pipes == .bulk ? Self.longestBulk : max(1, input.packet)
            output = pipes == .bulk ? out?.address ?? 0 : 0
            outputPacket = max(1, out?.packet ?? 1)
            return
        }
        return nil
    }

    @unsafe private static func endpoints(
        _ setting: libusb_interface_descriptor, _ type: libusb_transfer_type
    ) -> [Endpoint] {
        unsafe (0..<Int(setting.bNumEndpoints)).compactMap { index in
            guard let endpoint = unsafe setting.endpoint?[index],
                unsafe UInt32(endpoint.bmAttributes & 0x03) == type.rawValue
            else { return nil }
            return unsafe Endpoint(address: endpoint.bEndpointAddress, packet: Int(endpoint.wMaxPacketSize & 0x07FF))
        }
    }
}

/// Wakes a thread that waits in libusb; usable from any thread while the context lives. A call that comes before the
/// wait ends the next one.
@safe struct USBWaker: @unchecked Sendable {
    private let context: OpaquePointer

    init(context: OpaquePointer) {
        unsafe self.context = context
    }

    func wake() {
        unsafe libusb_interrupt_event_handler(context)
    }
}

extension timeval {
    /// A time in seconds and microseconds, as libusb takes it; zero for a negative one.
    init(_ time: Duration) {
        let seconds = time.count(of: .seconds(1))
        self.init(tv_sec: seconds, tv_usec: (time - .seconds(seconds)).count(of: .microseconds(1)))
    }
}
