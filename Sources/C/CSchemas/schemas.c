/* SPDX-License-Identifier: Apache-2.0 */

#include "CSchemas.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char apdu[] = {
#embed "../../../Docs/schemas/apdu.json"
};
static const unsigned char balance[] = {
#embed "../../../Docs/schemas/balance.json"
};
static const unsigned char check[] = {
#embed "../../../Docs/schemas/check.json"
};
static const unsigned char classic[] = {
#embed "../../../Docs/schemas/classic.json"
};
static const unsigned char classicDump[] = {
#embed "../../../Docs/schemas/classicDump.json"
};
static const unsigned char classicMessage[] = {
#embed "../../../Docs/schemas/classicMessage.json"
};
static const unsigned char classicRead[] = {
#embed "../../../Docs/schemas/classicRead.json"
};
static const unsigned char common[] = {
#embed "../../../Docs/schemas/common.json"
};
static const unsigned char decode[] = {
#embed "../../../Docs/schemas/decode.json"
};
static const unsigned char desfire[] = {
#embed "../../../Docs/schemas/desfire.json"
};
static const unsigned char desfireFile[] = {
#embed "../../../Docs/schemas/desfireFile.json"
};
static const unsigned char desfireValue[] = {
#embed "../../../Docs/schemas/desfireValue.json"
};
static const unsigned char desfireWrite[] = {
#embed "../../../Docs/schemas/desfireWrite.json"
};
static const unsigned char dump[] = {
#embed "../../../Docs/schemas/dump.json"
};
static const unsigned char error[] = {
#embed "../../../Docs/schemas/error.json"
};
static const unsigned char events[] = {
#embed "../../../Docs/schemas/events.json"
};
static const unsigned char feedback[] = {
#embed "../../../Docs/schemas/feedback.json"
};
static const unsigned char felica[] = {
#embed "../../../Docs/schemas/felica.json"
};
static const unsigned char health[] = {
#embed "../../../Docs/schemas/health.json"
};
static const unsigned char history[] = {
#embed "../../../Docs/schemas/history.json"
};
static const unsigned char ledger[] = {
#embed "../../../Docs/schemas/ledger.json"
};
static const unsigned char ledgerCards[] = {
#embed "../../../Docs/schemas/ledgerCards.json"
};
static const unsigned char ledgerGaps[] = {
#embed "../../../Docs/schemas/ledgerGaps.json"
};
static const unsigned char ledgerSum[] = {
#embed "../../../Docs/schemas/ledgerSum.json"
};
static const unsigned char license[] = {
#embed "../../../Docs/schemas/license.json"
};
static const unsigned char lite[] = {
#embed "../../../Docs/schemas/lite.json"
};
static const unsigned char liteInfo[] = {
#embed "../../../Docs/schemas/liteInfo.json"
};
static const unsigned char lookup[] = {
#embed "../../../Docs/schemas/lookup.json"
};
static const unsigned char mynumber[] = {
#embed "../../../Docs/schemas/mynumber.json"
};
static const unsigned char passport[] = {
#embed "../../../Docs/schemas/passport.json"
};
static const unsigned char poll[] = {
#embed "../../../Docs/schemas/poll.json"
};
static const unsigned char read[] = {
#embed "../../../Docs/schemas/read.json"
};
static const unsigned char readers[] = {
#embed "../../../Docs/schemas/readers.json"
};
static const unsigned char record[] = {
#embed "../../../Docs/schemas/record.json"
};
static const unsigned char residence[] = {
#embed "../../../Docs/schemas/residence.json"
};
static const unsigned char scan[] = {
#embed "../../../Docs/schemas/scan.json"
};
static const unsigned char standard[] = {
#embed "../../../Docs/schemas/standard.json"
};
static const unsigned char standardInfo[] = {
#embed "../../../Docs/schemas/standardInfo.json"
};
static const unsigned char standardIssue[] = {
#embed "../../../Docs/schemas/standardIssue.json"
};
static const unsigned char standardKeys[] = {
#embed "../../../Docs/schemas/standardKeys.json"
};
static const unsigned char sun[] = {
#embed "../../../Docs/schemas/sun.json"
};
static const unsigned char tag[] = {
#embed "../../../Docs/schemas/tag.json"
};
static const unsigned char tagMessage[] = {
#embed "../../../Docs/schemas/tagMessage.json"
};
static const unsigned char tagPages[] = {
#embed "../../../Docs/schemas/tagPages.json"
};
static const unsigned char tagProvision[] = {
#embed "../../../Docs/schemas/tagProvision.json"
};
static const unsigned char tagVerify[] = {
#embed "../../../Docs/schemas/tagVerify.json"
};
static const unsigned char tagWrite[] = {
#embed "../../../Docs/schemas/tagWrite.json"
};
static const unsigned char tap[] = {
#embed "../../../Docs/schemas/tap.json"
};
static const unsigned char write[] = {
#embed "../../../Docs/schemas/write.json"
};

#define SCHEMA(name) {#name, name, sizeof name}

static const struct kazasu_schema kazasu_schemas[] = {
    SCHEMA(apdu), SCHEMA(balance), SCHEMA(check), SCHEMA(classic), SCHEMA(classicDump), SCHEMA(classicMessage),
    SCHEMA(classicRead), SCHEMA(common), SCHEMA(decode), SCHEMA(desfire), SCHEMA(desfireFile), SCHEMA(desfireValue),
    SCHEMA(desfireWrite), SCHEMA(dump), SCHEMA(error), SCHEMA(events), SCHEMA(feedback), SCHEMA(felica), SCHEMA(health),
    SCHEMA(history), SCHEMA(ledger), SCHEMA(ledgerCards), SCHEMA(ledgerGaps), SCHEMA(ledgerSum), SCHEMA(license),
    SCHEMA(lite), SCHEMA(liteInfo), SCHEMA(lookup), SCHEMA(mynumber), SCHEMA(passport), SCHEMA(poll), SCHEMA(read),
    SCHEMA(readers), SCHEMA(record), SCHEMA(residence), SCHEMA(scan), SCHEMA(standard), SCHEMA(standardInfo),
    SCHEMA(standardIssue), SCHEMA(standardKeys), SCHEMA(sun), SCHEMA(tag), SCHEMA(tagMessage), SCHEMA(tagPages),
    SCHEMA(tagProvision), SCHEMA(tagVerify), SCHEMA(tagWrite), SCHEMA(tap), SCHEMA(write),
};

const unsigned long kazasu_schema_count = sizeof kazasu_schemas / sizeof *kazasu_schemas;

const struct kazasu_schema *kazasu_schemas_start(void) { return kazasu_schemas; }
