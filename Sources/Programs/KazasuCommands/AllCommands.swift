// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import KazasuCLI

/// The commands that both programs have, in the order of the help.
package let allCommands: [any ParsableCommand.Type] = [
    Readers.self, DoctorCommand.self, Poll.self, Scan.self, Dump.self, Read.self, Write.self, Balance.self,
    History.self,
    License.self, MyNumber.self, Residence.self, Passport.self, Tag.self, Classic.self, DESFire.self, Lite.self,
    Standard.self,
    FeliCaRaw.self, APDU.self,
    Decode.self, Convert.self, Diff.self, Simulate.self, Contribute.self, Stations.self,
    Completion.self,
]
