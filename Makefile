# SPDX-License-Identifier: Apache-2.0
# Every task of the project, for people and for CI alike. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

ifneq ($(words $(CURDIR)),1)
$(error The path of this folder has a blank, which make cannot handle: move the clone to a path without one)
endif

# Where things are built; may be set from outside, as in `make test SCRATCH=/var/tmp/kazasu`.
SCRATCH ?= .build
VENV ?= .venv
PREFIX ?= /usr/local
DESTDIR ?=
# Passed on to `swift test`, as in `make test TEST_ARGS='--filter FeliCaTests'`.
TEST_ARGS ?=
# Passed on to the bench driver, as in `make bench BENCH_ARGS='--runs 5'`.
BENCH_ARGS ?=
# How long `make fuzz` feeds each parser, and `make nightly` does.
FUZZ_SECONDS ?= 60
# How often the card with two purses comes in `make soak-arrivals`, and how often phones and other cards in mid-search.
ARRIVALS ?= 200
PHONES ?= 200
# What comes in mid-search: all, or some of phone, phone-type-a, quick-phone, slow-phone, late-phone, other, and before an idle
# watch idle-phone, idle-quick-phone and idle-other.
ARRIVING ?= all
NIGHTLY_FUZZ_SECONDS ?= 1800
# Passed on to Tests/Sites/soak.py, as in `make soak-sites SITES_ARGS='--seconds 10 --kills 5'`.
SITES_ARGS ?=
# Passed on to Tests/Sites/taps.py, as in `make soak-taps TAPS_ARGS='--taps 2000 --kills 10'`.
TAPS_ARGS ?=
# How many requests schemathesis makes up for each path in `make test-serve`: with 410, more than 10,000 in all (minutes).
SERVE_EXAMPLES ?= 10
# How many hours of taps `make test-page` simulates; a folder for screenshots of every state.
HOURS ?= 24
SHOTS ?=
# How often `make soak` cancels.
SOAK ?= 20000
# The Debian (bookworm, trixie, forky) or Ubuntu (noble, resolute) that `make test-system` boots, bookworm-arm64 for the other
# architecture, bookworm-selinux with SELinux, and which of its tests, as in `make test-system SYSTEM_ARGS=B1Readers`.
SYSTEM ?= bookworm
SYSTEM_ARM64 = $(findstring -arm64,$(SYSTEM))
SYSTEM_ARGS ?=
# Which clean roots `make test-fresh` uses, as in `make test-fresh FRESH=bookworm:user`; all four without it.
FRESH ?=
# Folders with the roots of other systems that `make test-tar` tries the archive in, such as Fedora's.
TAR_ROOTS ?=
# Passed on to mutants.py, as in `make mutants MUTANTS_ARGS='--module ISODEP'`.
MUTANTS_ARGS ?=
# Passed on to Scripts/figures-build, as in `make figures-build FIGURES='--root bookworm:root --rounds 2 demo test release'`.
FIGURES ?= demo release
DEMO_CARD ?= Fixtures/cards/suica-p1/card.json

# An import of a module that Package.swift does not allow is an error.
IMPORT_RULE := --explicit-target-dependency-import-check error
# More for every build. Without debug information it takes a tenth less time; `make test BUILD_FLAGS=` is for a debugger.
BUILD_FLAGS ?= -debug-info-format none
# `make test-usb BUILT=1` takes what an earlier build left, without asking SwiftPM, which needs seconds each time to see that
# nothing changed, and lets others wait for its lock.
BUILT ?=
BUILD_IN = $(if $(BUILT),: )Scripts/build --scratch-path $(1) $(IMPORT_RULE) $(BUILD_FLAGS)
# The compiler would check each module that is compiled as a whole twice, for its interface first. SwiftPM waits for both.
ONCE := -Xswiftc -no-emit-module-separately-wmo
# Each module is compiled as a whole, which takes half of the time, and what many tests wait for is optimized.
WHOLE := -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 $(ONCE)
SWIFT_BUILD := KAZASU_WHOLE=1 $(call BUILD_IN,$(SCRATCH)) $(WHOLE)
# Each file by itself, so that a change is compiled in seconds, in a folder of its own.
PARTS_SCRATCH := $(SCRATCH)/parts
PARTS_BUILD := $(call BUILD_IN,$(PARTS_SCRATCH))
# SwiftPM's own links to where it builds.
BIN := $(abspath $(SCRATCH))/debug
RELEASE_BIN := $(abspath $(SCRATCH))/release

