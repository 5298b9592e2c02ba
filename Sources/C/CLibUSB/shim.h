/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CLIBUSB_SHIM_H
#define KAZASU_CLIBUSB_SHIM_H

#include <libusb.h>

#endif
