/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CMOSQUITTO_SHIM_H
#define KAZASU_CMOSQUITTO_SHIM_H

#include <mosquitto.h>
/* A thread that polls a client's socket is woken through an eventfd, which Glibc's module lacks. */
#include <sys/eventfd.h>
#include <mqtt_protocol.h>

#endif
