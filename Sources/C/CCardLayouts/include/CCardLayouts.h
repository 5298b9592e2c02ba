// SPDX-License-Identifier: Apache-2.0
#ifndef KAZASU_CARD_LAYOUTS_H
#define KAZASU_CARD_LAYOUTS_H

// The nodes of the systems of known cards. Scripts/layout-tables.py makes the table.

/// A system as the cards of one list have it.
struct kazasu_layout {
    /// Its code.
    unsigned short system;
    /// The number of the list: equal numbers are systems of one card.
    unsigned short list;
    /// Where its nodes begin in `kazasu_layout_nodes`.
    unsigned short first;
    /// The number of its nodes.
    unsigned short count;
};

/// The rows, ascending by system.
extern const struct kazasu_layout *const kazasu_layouts;
extern const unsigned long kazasu_layouts_count;

/// Codes of areas and services, ascending within a row, the root area first.
extern const unsigned short *const kazasu_layout_nodes;
extern const unsigned long kazasu_layout_nodes_count;

#endif
