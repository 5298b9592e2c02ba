// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import KazasuCLI

struct EnvironmentTests {
    /// One thread reads the array of variables while libnfc, on another, adds one.
    @Test func anArrayThatIsReadIsNotFreedWhenLibnfcAddsAVariable() async {
        await #expect(processExitsWith: .success) {
            SystemEnvironment.add("KAZASU_TEST_ADDED", "first")
            SystemEnvironment.add("KAZASU_TEST_ADDED", "second")
            #expect(SystemEnvironment.all["KAZASU_TEST_ADDED"] == "first")

            let read = environ
            let pointers = Self.pointers(read)
            setenv("KAZASU_TEST_OF_LIBNFC", "1", 1)
            // The memory of an array that was freed, or moved, holds something else by now.
            #expect(environ != read)
            #expect(Self.pointers(read) == pointers)
            #expect(SystemEnvironment.all["KAZASU_TEST_OF_LIBNFC"] == "1")
            #expect(SystemEnvironment.all["KAZASU_TEST_ADDED"] == "first")
        }
    }

    private static func pointers(
        _ array: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> [UnsafeMutablePointer<CChar>] {
        var pointers: [UnsafeMutablePointer<CChar>] = []
        while let pointer = array[pointers.count] { pointers.append(pointer) }
        return pointers
    }
}
