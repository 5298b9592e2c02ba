// SPDX-License-Identifier: Apache-2.0
// PACE by libeac, as the reader of a chip or as the chip of a reader. Nothing is shared with Kazasu.
//
//     libeac_pace reader mrz|can SECRET CARDACCESS ANSWERS   commands on standard output, answers from the file ANSWERS
//     libeac_pace chip mrz|can SECRET CARDACCESS COMMANDS    commands from the file COMMANDS, answers on standard output
//
// Each is a line of hexadecimal digits. After PACE one command, SELECT of the application, goes in secure messaging: so both sides
// show that they have the same keys.
#include <eac/eac.h>
#include <eac/pace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned char bytes[4096];
    size_t count;
} Bytes;

static FILE *input;

static void fail(const char *why) {
    fprintf(stderr, "libeac: %s\n", why);
    exit(1);
}

static void add(Bytes *to, const void *from, size_t count) {
    if (to->count + count > sizeof to->bytes) fail("too long");
    memcpy(to->bytes + to->count, from, count);
    to->count += count;
}

static Bytes hex(const char *text) {
    Bytes found = {.count = 0};
    unsigned value;
    for (; sscanf(text, "%2x", &value) == 1; text += 2) add(&found, &(unsigned char){value}, 1);
    return found;
}

static int get(Bytes *line) {
    static char text[16384];
    if (!fgets(text, sizeof text, input)) return 0;
    *line = hex(text);
    return 1;
}

static void put(const Bytes *line) {
    for (size_t i = 0; i < line->count; i++) printf("%02x", line->bytes[i]);
    printf("\n");
    fflush(stdout);
}

static Bytes object(unsigned tag, const void *value, size_t count) {
    Bytes made = {.count = 0};
    if (tag > 0xFF) add(&made, &(unsigned char){tag >> 8}, 1);
    add(&made, &(unsigned char){tag & 0xFF}, 1);
    if (count > 0xFF) {
        add(&made, (unsigned char[]){0x82, count >> 8, count & 0xFF}, 3);
    } else if (count > 0x7F) {
        add(&made, (unsigned char[]){0x81, count}, 2);
    } else {
        add(&made, &(unsigned char){count}, 1);
    }
    add(&made, value, count);
    return made;
}

// The first object with a tag of one byte; both levels of a dynamic authentication data object are looked through.
static BUF_MEM *value(const unsigned char *from, size_t count, unsigned char tag) {
    size_t at = 0;
    while (at + 2 <= count) {
        unsigned char found = from[at++];
        size_t length = from[at++];
        if (length == 0x81 && at < count) {
            length = from[at++];
        } else if (length == 0x82 && at + 1 < count) {
            length = from[at] << 8 | from[at + 1];
            at += 2;
        }
        if (length > count - at) break;
        if (found == tag) {
            BUF_MEM *copy = BUF_MEM_new();
            BUF_MEM_grow(copy, length);
            memcpy(copy->data, from + at, length);
            return copy;
        }
        if (found != 0x7C) at += length;
    }
    fail("an object is missing");
    return NULL;
}

static BUF_MEM *padded(EAC_CTX *context, const Bytes *data) {
    BUF_MEM *plain = BUF_MEM_new();
    BUF_MEM_grow(plain, data->count);
    memcpy(plain->data, data->bytes, data->count);
    return EAC_add_iso_pad(context, plain);
}

// The code over counter and data; libeac puts the counter before it.
static Bytes code(EAC_CTX *context, const unsigned char *data, size_t count) {
    Bytes whole = {.count = 0};
    add(&whole, data, count);
    BUF_MEM *mac = EAC_authenticate(context, padded(context, &whole));
    if (!mac) fail("code");
    return object(0x8E, mac->data, 8);
}

static Bytes exchange(const Bytes *command) {
    Bytes answer;
    put(command);
    if (!get(&answer) || answer.count < 2) fail("no answer");
    if (answer.bytes[answer.count - 2] != 0x90) fail("refused");
    answer.count -= 2;
    return answer;
}