# The Swift runtime goes into the programs, libnfc (LGPL) stays a shared library. The toolchain's own lld links,
# because GNU ld warns about mktemp inside the toolchain's FoundationEssentials.
# What describes the code to a debugger would be stripped, so it is not made: a twelfth of the build's time.
RELEASE_FLAGS := -c release $(if $(findstring -debug-info-format,$(BUILD_FLAGS)),,-debug-info-format none) --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld -Xlinker -s

# What makes the programs smaller: KAZASU_COMPACT (Package.swift), no symbols for plug-ins, which there are none of, a section
# for each function, so that the linker leaves out what nothing calls and keeps one copy of those that are equal, no tables for
# unwinding, and relocations in the form that glibc 2.36 reads.
RELEASE_FLAGS += -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections
RELEASE_FLAGS += -Xlinker --no-export-dynamic -Xlinker --icf=all -Xlinker --no-eh-frame-hdr -Xlinker $(CURDIR)/packaging/programs.ld
ifeq ($(shell printf '2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -CV && echo yes),yes)
RELR ?= -Xlinker -z -Xlinker pack-relative-relocs
endif
RELEASE_FLAGS += $(RELR)
# The same bytes whatever folder they are built in.
RELEASE_FLAGS += -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=.

# No names of characters (Sources/C/CArguments/character-names.c).
RELEASE_BUILD = KAZASU_COMPACT=1 $(call BUILD_IN,$(SCRATCH)) $(RELEASE_FLAGS) -Xlinker --wrap=_swift_stdlib_getScalarName

# The product of `make release` and `make docs`, ready to be installed.
DIST := $(SCRATCH)/dist
KAZASU := $(DIST)/bin/kazasu

# The static Swift runtime needs the C++ library's development files, which g++ depends on by their right name.
APT_DEMO := gcc libc6-dev libexpat1-dev libnfc-dev libusb-1.0-0-dev pkg-config
APT_BUILD := $(APT_DEMO) g++ python3 libcurl4-openssl-dev libmosquitto-dev libpq-dev libsqlite3-dev libssl-dev libyaml-dev
# Programs of others, for what `make test` skips without them.
APT_TEST := libfreefare-bin libnfc-bin libnfc-examples libusb-1.0-0 python3 python3-venv \
            curl fish groff jq man-db mandoc openssl sqlite3 zsh \
            pcscd vsmartcard-vpcd vsmartcard-vpicc python3-virtualsmartcard \
            udev umockdev python3-gi gir1.2-umockdev-1.0 \
            iproute2 mosquitto mosquitto-clients postgresql \
            hledger libreoffice-calc ofx \
            libeac-dev strace systemd
APT_BRIDGE := opensc openssl python3-pyscard
APT_DEB := debhelper dpkg-dev
APT_FRESH := mmdebstrap
APT_SYSTEM = dpkg e2fsprogs mmdebstrap python3 $(if $(SYSTEM_ARM64),arch-test qemu-system-arm qemu-user-static,qemu-system-x86)
APT_PAGE := caddy chromium fonts-noto-cjk nginx-light node-typescript nodejs openssl python3 python3-venv systemd

# Tests and benches find nfcpy here.
export KAZASU_PYTHON := $(abspath $(VENV))/bin/python
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: help
help: ## lists the tasks
	@echo "make TASK, where TASK is one of"
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | awk -F'\t' '{printf "  %-17s %s\n", $$1, $$2}'
	@echo "Settings: SCRATCH=$(SCRATCH) VENV=$(VENV) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) TEST_ARGS= BENCH_ARGS="

# --- what the machine must have ---------------------------------------------------------------------------------------

.PHONY: swift link deps deps-demo deps-test deps-check venv venvs
swift:
	@Scripts/check-swift 6.2
	@Scripts/check-folder $(SCRATCH)

# In a second, before a build of many minutes that would end with the same error.
link: deps
	@Scripts/check-link

deps-demo: swift
	@Scripts/install-deps $(APT_DEMO)

deps: swift ## installs the packages that a build needs (apt; sudo only when not root)
	@Scripts/install-deps $(APT_BUILD)

deps-test: deps
	@Scripts/install-deps $(APT_TEST)

# Once for all, since apt installs one thing at a time.
deps-check: deps
	@Scripts/install-deps $(APT_TEST) $(APT_BRIDGE) $(APT_DEB) $(APT_FRESH) $(APT_PAGE) $(APT_SYSTEM)

venvs: venv .venv-page/.ready .venv-python/.ready .venv-serve/.ready

venv: deps-test $(VENV)/.ready ## makes .venv with what tests and benches use from PyPI

# Debian's own Python where there is one: pins that need a newer one fail here, as they would for users who have no other.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
define make-venv
	@Scripts/install-deps python3 python3-venv
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check $(1) -r $<
	$(@D)/bin/python Scripts/check-pins.py $<
	touch $@
endef

$(VENV)/.ready: Scripts/requirements/tests.txt
	$(call make-venv,--no-deps)

# --- building ---------------------------------------------------------------------------------------------------------

.PHONY: build release demo demo-check release-arm64
build: swift ## builds everything, debug
	$(SWIFT_BUILD)

# What did not change is left alone: tests may be running it.
release: link ## builds both programs, stripped, with the Swift runtime inside; libnfc stays shared
	$(RELEASE_BUILD) --product kazasud
	$(RELEASE_BUILD) --product kazasu
	@for program in kazasu kazasud; do \
	    cmp --silent $(RELEASE_BIN)/$$program $(DIST)/bin/$$program || \
	    install -v -D -m 755 -t $(DIST)/bin $(RELEASE_BIN)/$$program; \
	done

# The shortest way from a clone to a balance: `kazasu` alone, without the packages of the services, each module compiled as a
# whole and not optimized. It has a folder of its own, since other traits would compile everything again.
DEMO_SCRATCH := $(SCRATCH)/demo
DEMO_BUILD = $(call BUILD_IN,$(DEMO_SCRATCH)) -c release -Xswiftc -Onone $(ONCE) --disable-default-traits --product kazasu
DEMO = Scripts/demo $(DEMO_SCRATCH)/release $(DEMO_CARD)

demo: deps-demo ## installs, builds, then reads a virtual card through the real libnfc (about two minutes)
	@[ -x $(DEMO_SCRATCH)/release/kazasu ] || echo "Building kazasu: about two minutes on two cores, seconds the next time."
	$(DEMO_BUILD)
	@$(DEMO)

demo-check: deps-demo ## fails when the demo prints anything else than Fixtures/cli/demo.txt (KAZASU_RECORD=1 writes it)
	$(DEMO_BUILD)
	@Scripts/check-demo Fixtures/cli/demo.txt $(DEMO)

# Debian's own Swift in a chroot, with libraries of Debian 12 for arm64; kept in .build-arm64.
ARM64_DIST ?= .build-arm64/dist
release-arm64: ## cross-builds both programs for arm64, such as a Raspberry Pi (root; fetches 1.2 GB once)
	packaging/arm64/build .build-arm64 $(ARM64_DIST) $(IMPORT_RULE) $(RELEASE_FLAGS)

# --- checking ---------------------------------------------------------------------------------------------------------

# The pictures of the README, made by the program.
.PHONY: pictures
pictures: .venv-page/.ready ## makes the pictures of the README from the programs
	$(SWIFT_BUILD) --product kazasu
	$(SWIFT_BUILD) --product kazasud
	.venv-page/bin/python Scripts/pictures.py "$(BIN)/kazasu" Docs/pictures

.PHONY: check examples api api-check test test-skipped test-stations test-usb test-sites test-rabbitmq test-ha test-page test-serve soak-sites soak-taps soak-arrivals
.PHONY: test-fresh test-bridge test-system system-image test-system-boot test-arm64 test-python test-wheel figures-build lists lint format coverage asan tsan fuzz soak nightly mutants bench bench-goals bench-ledger bench-serve
# What needs a program of others is skipped, and listed at the end. With TESTS only these and what they need are compiled.
test: deps ## builds and runs every test that needs no program of others (TESTS='FeliCaTests' for some, TEST_ARGS='--filter FeliCaTests/Poll' for fewer)
ifeq ($(TESTS),)
	@[ -d $(SCRATCH)/debug ] || echo "Building everything and its tests: about twelve minutes on two cores, seconds the next time."
	$(SWIFT_BUILD) --build-tests
	@Scripts/run-tests $(SCRATCH) $(TEST_ARGS)
else
	KAZASU_TESTS='$(TESTS)' $(PARTS_BUILD) --product kazasuPackageTests
	@Scripts/run-tests $(PARTS_SCRATCH) $(or $(TEST_ARGS),--parallel)
endif

# What the last `make test` skipped, now that it is installed.
test-skipped: deps venv
	$(SWIFT_BUILD) --build-tests
	@KAZASU_ALL_TESTS=1 Scripts/run-tests $(SCRATCH) --skipped

check: ## everything else that .ci/run does: programs of others, packages, a browser, a whole system (20 minutes; root)
	@Scripts/check

# umockdev's Python binding is Debian's, so it is Debian's Python, too.
test-usb: deps venv ## runs the unmodified program before emulated USB readers
	$(SWIFT_BUILD) --product kazasu
	$(SWIFT_BUILD) --product usb-chip
	KAZASU="$(BIN)/kazasu" USB_CHIP="$(BIN)/usb-chip" \
	    umockdev-wrapper /usr/bin/python3 Tests/USB/test_usb.py --jobs 4
	/usr/bin/python3 Tests/USB/test_udev.py

# Where the tests of many sites find the programs.
SITES = KAZASUD="$(BIN)/kazasud" \
        SITE_PUBLISHER="$(BIN)/site-publisher" python3

test-sites: deps-test ## collects events with real mosquitto, PostgreSQL and SQLite
	$(SWIFT_BUILD) --product kazasud
	$(SWIFT_BUILD) --product site-publisher
	$(SITES) Tests/Sites/test_sites.py

test-rabbitmq: deps-test ## the same with RabbitMQ's MQTT plugin (starts an Erlang node)
	@Scripts/install-deps rabbitmq-server
	$(SWIFT_BUILD) --product kazasud
	$(SWIFT_BUILD) --product site-publisher
	KAZASU_RABBITMQ=1 $(SITES) Tests/Sites/test_sites.py RabbitMQTests

# pyscard is Debian's, so it is Debian's Python, too.
test-bridge: deps-test ## reads virtual cards by OpenSC and pyscard through a real pcscd and `kazasu bridge` (BRIDGE_LONG=1: minutes)
	@Scripts/install-deps $(APT_BRIDGE)
	$(SWIFT_BUILD) --product kazasud
	$(SWIFT_BUILD) --product card-stand
	KAZASUD="$(BIN)/kazasud" CARD_STAND="$(BIN)/card-stand" \
	    /usr/bin/python3 Tests/Bridge/test_bridge.py

# Packages that `make deb` made before are taken as they are.
test-system: deps ## plugs simulated readers into a whole Debian in QEMU: real kernel, drivers, udev, systemd, pcscd (root; minutes; SYSTEM=trixie: Debian 13)
	@Scripts/install-deps $(APT_SYSTEM)
	$(SWIFT_BUILD) --product usb-chip
	$(if $(SYSTEM_ARM64),$(SWIFT_BUILD) --product kazasu)
	ls $(SCRATCH)/deb$(SYSTEM_ARM64)/kazasu_*.deb > /dev/null 2>&1 || $(MAKE) --no-print-directory deb$(SYSTEM_ARM64)
	image="$$($(if $(SYSTEM_ARM64),Scripts/with-arm64 )/usr/bin/python3 Tests/System/image.py $(SYSTEM) .build-system)" && \
	SYSTEM_IMAGE="$$image" SYSTEM_PACKAGES=$(SCRATCH)/deb$(SYSTEM_ARM64) $(if $(SYSTEM_ARM64),NATIVE_KAZASU="$(BIN)/kazasu") \
	    USB_CHIP="$(BIN)/usb-chip" /usr/bin/python3 Tests/System/test_system.py $(SYSTEM_ARGS)

# It can be made before there are programs: what it needs is the network.
system-image: deps
	@Scripts/install-deps $(APT_SYSTEM)
	$(if $(SYSTEM_ARM64),Scripts/with-arm64 )/usr/bin/python3 Tests/System/image.py $(SYSTEM) .build-system

test-system-boot: SYSTEM_ARGS = B1Readers.test_two_alike
test-system-boot: test-system ## the part of it that .ci/run has: boots, installs the packages, reads two cards on two readers (root)

# A virtual environment of its own: Home Assistant has 100 dependencies, of versions that it chooses itself.
test-ha: deps-test .venv-ha/.ready ## runs a real Home Assistant: what is late fires nothing, what is young at once (minutes)
	$(SWIFT_BUILD) --product kazasud
	$(SWIFT_BUILD) --product card-stand
	CARD_STAND="$(BIN)/card-stand" $(SITES:python3=.venv-ha/bin/python) Tests/Sites/test_home.py

.venv-ha/.ready: Scripts/requirements/ha.txt
	$(call make-venv)

# In the newest Python here and in the oldest that the package is for, if that is installed.
test-python: deps .venv-python/.ready ## checks types and style of the Python package, runs its tests with the program
	$(SWIFT_BUILD) --product kazasu
	$(SWIFT_BUILD) --product kazasud
	$(SWIFT_BUILD) --product card-stand
	PATH="$(CURDIR)/.venv-python/bin:$$PATH" CARD_STAND="$(BIN)/card-stand" \
	    packaging/python/check "$${KAZASU_PROGRAM:-$(BIN)/kazasu}"

.venv-python/.ready: Scripts/requirements/python.txt
	$(call make-venv)

test-wheel: wheel ## installs the wheel in a Debian without libnfc and without network, and reads a card there (root)
	@Scripts/install-deps mmdebstrap
	packaging/python/try-wheel $(SCRATCH)/wheel .build-wheel

# A virtual environment of its own, for schemathesis and what it needs.
test-serve: deps-test .venv-serve/.ready ## tests serve as a program: its contract, what clients do wrong, made-up requests
	$(SWIFT_BUILD) --product kazasud
	$(SWIFT_BUILD) --product card-stand
	SERVE_EXAMPLES=$(SERVE_EXAMPLES) CARD_STAND="$(BIN)/card-stand" \
	    $(SITES:python3=.venv-serve/bin/python) Tests/Serve/test_serve.py
	CARD_STAND="$(BIN)/card-stand" \
	    $(SITES:python3=.venv-serve/bin/python) Tests/Serve/test_clients.py

.venv-serve/.ready: Scripts/requirements/serve.txt
	$(call make-venv)

bench-serve: deps-test release ## measures serve against the commands and watch: requests, taps, a thousand clients
	$(SWIFT_BUILD) --product card-stand
	KAZASUD=$(DIST)/bin/kazasud CARD_STAND="$(BIN)/card-stand" python3 Tests/Bench/serve.py $(BENCH_ARGS)

# The browser is Debian's; playwright drives it.
test-page: swift .venv-page/.ready ## tries kiosk page, kazasu.js and web recipes with Chromium, Node, TypeScript, nginx and Caddy (minutes)
	@Scripts/install-deps $(APT_PAGE)
	tsc --noEmit --strict --target es2022 --module es2022 --moduleResolution node --lib es2022,dom,dom.iterable Tests/Page/types.ts
	node --test Tests/Page/
	.venv-page/bin/python Tests/Page/test_recipes.py
	$(if $(KAZASU_PROGRAM),,$(SWIFT_BUILD) --product kazasud)
	KAZASUD="$(if $(KAZASU_PROGRAM),$(abspath $(KAZASU_PROGRAM))d,$(BIN)/kazasud)" \
	    .venv-page/bin/python Tests/Page/test_server.py
	HOURS=$(HOURS) SHOTS=$(SHOTS) .venv-page/bin/python Tests/Page/test_page.py

.venv-page/.ready: Scripts/requirements/page.txt
	$(call make-venv)

# After `make release` and `make release-arm64`, which need different compilers.
test-arm64: ## runs hundreds of commands with the programs for arm64 under qemu and compares the answers (root)
	@Scripts/install-deps mmdebstrap mosquitto mosquitto-clients qemu-user-static
	packaging/arm64/roots .build-arm64/roots
	packaging/arm64/compare.py $(DIST)/bin .build-arm64/dist/bin .build-arm64/roots/bookworm .build-arm64/roots/trixie

# Nothing but git, make and Swift is there before: `make demo` and `make test` to their end, as root and by a user with sudo.
test-fresh: swift ## runs the README's two commands in clean roots of Debian 12 and 13 (root; hours; FRESH=RELEASE:USER chooses)
	@Scripts/install-deps $(APT_FRESH)
	Scripts/test-fresh whole .build-fresh $(FRESH)

soak-sites: deps-test ## 1,000 readers on 200 sites, a week's backlog, kills, network cuts, what a broker keeps
	$(SWIFT_BUILD) --product kazasud
	$(SWIFT_BUILD) --product site-publisher
	$(SITES) Tests/Sites/soak.py all $(SITES_ARGS)

soak-taps: deps-test ## 100,000 taps on four virtual readers while watcher, broker and network fail; then how late taps are
	$(SWIFT_BUILD) --product kazasud
	$(SITES) Tests/Sites/taps.py $(TAPS_ARGS)
	$(SITES) Tests/Sites/taps.py --latency

# The readers that are simulated in the test process and behind pcscd, then those behind the real libusb and libnfc.
soak-arrivals: deps venv ## puts cards and phones on each simulated reader at thousands of random moments, and prints a table
	$(SWIFT_BUILD) --build-tests
	$(SWIFT_BUILD) --product usb-chip
	$(SWIFT_BUILD) --product usb-arrivals
	KAZASU_ARRIVING="$(ARRIVING)" KAZASU_ARRIVALS=$(ARRIVALS) KAZASU_PHONES=$(PHONES) \
	    USB_ARRIVALS="$(BIN)/usb-arrivals" USB_CHIP="$(BIN)/usb-chip" /usr/bin/python3 Tests/USB/arrivals_table.py \
	    -- swift test --skip-build --scratch-path $(SCRATCH) --filter 'ArrivalTests|PCSCServiceTests/arrivalsAtRandomMoments' \
	    -- umockdev-wrapper /usr/bin/python3 Tests/USB/arrivals.py $(filter-out all,$(ARRIVING))

# The programs import all that they need; a nested package sees only what is public. In the folder of all other builds it finds
# the modules compiled already.
# The plan of a build that SwiftPM keeps in the folder may be that of the package itself, and would be taken for this one's.
examples: deps ## builds and runs the programs of Docs/examples and their tests, and checks what a program fetches
	$(SWIFT_BUILD) --package-path Docs/examples --disable-build-manifest-caching --build-tests
	Scripts/run-examples.py "$(BIN)"
	swift test --skip-build --scratch-path $(SCRATCH) --package-path Docs/examples
	swift package --package-path Docs/examples/Client dump-package > /dev/null
	Scripts/test-consumer

# Cards and protocols where there is neither Glibc nor Foundation.
.PHONY: test-portable
test-portable: swift ## builds what runs wherever Swift does without Glibc and Foundation
	Scripts/test-portable $(abspath $(SCRATCH))-portable

# The programs that it leaves are without those rows, too: any other build follows.
test-stations: deps ## builds without the station names that may not be passed on by themselves, and runs the tests of names
	Scripts/station-tables.py --open
	STATIONS=open $(SWIFT_BUILD) --build-tests
	STATIONS=open swift test --skip-build --scratch-path $(SCRATCH) --filter 'CardDecodersTests.*Station|KazasuCLITests.StationsTests'

api: swift ## writes the public declarations of each product to Docs/api
	$(SWIFT_BUILD)
	Scripts/api.py "$(BIN)"

api-check: swift ## fails when public declarations changed and Docs/api did not
	$(SWIFT_BUILD)
	Scripts/api.py --check "$(BIN)"

figures-build: swift ## measures demo and release in fresh clones, beside those of an earlier commit (FIGURES='--root bookworm:user demo test')
	Scripts/figures-build $(FIGURES)

lists: ## writes the lists that follow from other places: schemas in the programs, topics of products, words of recordings
	Scripts/lists.py

lint: swift ## checks format, imports and the rules of the house
	swift format lint --strict --recursive --parallel Package.swift Sources Tests
	Scripts/lint.py
	Scripts/station-tables.py --check
	Scripts/layout-tables.py --check
	Scripts/character-tables.py --check
	$(SWIFT_BUILD) --build-tests

format: swift ## formats every Swift file in place
	swift format --in-place --recursive --parallel Package.swift Sources Tests

coverage: deps venv ## runs the tests and prints the lines covered, module by module
	$(PARTS_BUILD) --build-tests --enable-code-coverage
	swift test --skip-build --scratch-path $(PARTS_SCRATCH) --enable-code-coverage $(TEST_ARGS)
	Scripts/coverage.py \
	    "$$(swift test --scratch-path $(PARTS_SCRATCH) --show-codecov-path)"

asan: deps venv ## runs the tests under the address sanitizer
	swift build --build-tests --scratch-path .build-asan --sanitize address
	LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/Sanitizers/lsan.supp:print_suppressions=0 \
	    swift test --skip-build --scratch-path .build-asan --sanitize address $(TEST_ARGS)

# Each program that a test starts would sleep for a second at its end.
tsan: deps venv ## runs the tests under the thread sanitizer
	swift build --build-tests --scratch-path .build-tsan --sanitize thread
	clang -shared -fPIC -O1 -Wall -Wextra -o .build-tsan/libmutex.so Tests/Sanitizers/mutex.c -ldl
	LD_PRELOAD=$(CURDIR)/.build-tsan/libmutex.so TSAN_OPTIONS=atexit_sleep_ms=20 \
	    swift test --skip-build --scratch-path .build-tsan --sanitize thread $(TEST_ARGS)

# A crash must end the fuzzer at once, and Swift's own handler would write a backtrace for minutes.
FUZZERS := Port100Frames Port400Messages PaSoRiDialogues ISODEPBlocks Documents
FUZZ_BUILD := KAZASU_FUZZ=1 swift build --scratch-path .build-fuzz --sanitize fuzzer $(IMPORT_RULE)
fuzz: deps ## fuzzes the parsers of what comes from outside, FUZZ_SECONDS each
	bin="$$($(FUZZ_BUILD) --show-bin-path)"; \
	for fuzzer in $(FUZZERS); do \
	    $(FUZZ_BUILD) --product $$fuzzer; \
	    mkdir -p .build-fuzz/corpus/$$fuzzer; \
	    SWIFT_BACKTRACE=enable=no "$$bin/$$fuzzer" \
	        -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=512 -timeout=5 -artifact_prefix=.build-fuzz/ \
	        .build-fuzz/corpus/$$fuzzer Fixtures/formats; \
	done

soak: deps venv ## cancels 20,000 runs with a reader and counts the open files
	$(SWIFT_BUILD) --build-tests
	KAZASU_SOAK=$(SOAK) swift test --skip-build --scratch-path $(SCRATCH) --filter CancellationSoakTests

# Each part runs though another one failed. Debian's own compiler, which is older, builds the programs for arm64.
nightly: ## what takes long: both sanitizers, ten times the random values, long fuzzing, cancellations; packages of both architectures, and their tests; fresh machines
	@failed=; for part in asan tsan "test KAZASU_EFFORT=10" soak test-stations "fuzz FUZZ_SECONDS=$(NIGHTLY_FUZZ_SECONDS)" deb test-deb test-system "test-system SYSTEM=trixie" "test-system SYSTEM=bookworm-selinux" "test-system SYSTEM=forky" "test-system SYSTEM=noble" "test-system SYSTEM=resolute" deb-arm64 test-deb-arm64 test-arm64 "test-system SYSTEM=bookworm-arm64" test-fresh; do \
	    $(MAKE) --no-print-directory $$part || failed="$$failed $${part%% *}"; \
	done; if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

mutants: swift ## changes one operator or constant at a time and lists what no test notices
	Scripts/mutants.py $(MUTANTS_ARGS)

bench: deps venv release ## compares speed and memory with C programs on libnfc and libfreefare and with nfcpy
	@Scripts/install-deps libfreefare-dev
	python3 Tests/Bench/bench.py --kazasu $(KAZASU) --python $(KAZASU_PYTHON) --work $(SCRATCH)/bench $(BENCH_ARGS)
	$(SWIFT_BUILD) --product usb-chip
	umockdev-wrapper /usr/bin/python3 Tests/Bench/usb.py --kazasu $(abspath $(KAZASU)) --python $(KAZASU_PYTHON) \
	    --chip "$(BIN)/usb-chip"

bench-goals: deps ## prints the time from tap to answer over the known lists, and leaves a recording of each row in SCRATCH/goals
	$(SWIFT_BUILD) --build-tests
	mkdir -p $(SCRATCH)/goals
	KAZASU_GOALS=1 KAZASU_TRACES=$(abspath $(SCRATCH))/goals \
	    swift test --skip-build --scratch-path $(SCRATCH) --filter 'GoalFigureTests|GoalReplayTests'

bench-ledger: deps ## measures the ledger: a million records, and the memory that 300,000 of them need
	KAZASU_COMPACT=1 $(call BUILD_IN,$(SCRATCH)) $(RELEASE_FLAGS) --product ledger-bench
	rm -f $(SCRATCH)/bench.sqlite*
	bench="$(RELEASE_BIN)/ledger-bench"; \
	    "$$bench" $(SCRATCH)/bench.sqlite bench 1000000; rm -f $(SCRATCH)/bench.sqlite*; \
	    "$$bench" $(SCRATCH)/bench.sqlite bench 300000 > /dev/null; "$$bench" $(SCRATCH)/bench.sqlite memory

# --- documents and installing -----------------------------------------------------------------------------------------

.PHONY: docs man api-docs install uninstall clean deb deb-arm64 test-deb test-deb-arm64 wheel wheel-arm64 tar tar-arm64 test-tar release-files
docs: man api-docs ## makes man pages, shell completions and the API pages

man: release
	packaging/scripts/make-man.py $(KAZASU)d $(DIST)

api-docs: swift ## makes the API pages with the toolchain's docc; fails at a warning
	$(SWIFT_BUILD)
	Scripts/api.py --pages $(DIST)/api "$(BIN)"

# sudo often hides the compiler: then what was built before is installed. The pages need only the program.
install: ## installs programs, man pages and completions below DESTDIR/PREFIX
	@if command -v swift > /dev/null; then $(MAKE) --no-print-directory man; \
	elif [ -x $(KAZASU)d ]; then packaging/scripts/make-man.py $(KAZASU)d $(DIST); fi
	packaging/scripts/install-files $(DIST) "$(DESTDIR)$(PREFIX)" "$(PREFIX)"

# For as many distributions as possible: those with an older C library do not know packed relocations.
wheel: deps .venv-python/.ready ## makes a wheel of the Python package with both programs and their libraries inside
	$(MAKE) --no-print-directory release RELR= DIST=$(SCRATCH)/wheel-dist
	PATH="$(CURDIR)/.venv-python/bin:$$PATH" packaging/python/make-wheel $(SCRATCH)/wheel-dist $(SCRATCH)/wheel

tar: wheel ## makes an archive with programs and libraries that runs wherever it is unpacked, with an installer
	packaging/scripts/make-man.py $(SCRATCH)/wheel-dist/bin/kazasud $(SCRATCH)/wheel-dist
	packaging/scripts/make-tar $(SCRATCH)/wheel/*.whl $(SCRATCH)/wheel-dist $(SCRATCH)/tar

# The pages, completions and the Python modules come from the native programs.
wheel-arm64: .venv-python/.ready release ## makes a wheel for arm64, after a cross build (root)
	@Scripts/install-deps mmdebstrap
	$(MAKE) --no-print-directory release-arm64 RELR= ARM64_DIST=.build-arm64/wheel-dist
	packaging/arm64/roots .build-arm64/roots
	PATH="$(CURDIR)/.venv-python/bin:$$PATH" KAZASU_NATIVE_DIST=$(DIST) packaging/python/make-wheel .build-arm64/wheel-dist \
	    $(SCRATCH)/wheel-arm64 .build-arm64/roots/bookworm aarch64

tar-arm64: wheel-arm64 man ## makes the archive for arm64 (root)
	cp -r $(DIST)/man $(DIST)/completions .build-arm64/wheel-dist/
	packaging/scripts/make-tar $(SCRATCH)/wheel-arm64/*.whl .build-arm64/wheel-dist $(SCRATCH)/tar-arm64 .build-arm64/roots/bookworm

test-tar: tar ## installs the archive in clean roots of Debian 12 to 14 and Ubuntu 22.04 and 26.04, and reads cards there (root; TAR_ROOTS: more)
	@Scripts/install-deps mmdebstrap
	packaging/scripts/try-tar $(SCRATCH)/tar .build-tar $(TAR_ROOTS)

# Nothing is uploaded. What was made for arm64 before is collected as well.
release-files: tar deb ## collects what a release consists of: archive, Debian packages, wheel, SPDX document, sums, notes
	packaging/scripts/release-files $(foreach kind,tar deb wheel,$(SCRATCH)/$(kind) $(wildcard $(SCRATCH)/$(kind)-arm64)) \
	    $(SCRATCH)/release-files

deb: release man ## makes Debian packages for this machine's architecture, with sums and an SPDX document
	@Scripts/install-deps $(APT_DEB)
	packaging/scripts/make-deb $(DIST) $(SCRATCH)/deb

# After `make deb`, which needs no root.
test-deb: ## checks the packages with lintian, piuparts and autopkgtest in clean roots of Debian 12 and 13 (root)
	@Scripts/install-deps autopkgtest lintian mmdebstrap piuparts
	Scripts/test-deb $(SCRATCH)/deb .build-deb

test-deb-arm64: ## the same with the packages for arm64, under qemu (root)
	@Scripts/install-deps autopkgtest lintian mmdebstrap qemu-user-static
	Scripts/with-arm64 Scripts/test-deb $(SCRATCH)/deb-arm64 .build-deb

# The pages and completions are the same; they come from the native program.
deb-arm64: release-arm64 man ## makes Debian packages for arm64
	@Scripts/install-deps $(APT_DEB)
	cp -r $(DIST)/man $(DIST)/completions .build-arm64/dist/
	KAZASU_NATIVE_DIST=$(abspath $(DIST)) packaging/scripts/make-deb .build-arm64/dist $(SCRATCH)/deb-arm64 arm64

uninstall: ## removes what install put there
	packaging/scripts/uninstall-files "$(DESTDIR)$(PREFIX)"

clean: ## removes everything that was built
	rm -rf $(SCRATCH) .build-deb .build-asan .build-tsan .build-arm64 .build-fresh .build-fuzz .build-mutants .build-system .build-tar .build-wheel $(VENV) .venv-ha .venv-page .venv-python .venv-serve
