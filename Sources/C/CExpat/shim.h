/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CEXPAT_SHIM_H
#define KAZASU_CEXPAT_SHIM_H

#include <expat.h>

#endif
