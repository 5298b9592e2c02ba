// SPDX-License-Identifier: Apache-2.0

/// What became of something that can be plugged in, between two looks at what is there.
public enum DeviceChange<Device> {
    /// It is there now.
    case arrived(Device)
    /// It was there and is, but can be used no more, or now, or is called something else.
    case changed(Device)
    /// It is gone; the value is as it was.
    case left(Device)

    /// What it is about.
    public var device: Device {
        switch self {
        case .arrived(let device), .changed(let device), .left(let device): device
        }
    }
}

extension DeviceChange: Equatable where Device: Equatable {}
extension DeviceChange: Sendable where Device: Sendable {}

extension DeviceChange where Device: Identifiable & Equatable {
    /// What is different: first what left, in the old order, then the rest in the new order.
    ///
    /// Of several with the same ID the first counts.
    public static func between(_ old: [Device], _ new: [Device]) -> [DeviceChange] {
        let before = byID(old)
        let after = byID(new)
        let left = old.filter { after[$0.id] == nil }.map(DeviceChange.left)
        var told: Set<Device.ID> = []
        return left
            + new.compactMap { device in
                guard told.insert(device.id).inserted else { return nil }
                guard let previous = before[device.id] else { return .arrived(device) }
                return previous == device ? nil : .changed(device)
            }
    }

    private static func byID(_ devices: [Device]) -> [Device.ID: Device] {
        Dictionary(devices.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
