// SPDX-License-Identifier: Apache-2.0

/// The speeds of serial lines.
public enum SerialSpeeds {
    /// Those that libnfc's serial code knows (1.8.0, `libnfc/buses/uart.c`), in bits a second; it goes on at another
    /// speed than asked for with any other number.
    public static let libnfc = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800]
}
