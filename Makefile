# cpubind: which CPUs belong to which NPU. `make help` lists the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
CFLAGS  ?= -O2 -g
HOST    ?= a2-192cpu-8npu
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
SHARED  ?= ../shared

WARN     = -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZED   = $(SANITIZE) -fsanitize=fuzzer-no-link
COVERED  = -O0 -g -fprofile-instr-generate -fcoverage-mapping
ALL      = $(CPPFLAGS) $(CFLAGS) $(WARN) -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 -MMD -MP

SOURCES   := $(sort $(wildcard adapters/*/*.c))
TEXT      := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter adapters/text/%,$(SOURCES)))
LINUX     := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter adapters/linux/%,$(SOURCES)))
PUBLIC    := $(filter-out %scan.h %_reader.h,$(sort $(wildcard adapters/text/*.h)))
SQLITE    := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter adapters/sqlite/%,$(SOURCES)))
CLI       := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter adapters/cli/%,$(SOURCES)))
CORE      := $(BUILD)/obj/cpubind.o
TESTS     := $(sort $(wildcard tests/core/test_*.c tests/text/test_*.c tests/linux/test_*.c \
               tests/sqlite/test_*.c tests/cli/test_*.c))
TEST_BINS := $(patsubst %.c,$(BUILD)/%,$(TESTS))
FUZZ      := $(shell fuzz/run.sh list)
REPLAYS   := $(patsubst %,$(BUILD)/fuzz/replay_%,$(FUZZ))
SCRIPTS    = tests/packaging/packaging.sh tests/sqlite/pack.sh tests/checks/layers.sh \
             "tests/checks/layers.sh --self-test" tests/checks/install.sh \
             tests/checks/readme.sh tests/checks/fuzz.sh tests/checks/lint.sh tests/checks/arm64.sh

.PHONY: all help run check bench fuzz fuzz-merge fixtures install clean deps-run deps-check \
        deps-bench deps-fuzz deps-fixtures tests arm64-tests fuzz-targets fuzz-replays lib

all: $(BUILD)/cpubind ## build/cpubind

help: ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo "  variables: BUILD=build PREFIX=/usr/local DESTDIR= CC=cc CFLAGS=\"-O2 -g\" HOST=$(HOST)"

run: deps-run ## set up what is missing, build, and plan the fixture host HOST
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@$(BUILD)/cpubind plan --fixture $(HOST)

check: deps-check ## set up what is missing, build, and run everything that CI runs
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD)/san \
	    CFLAGS="$(SANITIZE) -Werror" all tests
	@BUILD=$(BUILD) CPUBIND_TESTS=tests CPUBIND_SHARED=$(SHARED) CPUBIND=$(BUILD)/san/cpubind \
	    tests/run.sh $(patsubst %.c,$(BUILD)/san/%,$(TESTS)) \
	    $(patsubst %,$(BUILD)/san/fuzz/replay_%,$(FUZZ)) $(SCRIPTS)

bench: deps-bench ## measure, as ratios in one run
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/bench $(BUILD)/bench_text \
	    $(BUILD)/bench_command
	@$(BUILD)/bench
	@$(BUILD)/bench_text
	@$(BUILD)/bench_command $(BUILD)/cpubind

fuzz: deps-fuzz ## fuzz each reader for FUZZ_SECONDS=60; FUZZ_TARGETS="cpulist plan" chooses
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD)/fuzz CC=clang \
	    CFLAGS="$(FUZZED)" fuzz-targets
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD)/fuzz/cov CC=clang \
	    CFLAGS="$(COVERED)" fuzz-replays
	@BUILD=$(BUILD) JOBS=$(JOBS) FUZZ_TARGETS="$(FUZZ_TARGETS)" \
	    FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) fuzz/run.sh fuzz

fuzz-merge: ## after make fuzz: keep what was found and adds coverage, in fuzz/corpus
	@BUILD=$(BUILD) JOBS=$(JOBS) FUZZ_TARGETS="$(FUZZ_TARGETS)" fuzz/run.sh merge

fixtures: deps-fixtures ## the fixture hosts as one database, BUILD/fixtures.db
	@mkdir -p $(BUILD)
	@fixtures/pack.sh fixtures/hosts $(BUILD)/fixtures.db

# Beside include/cpubind.h the headers of adapters/ keep their places to one another.
install: $(BUILD)/cpubind $(BUILD)/libcpubind_text.a ## command, headers, readers, fixture hosts
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib
	install -d $(DESTDIR)$(PREFIX)/include/cpubind/text
	install -m 755 $(BUILD)/cpubind $(DESTDIR)$(PREFIX)/bin/cpubind
	install -m 644 $(BUILD)/libcpubind_text.a $(DESTDIR)$(PREFIX)/lib/libcpubind_text.a
	install -m 644 cpubind.h $(DESTDIR)$(PREFIX)/include/cpubind.h
	install -m 644 adapters/source.h $(DESTDIR)$(PREFIX)/include/cpubind/source.h
	install -m 644 $(PUBLIC) $(DESTDIR)$(PREFIX)/include/cpubind/text/
	install -d $(DESTDIR)$(PREFIX)/share/cpubind
	cp -R fixtures/hosts $(DESTDIR)$(PREFIX)/share/cpubind/

lib: $(BUILD)/libcpubind.so $(BUILD)/libcpubind_text.a ## the core shared, the readers static

clean: ## remove everything that was built
	rm -rf $(BUILD)

deps-run deps-check deps-bench deps-fuzz deps-fixtures:
	@tests/support/deps.sh $(@:deps-%=%)

tests: $(TEST_BINS) $(REPLAYS)
fuzz-targets: $(patsubst %,$(BUILD)/fuzz/%,$(FUZZ))
fuzz-replays: $(REPLAYS)
arm64-tests: $(filter $(BUILD)/tests/core/% $(BUILD)/tests/text/%,$(TEST_BINS))

$(BUILD)/cpubind: $(CLI) $(LINUX) $(SQLITE) $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -ljansson -lsqlite3 -o $@

$(BUILD)/libcpubind.so: cpubind.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -fPIC -DCPUBIND_IMPLEMENTATION -x c $< -o $@

# The readers, and the core for those who plan with what was read.
$(BUILD)/libcpubind_text.a: $(TEXT) $(CORE)
	rm -f $@
	$(AR) rcs $@ $^

# Other flags, other objects: what was built with some is not linked with others.
FLAGS = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@
FORCE:

$(CORE): cpubind.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c99 $(CFLAGS) $(WARN) -DCPUBIND_IMPLEMENTATION -x c -c $< -o $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 $(ALL) -c $< -o $@

# A test is linked with all that stands below its folder, and with its neighbours' helpers.
$(BUILD)/tests/core/%: $(BUILD)/obj/tests/core/%.o $(BUILD)/obj/tests/core/model.o $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@
$(BUILD)/tests/text/%: $(BUILD)/obj/tests/text/%.o $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@
$(BUILD)/tests/linux/%: $(BUILD)/obj/tests/linux/%.o $(LINUX) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@
$(BUILD)/tests/sqlite/%: $(BUILD)/obj/tests/sqlite/%.o $(SQLITE) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -lsqlite3 -o $@
$(BUILD)/tests/cli/%: $(BUILD)/obj/tests/cli/%.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -ljansson -o $@
# A fuzz target has the main of replay.c or that of libFuzzer.
$(BUILD)/fuzz/replay_%: $(BUILD)/obj/fuzz/targets/%.o $(BUILD)/obj/fuzz/replay.o $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/fuzz/%: $(BUILD)/obj/fuzz/targets/%.o $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer $^ -o $@
$(BUILD)/bench: $(BUILD)/obj/tests/bench/bench.o $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lhwloc -o $@
$(BUILD)/bench_text: $(BUILD)/obj/tests/bench/bench_text.o $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/bench_command: $(BUILD)/obj/tests/bench/bench_command.o
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

.PRECIOUS: $(BUILD)/obj/%.o
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
