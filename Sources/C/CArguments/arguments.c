/* SPDX-License-Identifier: Apache-2.0 */

#include "arguments.h"

#include <features.h>

static int count;
static char *const *values;

/* glibc calls constructors with the parameters of main. */
__attribute__((constructor)) static void keep(int argc, char **argv) {
#ifdef __GLIBC__
    count = argc;
    values = argv;
#else
    (void)argc;
    (void)argv;
#endif
}

int kazasu_argument_count(void) { return count; }

char *const *kazasu_arguments(void) { return values; }

extern char **environ;

void kazasu_set_environment(char **variables) { environ = variables; }
