// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import KazasuServiceCLI

Program.start(serviceExtension)
