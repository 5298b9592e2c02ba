// SPDX-License-Identifier: Apache-2.0

// What a driver's license says without a PIN, and how many tries its PINs have left, as JSON. Nothing here can lock it.
import Kazasu

let reader = try openReader()
let license = try reader.waitForCard(.license).license()
print(license.document(), terminator: "")
