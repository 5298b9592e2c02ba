// SPDX-License-Identifier: Apache-2.0
// The tables themselves lie in ThirdParty/stations and are under terms of their own, in the LICENSE there.

#include "CStationTables.h"

#if defined(KAZASU_STATIONS_OPEN)
#include "../../../ThirdParty/stations/open.inc"
#elif __has_include("../../../ThirdParty/stations/tables.inc")
#include "../../../ThirdParty/stations/tables.inc"
#else
// An archive of the sources does not contain them: codes are shown.
static const int ysrl_stations = 0;
static const char companies[] = "", lines[] = "", stations[] = "", stops[] = "", former[] = "", former_lines[] = "";
#endif

const int kazasu_ysrl_stations = ysrl_stations;

#define TABLE(name)                              \
    const char *const kazasu_##name = name;      \
    const unsigned long kazasu_##name##_size = sizeof name - 1;

TABLE(companies)
TABLE(lines)
TABLE(stations)
TABLE(stops)
TABLE(former)
TABLE(former_lines)
