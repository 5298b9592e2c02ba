// SPDX-License-Identifier: Apache-2.0

import NFCForumTags

/// Why a tag has no message, as the reading layer names it.
typealias TagObstacle = TagError.Obstacle
