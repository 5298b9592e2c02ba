/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CMOSQUITTO_SHIM_H
#define KAZASU_CMOSQUITTO_SHIM_H

#include <mosquitto.h>
#include <mqtt_protocol.h>

#endif
