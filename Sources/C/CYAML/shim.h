/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CYAML_SHIM_H
#define KAZASU_CYAML_SHIM_H

#include <yaml.h>

#endif
