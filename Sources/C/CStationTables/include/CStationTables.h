// SPDX-License-Identifier: Apache-2.0
#ifndef KAZASU_STATION_TABLES_H
#define KAZASU_STATION_TABLES_H

// The names of stations and bus stops that come with Kazasu: UTF-8 text, a line a row, sorted by the upper-case hexadecimal
// key that each line begins with, fields separated by tabs, trailing empty fields left out. Scripts/station-tables.py makes it.

/// Company (3 digits), name, name in Latin script, and the short form of both where it is another.
extern const char *const kazasu_companies;
extern const unsigned long kazasu_companies_size;

/// Line (3 digits), company, name, name in Latin script, and what people call the line, in both scripts: `=` stands for the company's short
/// name and a blank, `~` for `JR` and a blank; nothing after it is the name of the line.
extern const char *const kazasu_lines;
extern const unsigned long kazasu_lines_size;

/// Area, line and station code (2 digits each), line, name, name in Latin script, doubt (`o` one source, `d` disputed).
extern const char *const kazasu_stations;
extern const unsigned long kazasu_stations_size;

/// Operator and stop code (4 digits each), company, name; without a name only the company is known.
extern const char *const kazasu_stops;
extern const unsigned long kazasu_stops_size;

/// Area, line and station code, name, the day of the change (`YYYY-MM-DD`) if known, name in Latin script, whose name it was (nothing: that
/// of the same station; `r`: another station's, `i`: the same on an inferred day; `v`: the last station's with this code), and a day from which the
/// present name is certain. Several rows can have one key.
extern const char *const kazasu_former;
extern const unsigned long kazasu_former_size;

/// Line (3 digits), the day from which its row in `kazasu_lines` is right (`YYYY-MM-DD`), and what it had before: company, name, name in Latin
/// script, and what people called the line, in both scripts. What is empty did not change.
extern const char *const kazasu_former_lines;
extern const unsigned long kazasu_former_lines_size;

/// How many rows come from YSRL: none in a build without them.
extern const int kazasu_ysrl_stations;

#endif
