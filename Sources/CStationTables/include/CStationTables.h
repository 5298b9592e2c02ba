// SPDX-License-Identifier: Apache-2.0
#ifndef KAZASU_STATION_TABLES_H
#define KAZASU_STATION_TABLES_H

// The names of stations and bus stops that come with Kazasu: UTF-8 text, a line a row, sorted by the upper-case hexadecimal
// key that each line begins with, fields separated by tabs, trailing empty fields left out.

/// Company (3 digits), name, name in Latin script.
extern const char *const kazasu_companies;
extern const unsigned long kazasu_companies_size;

/// Line (3 digits), company, name, name in Latin script.
extern const char *const kazasu_lines;
extern const unsigned long kazasu_lines_size;

/// Area, line and station code (2 digits each), line, name, name in Latin script.
extern const char *const kazasu_stations;
extern const unsigned long kazasu_stations_size;

/// Operator and stop code (4 digits each), company, name.
extern const char *const kazasu_stops;
extern const unsigned long kazasu_stops_size;

/// Area, line and station code, former name, the day of the change (`YYYY-MM-DD`) if known; several rows can have one key.
extern const char *const kazasu_former;
extern const unsigned long kazasu_former_size;

#endif
