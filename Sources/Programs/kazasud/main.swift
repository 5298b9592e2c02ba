// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import KazasuCommands
import KazasuServiceCLI

Program.start(allCommands, serviceExtension)
