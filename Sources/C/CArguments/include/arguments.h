/* SPDX-License-Identifier: Apache-2.0 */

/* The arguments of the process as the kernel passed them to it. Swift's CommandLine reads /proc/self/cmdline instead, and
   has none where /proc is not mounted, as in many roots in which images are built. */

#ifndef KAZASU_ARGUMENTS_H
#define KAZASU_ARGUMENTS_H

/* The number of arguments with the program's name; 0 if the C library does not pass them to constructors. */
int kazasu_argument_count(void);

/* The arguments; kazasu_argument_count() of them. */
char *const *kazasu_arguments(void);

/* Makes this array, with NULL at its end, that of the process's variables, which Swift can only read. It must live as long
   as the process. */
void kazasu_set_environment(char **variables);

#endif
