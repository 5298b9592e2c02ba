// SPDX-License-Identifier: Apache-2.0

#include "CCardLayouts.h"

#include "../../../ThirdParty/felica-tool/layouts.inc"

const struct kazasu_layout *const kazasu_layouts = layouts;
const unsigned long kazasu_layouts_count = sizeof layouts / sizeof *layouts;

const unsigned short *const kazasu_layout_nodes = nodes;
const unsigned long kazasu_layout_nodes_count = sizeof nodes / sizeof *nodes;
