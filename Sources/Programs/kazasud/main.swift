// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import KazasuCommands
import KazasuServiceCLI

Program.install(allCommands, helpGroups)
Program.start(serviceExtension)
