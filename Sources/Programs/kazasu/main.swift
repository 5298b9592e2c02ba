// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import KazasuCommands

Program.start(allCommands)
