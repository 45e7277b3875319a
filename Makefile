# cpubind: which CPUs belong to which NPU. `make help` lists the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
CFLAGS  ?= -O2 -g
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
ifeq ($(origin AR),default)
AR      := $(shell $(CC) -print-prog-name=ar)
endif
HOST    ?= a2-192cpu-8npu
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
SHARED  ?= ../shared

WARN     = -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZED   = $(SANITIZE) -fsanitize=fuzzer-no-link
COVERED  = -O0 -g -fprofile-instr-generate -fcoverage-mapping
# A static library becomes part of a shared object as well, and exports nothing from it.
LIBRARY  = -fPIC -fvisibility=hidden
ALL      = $(CPPFLAGS) $(CFLAGS) $(WARN) $(LIBRARY) -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 -MMD -MP

# The objects of a room, and the headers of it that are installed.
objects    = $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard $(1:%=adapters/%/*.c))))
TEXT      := $(call objects,text ascend)
LINUX     := $(call objects,linux linux/source linux/kernel linux/bind)
SQLITE    := $(call objects,sqlite) $(BUILD)/obj/adapters/sqlite/schema.o
CLI       := $(call objects,cli)
PUBLIC    := source.h \
             $(patsubst adapters/%,%,$(filter-out %scan.h %_reader.h,\
               $(sort $(wildcard adapters/text/*.h adapters/ascend/*.h)))) \
             $(addprefix linux/,cpubind_linux.h linux.h sys.h source/host_source.h bind/bind.h) \
             sqlite/corpus.h sqlite/store.h
CORE      := $(BUILD)/obj/cpubind.o
LIBRARIES := $(patsubst %,$(BUILD)/libcpubind_%.a,ascend linux corpus)
TESTS     := $(sort $(wildcard tests/core/test_*.c tests/text/test_*.c tests/ascend/test_*.c \
               tests/linux/test_*.c tests/sqlite/test_*.c tests/cli/test_*.c))
TEST_BINS := $(patsubst %.c,$(BUILD)/%,$(TESTS))
FUZZ      := $(shell fuzz/run.sh list)
REPLAYS   := $(patsubst %,$(BUILD)/fuzz/replay_%,$(FUZZ))
SCRIPTS    = tests/packaging/packaging.sh tests/cli/corpus.sh tests/cli/bind.sh tests/checks/layers.sh \
             "tests/checks/layers.sh --self-test" tests/checks/install.sh \
             tests/checks/symbols.sh tests/checks/readme.sh tests/checks/fuzz.sh +tests/checks/lint.sh +tests/checks/arm64.sh

VM_HOSTS  ?= a2 a3 300i 950
VM         = $(BUILD)/vm
VM_ROOT    = $(VM)/apt/root/usr

.PHONY: all help run check check-vm bench fuzz fuzz-merge fixtures install clean deps-run deps-check \
        deps-vm deps-bench deps-fuzz deps-fixtures tests arm64-tests fuzz-targets fuzz-replays lib

all: $(BUILD)/cpubind $(BUILD)/fixtures.db ## build/cpubind, and build/fixtures.db beside it

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

check-vm: deps-vm ## boot ARM machines that are Ascend hosts, and check there; VM_HOSTS="a2 950" chooses
	@BUILD=$(BUILD) tests/vm/fetch.sh
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(VM)/arm64 CC=aarch64-linux-gnu-gcc \
	    CFLAGS="-O2 -g -idirafter $(VM_ROOT)/include" LDLIBS="-lm" \
	    LDFLAGS="-static -L$(VM_ROOT)/lib/aarch64-linux-gnu -Wl,--no-warnings" $(VM)/arm64/cpubind
	@mkdir -p $(VM)/bin
	@aarch64-linux-gnu-strip -o $(VM)/bin/cpubind $(VM)/arm64/cpubind
	@aarch64-linux-gnu-gcc -std=c11 -O2 $(WARN) -Werror -static -s tests/vm/vm_worker.c \
	    -o $(VM)/bin/worker
	@BUILD=$(BUILD) JOBS=$(JOBS) tests/vm/vm.sh boot $(VM_HOSTS)
	@BUILD=$(BUILD) tests/run.sh $(VM_HOSTS:%="tests/vm/vm.sh show %")

bench: deps-bench ## measure, as ratios in one run
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/bench $(BUILD)/bench_text \
	    $(BUILD)/bench_command $(BUILD)/bench_bind
	@$(BUILD)/bench
	@$(BUILD)/bench_text
	@$(BUILD)/bench_bind
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

fixtures: deps-run ## the fixture hosts as one database, BUILD/fixtures.db
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/fixtures.db

# Beside include/cpubind.h the headers of adapters/ keep their places to one another.
install: all $(LIBRARIES) ## command, headers, libraries, fixtures
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(BUILD)/cpubind $(DESTDIR)$(PREFIX)/bin/cpubind
	install -m 644 $(LIBRARIES) $(DESTDIR)$(PREFIX)/lib
	install -D -m 644 cpubind.h $(DESTDIR)$(PREFIX)/include/cpubind.h
	for header in $(PUBLIC); do \
	    install -D -m 644 adapters/$$header $(DESTDIR)$(PREFIX)/include/cpubind/$$header || exit 1; \
	done
	install -d $(DESTDIR)$(PREFIX)/share/cpubind
	install -m 644 $(BUILD)/fixtures.db $(DESTDIR)$(PREFIX)/share/cpubind/fixtures.db

lib: $(BUILD)/libcpubind.so $(LIBRARIES) ## the core shared; readers, binding and corpus static

clean: ## remove everything that was built
	rm -rf $(BUILD)

deps-run deps-check deps-vm deps-bench deps-fuzz deps-fixtures:
	@tests/support/deps.sh $(@:deps-%=%)

tests: $(TEST_BINS) $(REPLAYS)
fuzz-targets: $(patsubst %,$(BUILD)/fuzz/%,$(FUZZ))
fuzz-replays: $(REPLAYS)
arm64-tests: $(filter $(BUILD)/tests/core/% $(BUILD)/tests/text/% $(BUILD)/tests/ascend/%,$(TEST_BINS))

$(BUILD)/cpubind: $(CLI) $(LINUX) $(SQLITE) $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -ljansson -lsqlite3 -lmd $(LDLIBS) -o $@

$(BUILD)/libcpubind.so: cpubind.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -fPIC -DCPUBIND_IMPLEMENTATION -x c $< -o $@

# A static library is one object in which only the names of its list are global. The core is an
# object of its own: a program that has the core already takes nothing twice.
$(BUILD)/libcpubind_ascend.a: $(BUILD)/obj/libcpubind_ascend.o $(CORE)
$(BUILD)/libcpubind_linux.a: $(BUILD)/obj/libcpubind_linux.o
$(BUILD)/libcpubind_corpus.a: $(BUILD)/obj/libcpubind_corpus.o
$(LIBRARIES):
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/obj/libcpubind_ascend.o: adapters/ascend/libcpubind_ascend.symbols $(TEXT)
$(BUILD)/obj/libcpubind_linux.o: adapters/linux/libcpubind_linux.symbols $(LINUX)
$(BUILD)/obj/libcpubind_corpus.o: adapters/sqlite/libcpubind_corpus.symbols $(SQLITE)
$(LIBRARIES:$(BUILD)/%.a=$(BUILD)/obj/%.o):
	sed -n 's/^\(cpubind_[a-z0-9_]*\) .*/\1/p' $< >$(@:.o=.names)
	$(CC) $(CFLAGS) -r -nostdlib $(filter %.o,$^) -o $@
	$(OBJCOPY) --keep-global-symbols=$(@:.o=.names) $@

# Names of hosts' files hold colons, which make cannot have in a prerequisite: find compares. The
# number of the SQLite version that wrote the file stands at byte 96 and means nothing to
# readers; 3.38.0 is the oldest that reads all of it, and the bytes are the same everywhere.
$(BUILD)/fixtures.db: $(BUILD)/cpubind FORCE
	@if [ ! -e $@ ] || [ -n "$$(find fixtures/hosts $< -newer $@ | head -n 1)" ]; then \
	    rm -f $@.new && LC_ALL=C && export LC_ALL && \
	    $< fixture import --quiet --db $@.new fixtures/hosts/* && \
	    printf '\000\056\133\060' | dd of=$@.new bs=1 seek=96 conv=notrunc 2>/dev/null && \
	    mv $@.new $@; \
	fi

# Other flags, other objects: what was built with some is not linked with others.
FLAGS = $(CC) $(ALL) $(LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@
FORCE:

$(CORE): cpubind.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c99 $(CFLAGS) $(WARN) $(LIBRARY) -DCPUBIND_IMPLEMENTATION -x c -c $< -o $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 $(ALL) -c $< -o $@

# The schema as bytes, so that the command makes a corpus without a file beside it.
$(BUILD)/obj/adapters/sqlite/schema.c: fixtures/schema.sql Makefile
	@mkdir -p $(@D)
	{ echo '#include "schema.h"'; echo 'const char cpubind_priv_corpus_schema[] = {'; \
	    od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; } >$@.new
	mv $@.new $@
$(BUILD)/obj/adapters/sqlite/schema.o: $(BUILD)/obj/adapters/sqlite/schema.c $(BUILD)/flags
	$(CC) -std=c11 $(ALL) -Iadapters/sqlite -c $< -o $@

# A test is linked with all that stands below its folder, and with its neighbours' helpers.
$(BUILD)/tests/core/%: $(BUILD)/obj/tests/core/%.o $(BUILD)/obj/tests/core/model.o $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@
$(BUILD)/tests/text/%: $(BUILD)/obj/tests/text/%.o $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@
$(BUILD)/tests/ascend/%: $(BUILD)/obj/tests/ascend/%.o $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@
$(BUILD)/tests/linux/%: $(BUILD)/obj/tests/linux/%.o $(LINUX) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@
$(BUILD)/tests/sqlite/%: $(BUILD)/obj/tests/sqlite/%.o $(SQLITE) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -lsqlite3 -lmd -o $@
$(BUILD)/tests/cli/%: $(BUILD)/obj/tests/cli/%.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -ljansson -o $@
# A fuzz target has the main of replay.c or that of libFuzzer.
$(BUILD)/fuzz/replay_%: $(BUILD)/obj/fuzz/targets/fuzz_%.o $(BUILD)/obj/fuzz/replay.o $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/fuzz/replay_corpus: $(BUILD)/obj/fuzz/targets/fuzz_corpus.o $(BUILD)/obj/fuzz/replay.o \
    $(SQLITE) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lsqlite3 -lmd -o $@
$(BUILD)/fuzz/corpus: $(BUILD)/obj/fuzz/targets/fuzz_corpus.o $(SQLITE) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer $^ -lsqlite3 -lmd -o $@
$(BUILD)/fuzz/replay_record: $(BUILD)/obj/fuzz/targets/fuzz_record.o $(BUILD)/obj/fuzz/replay.o \
    $(LINUX) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/fuzz/record: $(BUILD)/obj/fuzz/targets/fuzz_record.o $(LINUX) $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer $^ -o $@
$(BUILD)/fuzz/%: $(BUILD)/obj/fuzz/targets/fuzz_%.o $(TEXT) $(CORE)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer $^ -o $@
$(BUILD)/bench: $(BUILD)/obj/tests/bench/bench.o $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -lhwloc -o $@
$(BUILD)/bench_text: $(BUILD)/obj/tests/bench/bench_text.o $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/bench_bind: $(BUILD)/obj/tests/bench/bench_bind.o $(LINUX) $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -ljansson -o $@
$(BUILD)/bench_command: $(BUILD)/obj/tests/bench/bench_command.o
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

.PRECIOUS: $(BUILD)/obj/%.o
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