static Bytes step(unsigned char cla, unsigned tag, BUF_MEM *data, unsigned char wanted, BUF_MEM **found) {
    Bytes inner = {.count = 0}, command = {.count = 0};
    if (tag) inner = object(tag, data->data, data->length);
    Bytes body = object(0x7C, inner.bytes, inner.count);
    add(&command, (unsigned char[]){cla, 0x86, 0, 0}, 4);
    if (body.count > 0xFF) {
        add(&command, (unsigned char[]){0, body.count >> 8, body.count & 0xFF}, 3);
    } else {
        add(&command, &(unsigned char){body.count}, 1);
    }
    add(&command, body.bytes, body.count);
    add(&command, (unsigned char[]){0, 0}, body.count > 0xFF ? 2 : 1);
    Bytes answer = exchange(&command);
    *found = value(answer.bytes, answer.count, wanted);
    return answer;
}

static void reader(EAC_CTX *context, PACE_SEC *secret, int kind, const Bytes *access) {
    BUF_MEM *protocol = value(access->bytes + 4, access->count - 4, 0x06), *theirs, *token;
    Bytes choice = object(0x80, protocol->data, protocol->length), command = {.count = 0};
    add(&choice, (unsigned char[]){0x83, 1, kind, 0x84, 1, access->bytes[access->count - 1]}, 6);
    add(&command, (unsigned char[]){0x00, 0x22, 0xC1, 0xA4, choice.count}, 5);
    add(&command, choice.bytes, choice.count);
    exchange(&command);
    step(0x10, 0, NULL, 0x80, &theirs);
    if (PACE_STEP2_dec_nonce(context, secret, theirs) != 1) fail("nonce");
    step(0x10, 0x81, PACE_STEP3A_generate_mapping_data(context), 0x82, &theirs);
    if (PACE_STEP3A_map_generator(context, theirs) != 1) fail("mapping");
    step(0x10, 0x83, PACE_STEP3B_generate_ephemeral_key(context), 0x84, &theirs);
    if (PACE_STEP3B_compute_shared_secret(context, theirs) != 1 || PACE_STEP3C_derive_keys(context) != 1) fail("keys");
    step(0x00, 0x85, PACE_STEP3D_compute_authentication_token(context, theirs), 0x86, &token);
    if (PACE_STEP3D_verify_authentication_token(context, token) != 1) fail("token");
    if (EAC_CTX_set_encryption_ctx(context, EAC_ID_PACE) != 1) fail("session");
    // SELECT of the application, its name encrypted.
    Bytes covered = {.count = 0}, body = {.count = 0}, name = hex("a0000002471001"), text = hex("01"), first = hex("0ca4040c");
    if (EAC_increment_ssc(context) != 1) fail("counter");
    BUF_MEM *cipher = EAC_encrypt(context, padded(context, &name)), *start = padded(context, &first);
    if (!cipher) fail("encryption");
    add(&text, cipher->data, cipher->length);
    body = object(0x87, text.bytes, text.count);
    add(&covered, start->data, start->length);
    add(&covered, body.bytes, body.count);
    Bytes mac = code(context, covered.bytes, covered.count);
    add(&body, mac.bytes, mac.count);
    command.count = 0;
    add(&command, first.bytes, 4);
    add(&command, &(unsigned char){body.count}, 1);
    add(&command, body.bytes, body.count);
    add(&command, &(unsigned char){0}, 1);
    Bytes answer = exchange(&command);
    if (answer.count < 10) fail("short answer");
    if (EAC_increment_ssc(context) != 1) fail("counter");
    Bytes expected = code(context, answer.bytes, answer.count - 10);
    if (memcmp(expected.bytes, answer.bytes + answer.count - 10, 10)) fail("code of the answer");
    printf("end\n");
}

static void answer(unsigned tag, BUF_MEM *data) {
    if (!data) fail("step");
    Bytes inner = object(tag, data->data, data->length), outer = object(0x7C, inner.bytes, inner.count);
    add(&outer, (unsigned char[]){0x90, 0x00}, 2);
    put(&outer);
}

