/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program and says how long it took from start to exit and how much memory it held at most.
 * Small on purpose: Linux counts the memory of the process that starts a program as the program's own peak,
 * so that a bench driver of 20 MB would never see less than 20 MB.
 *
 * usage: measure RESULT PROGRAM [ARGUMENT...]     RESULT gets one line: nanoseconds, peak in KiB, exit status
 */
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

int main(int argc, char **argv)
{
    struct timespec start, end;
    struct rusage usage;
    pid_t child;
    int status;

    if (argc < 3)
        return 64;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ) != 0) {
        perror(argv[2]);
        return 66;
    }
    if (wait4(child, &status, 0, &usage) != child)
        return 70;
    clock_gettime(CLOCK_MONOTONIC, &end);

    FILE *result = fopen(argv[1], "w");
    if (result == NULL) {
        perror(argv[1]);
        return 73;
    }
    long long elapsed = (end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    fprintf(result, "%lld %ld %d\n", elapsed, usage.ru_maxrss, code);
    return fclose(result) == 0 ? 0 : 73;
}
