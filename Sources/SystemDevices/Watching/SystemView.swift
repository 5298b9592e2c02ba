// SPDX-License-Identifier: Apache-2.0

/// What there is on the USB and in `/dev`, to see whether it is still the same.
struct SystemView: Hashable {
    private let devices: [USBDevice]
    private let obstacles: [DeviceNodeFault?]
    private let deviceFiles: [String]

    init(_ paths: SystemPaths) {
        devices = USBDevice.all(paths)
        obstacles = devices.map(\.obstacle)
        deviceFiles = Directory.names(in: paths.devices)
    }
}
