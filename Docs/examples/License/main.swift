// SPDX-License-Identifier: Apache-2.0

// What a driver's license says without a PIN, and how many tries its PINs have left. Nothing here can lock it.
import Kazasu

let reader = try openReader()
let license = try reader.waitForCard(.license).license().report
print(license)
