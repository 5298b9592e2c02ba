// SPDX-License-Identifier: Apache-2.0
// streams PORT COUNT: many clients of `kazasu serve`'s /v1/taps in one thread, as a load that costs little itself.
//
// Prints "ready" when each client has its first event. A line on standard input is the id of the last event: when each
// client has it, or 60 s later, a line for each client follows: the ids of its first and last event, how many it got, a
// hash (FNV-1a) of their ids in order, and how many other messages. Python compares these with what the server stored.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ID = 36 };

struct client {
    int socket;
    char line[64];
    size_t length;
    // Of the message that is being received.
    char id[ID + 1], event[16];
    char first[ID + 1], last[ID + 1];
    uint64_t count, hash, others;
};

static struct client *clients;
static long total, started;
static char wanted[ID + 1];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

// An event, at the empty line behind it.
static void end_message(struct client *client) {
    int is_event = !strcmp(client->event, "on") || !strcmp(client->event, "off") || !strcmp(client->event, "reader");
    if (is_event && client->id[0]) {
        if (!client->first[0]) {
            memcpy(client->first, client->id, sizeof client->first);
            started++;
        }
        memcpy(client->last, client->id, sizeof client->last);
        for (const char *byte = client->id; *byte; byte++) client->hash = (client->hash ^ (uint8_t)*byte) * 0x100000001b3;
        client->count++;
    } else if (client->event[0] && strcmp(client->event, "state")) {
        client->others++;
    }
    client->event[0] = client->id[0] = 0;
}

// A line; of long ones the beginning. Lines with the sizes of HTTP's chunks come between them and mean nothing here.
static void end_line(struct client *client) {
    char *line = client->line;
    line[client->length] = 0;
    if (!strncmp(line, "id: ", 4)) snprintf(client->id, sizeof client->id, "%s", line + 4);
    if (!strncmp(line, "event: ", 7)) snprintf(client->event, sizeof client->event, "%s", line + 7);
    if (!line[0]) end_message(client);
    client->length = 0;
}

static int receive(struct client *client) {
    static char buffer[1 << 18];
    ssize_t count = recv(client->socket, buffer, sizeof buffer, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
    if (count <= 0) return 0;
    for (char *rest = buffer, *end = buffer + count; rest < end;) {
        char *newline = memchr(rest, '\n', end - rest);
        size_t length = (newline ? newline : end) - rest, room = sizeof client->line - 1 - client->length;
        size_t kept = length < room ? length : room;
        memcpy(client->line + client->length, rest, kept);
        client->length += kept;
        rest += length;
        if (newline) {
            end_line(client);
            rest++;
        }
    }
    return 1;
}

static int all_have_it(void) {
    for (long index = 0; index < total; index++)
        if (strcmp(clients[index].last, wanted) < 0) return 0;
    return 1;
}

int main(int count, char **words) {
    if (count != 3) return 64;
    total = atol(words[2]);
    clients = calloc(total, sizeof *clients);
    int poll = epoll_create1(0);
    struct sockaddr_in address = {AF_INET, htons(atoi(words[1])), {htonl(INADDR_LOOPBACK)}, {0}};
    const char request[] = "GET /v1/taps HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    for (long index = 0; index < total; index++) {
        struct client *client = &clients[index];
        client->hash = 0xcbf29ce484222325;
        client->socket = socket(AF_INET, SOCK_STREAM, 0);
        if (client->socket < 0 || connect(client->socket, (void *)&address, sizeof address)) fail("connect");
        if (send(client->socket, request, sizeof request - 1, 0) < 0) fail("send");
        fcntl(client->socket, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {EPOLLIN, {.ptr = client}};
        epoll_ctl(poll, EPOLL_CTL_ADD, client->socket, &event);
    }
    struct epoll_event input = {EPOLLIN, {.ptr = NULL}};
    epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &input);
    int is_ready = 0;
    time_t limit = 0;
    while (!wanted[0] || (!all_have_it() && time(NULL) < limit)) {
        struct epoll_event events[256];
        int found = epoll_wait(poll, events, 256, 100);
        for (int index = 0; index < found; index++) {
            struct client *client = events[index].data.ptr;
            if (!client) {
                char line[64] = "";
                ssize_t length = read(STDIN_FILENO, line, sizeof line - 1);
                if (length < ID) return 1;
                memcpy(wanted, line, ID);
                limit = time(NULL) + 60;
                epoll_ctl(poll, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
            } else if (!receive(client)) {
                client->others++;
                close(client->socket);
            }
        }
        if (!is_ready && started == total) {
            is_ready = 1;
            puts("ready");
            fflush(stdout);
        }
    }
    for (long index = 0; index < total; index++) {
        struct client *client = &clients[index];
        printf("%s %s %llu %llx %llu\n", client->first[0] ? client->first : "-", client->last[0] ? client->last : "-",
            (unsigned long long)client->count, (unsigned long long)client->hash, (unsigned long long)client->others);
    }
    return 0;
}
