// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// The modulation and speed of a frame in the air.
public enum RadioTechnology: Hashable, Sendable {
    /// FeliCa at 212 or 424 kbit/s.
    case felica(FeliCaBitRate)
    /// ISO 14443 type A at 106 kbit/s.
    case typeA
    /// ISO 14443 type B at 106 kbit/s.
    case typeB
}
