// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import KazasuCommands

Program.install(allCommands, helpGroups)
Program.start()