static void chip(EAC_CTX *context, PACE_SEC *secret, const Bytes *access) {
    Bytes command, done = hex("9000"), refused = hex("6300");
    BUF_MEM *own = NULL, *theirs = NULL;
    while (get(&command)) {
        const unsigned char *head = command.bytes;
        if (command.count < 4) fail("a short command");
        // Where the data is: behind Lc of one byte or of three.
        size_t at = command.count > 5 && head[4] == 0 ? 7 : 5;
        const unsigned char *data = head + at;
        size_t count = command.count > at ? command.count - at : 0;
        if (head[0] == 0x0C) {
            // SELECT of the application: 87, 8E. The code covers header and cipher text.
            Bytes first = {.count = 0}, covered = {.count = 0}, body = {.count = 0};
            if (EAC_CTX_set_encryption_ctx(context, EAC_ID_PACE) != 1 || head[4] < 10) fail("session");
            add(&first, head, 4);
            BUF_MEM *start = padded(context, &first);
            add(&covered, start->data, start->length);
            add(&covered, data, head[4] - 10);
            if (EAC_increment_ssc(context) != 1) fail("counter");
            Bytes mac = code(context, covered.bytes, covered.count);
            if (memcmp(mac.bytes, data + head[4] - 10, 10)) fail("code of the command");
            body = hex("99029000");
            if (EAC_increment_ssc(context) != 1) fail("counter");
            mac = code(context, body.bytes, body.count);
            add(&body, mac.bytes, mac.count);
            add(&body, done.bytes, 2);
            put(&body);
            fprintf(stderr, "the same keys\n");
            return;
        }
        switch (head[1]) {
        case 0xB0: {
            Bytes whole = *access;
            size_t offset = head[2] & 0x80 ? 0 : head[2] << 8 | head[3], wanted = command.count > 4 && head[4] ? head[4] : 256;
            Bytes part = {.count = 0};
            if (offset < whole.count) add(&part, whole.bytes + offset, whole.count - offset < wanted ? whole.count - offset : wanted);
            add(&part, done.bytes, 2);
            put(&part);
            break;
        }
        case 0x86:
            if (count < 3 || data[1] == 0) {
                answer(0x80, PACE_STEP1_enc_nonce(context, secret));
                break;
            }
            switch (data[data[1] == 0x82 ? 4 : data[1] == 0x81 ? 3 : 2]) {
            case 0x81:
                own = PACE_STEP3A_generate_mapping_data(context);
                if (PACE_STEP3A_map_generator(context, value(data, count, 0x81)) != 1) fail("mapping");
                answer(0x82, own);
                break;
            case 0x83:
                theirs = value(data, count, 0x83);
                own = PACE_STEP3B_generate_ephemeral_key(context);
                if (PACE_STEP3B_compute_shared_secret(context, theirs) != 1 || PACE_STEP3C_derive_keys(context) != 1)
                    fail("keys");
                answer(0x84, own);
                break;
            default:
                if (PACE_STEP3D_verify_authentication_token(context, value(data, count, 0x85)) != 1) {
                    put(&refused);
                    break;
                }
                answer(0x86, PACE_STEP3D_compute_authentication_token(context, theirs));
            }
            break;
        default: put(&done);
        }
    }
}

int main(int count, char **arguments) {
    if (count != 6) fail("arguments");
    int isCAN = strcmp(arguments[2], "can") == 0;
    Bytes access = hex(arguments[4]);
    EAC_init();
    EAC_CTX *context = EAC_CTX_new();
    PACE_SEC *secret = PACE_SEC_new(arguments[3], strlen(arguments[3]), isCAN ? PACE_CAN : PACE_MRZ);
    if (!context || !secret || EAC_CTX_init_ef_cardaccess(access.bytes, access.count, context) != 1) fail("context");
    input = fopen(arguments[5], "r");
    if (!input) fail("input");
    if (strcmp(arguments[1], "reader") == 0) {
        reader(context, secret, isCAN ? 2 : 1, &access);
    } else {
        chip(context, secret, &access);
    }
    return 0;
}
