// SPDX-License-Identifier: Apache-2.0

// Every system of a FeliCa card, and its services.
import Kazasu

let reader = try openReader()
for system in try reader.waitForCard(.feliCa).scan().systems {
    print(system.system.code, system.services.map(\.description).joined(separator: " "))
}
