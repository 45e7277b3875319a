# cpubind: which CPUs belong to which device. `make help` lists the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
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
# The folder of a command that runs on this machine; another one when BUILD is for another.
NATIVE  ?= $(BUILD)
VERSION := $(shell sed -n 's/^.define CPUBIND_VERSION  *"\(.*\)"/\1/p' cpubind.h)
# Pages and packages have the time of the last commit; those of make dist have it too.
export SOURCE_DATE_EPOCH ?= $(shell [ -e .git ] && git log -1 --format=%ct 2>/dev/null || date -r cpubind.h +%s)

WARN     = -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
# A shared object can contain the static libraries; it exports none of their names.
LIBRARY  = -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
# On a 32-bit machine a folder cannot be listed without 64 bits when an inode has a large number.
ALL      = $(CPPFLAGS) $(CFLAGS) $(WARN) $(LIBRARY) -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 \
           -D_FILE_OFFSET_BITS=64 -I$(BUILD)/made -MMD -MP
# Lines alone are what a report names. For -O1 gcc needs twice the time. A trap where something is
# undefined needs no text of it: without one a command starts in two thirds of the time.
SANITIZE = -Og -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fsanitize-undefined-trap-on-error
# So linked, it starts in half the time; gold links in half the time of ld.
SAN_LINK = -no-pie -static-libasan $(if $(shell command -v ld.gold),-fuse-ld=gold)
SAN_LIBS = STATIC_LINK="-static-libgcc -Wl,-Bstatic" SHARED_LINK=-Wl,-Bdynamic
MAKE_IN  = $(MAKE) --no-print-directory -s -j$(JOBS)
MAKE_SAN = $(MAKE_IN) BUILD=$(BUILD)/san FAULTS=yes $(SAN_LIBS) CFLAGS="$(SANITIZE) -Werror" LDFLAGS="$(SAN_LINK)"

# -- The rooms ------------------------------------------------------------------

# A room is a folder of adapters/; main.c and *_main.c are programs.
objects  = $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %main.c,$(sort $(wildcard $(1:%=adapters/%/*.c)))))
CORE    := $(BUILD)/obj/cpubind.o
TEXT    := $(call objects,text model ascend pci plan)
LINUX   := $(call objects,linux linux/source linux/kernel linux/bind)
API     := $(call objects,api words)
SQLITE  := $(call objects,sqlite) $(BUILD)/obj/made/schema.o
NRI     := $(call objects,nri) $(BUILD)/obj/made/nri.pb-c.o
ROOMS   := $(call objects,cli doctor measure service host archive) $(API) $(SQLITE) $(LINUX) $(TEXT) $(CORE)
LIBS     = -lmd -lz $(SHARED_LINK) -lsqlite3 -lm
# The headers that are installed below include/cpubind, in the folders of adapters/.
PUBLIC  := source.h $(patsubst adapters/%,%,$(filter-out %_reader.h %_parts.h %cursor.h,\
             $(sort $(wildcard adapters/text/*.h adapters/model/*.h adapters/ascend/*.h adapters/plan/*.h)))) \
           $(addprefix linux/,cpubind_linux.h linux.h sys.h source/host_source.h bind/bind.h) \
           sqlite/corpus.h

# The one program of tests in C: all files of the folders of tests/, but for what is a program itself.
PROGRAMS = $(addprefix tests/,vm/% packaging/% bench/% consumers/% languages/% scenes/% faults/% quality/% \
             sqlite/fleet_hosts.c)
TESTS   := $(filter-out $(PROGRAMS),$(sort $(wildcard tests/*/*.c)))
# What scenes start: workers, doubles, libraries that stand before the C library.
SCENES  := $(patsubst tests/scenes/programs/%.c,$(BUILD)/programs/%,$(wildcard tests/scenes/programs/*.c))
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/%,$(wildcard tests/bench/*.c))

.PHONY: all help run lib built install fixtures pages check check-all check-vm check-slurm check-nri check-foreign \
        check-fleet laws analyze coverage bench bench-host bench-slurm quality fuzz clean \
        test tested FORCE

all: $(BUILD)/cpubind $(BUILD)/fixtures.db ## build/cpubind, and build/fixtures.db beside it

help: ## this text
	@awk -F ':.*## ' '/^[a-z -]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile adapters/packaging/packages.mk
	@echo "  variables: BUILD=build PREFIX=/usr/local DESTDIR= CC=cc CFLAGS=\"-O2 -g\" HOST=$(HOST)"

run: deps-run ## install missing packages, build, and plan the fixture host HOST
	@$(MAKE_IN) all
	@$(BUILD)/cpubind plan --fixture $(HOST)

# -- Tests: HOUSE.md, "Testing" ---------------------------------------------------

check: deps-check ## what a change needs; T=WORD: the tests with WORD in their names, all of them sanitized
	@$(MAKE_SAN) tested $(if $(T),,&& $(MAKE_IN) all $(BUILD)/faulty)
	@BUILD=$(BUILD) SHARED=$(SHARED) tests/run check $(T)

check-all: deps-check-all ## what CI runs: all of check sanitized, and what is slow
	@$(MAKE_SAN) tested
	@rm -rf $(BUILD)/stage && $(MAKE_IN) lib slurm-plugin $(addprefix $(BUILD)/,cpubind-nri fleet_hosts faulty)
	@$(MAKE_IN) DESTDIR=$(BUILD)/stage PREFIX=/usr install
	@BUILD=$(BUILD) SHARED=$(SHARED) tests/run check-all $(T)

# The longest first, so that the last ones end together.
VM_HOSTS ?= a2 a2@6.12 950 a2x4@6.12 a3 a2x2 300i a2x4 mixed
check-vm: deps-vm ## boot Ascend hosts as ARM machines and test there; VM_HOSTS="a2 950" chooses
	@BUILD=$(BUILD) tests/vm/prepare.sh
	@BUILD=$(BUILD) JOBS=$(JOBS) tests/vm/vm.sh boot $(VM_HOSTS)
	@BUILD=$(BUILD) tests/run check-vm $(VM_HOSTS:%="tests/vm/vm.sh show %")

SLURM_HOSTS = a2x4 a2x4@6.12
check-slurm: deps-check-slurm ## the plugin in a Slurm of 64 nodes, and in ARM machines with cgroups of version 2
	@$(MAKE_IN) all slurm-plugin
	@BUILD=$(BUILD) tests/vm/prepare.sh slurm
	@BUILD=$(BUILD) JOBS=$(JOBS) VM_SECTIONS=slurm tests/vm/vm.sh boot $(SLURM_HOSTS)
	@BUILD=$(BUILD) CPUBIND_SLURM_NODES=64 tests/run check-slurm $(SLURM_HOSTS:%="tests/vm/vm.sh show %")

check-nri: deps-nri deps-check-nri ## the plugin in a real containerd of Debian 13, which is fetched; CPUBIND_NRI_PODS=500 pods
	@$(MAKE_IN) $(BUILD)/cpubind $(BUILD)/cpubind-nri
	@BUILD=$(BUILD) tests/nri/fetch.sh || echo "containerd could not be fetched"
	@BUILD=$(BUILD) tests/run check-nri

check-foreign: deps-foreign ## plan the fixture hosts with the library on s390x, armhf and aarch64, by emulation
	@$(MAKE_IN) lib && BUILD=$(BUILD) tests/run check-foreign

check-fleet: deps-check ## import and group 10,000 made hosts, and print time and memory; FLEET_HOSTS=N for others
	@$(MAKE_IN) $(BUILD)/cpubind $(BUILD)/fleet_hosts
	@BUILD=$(BUILD) FLEET_HOSTS=$${FLEET_HOSTS:-10000} tests/sqlite/fleet.sh

laws: deps-check ## PAIRS=1000000 pairs of views share no CPU, HOSTS=1000000 hosts keep the laws of plans
	@$(MAKE_IN) BUILD=$(BUILD)/fast FAULTS=yes tested
	@CPUBIND_PAIRS=$(or $(PAIRS),1000000) CPUBIND_SEED=$(or $(SEED),1) CPUBIND_TEST_HOSTS=$(or $(HOSTS),1000000) \
	    sh -ec 'for group in \
	        $$($(BUILD)/fast/test --list laws); do $(BUILD)/fast/test $$group; done'

analyze: deps-check-all ## follow paths through the functions with clang-tidy's analyzer: some minutes
	@BUILD=$(BUILD) tests/checks/lint.sh --analyze

coverage: deps-fuzz ## what make check reaches of each room, in lines and branches; T= as there
	@$(MAKE_IN) BUILD=$(BUILD)/covered FAULTS=yes STATIC_LINK= CC=clang CFLAGS="-O0 -g -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation" tested
	@BUILD=$(BUILD)/covered tests/coverage.sh $(T)

bench: deps-bench ## time the core, the readers, the command, binding, Python, as ratios
	@$(MAKE_IN) all lib $(BENCHES)
	@for bench in bench bench_text bench_bind bench_watch bench_host; do $(BUILD)/$$bench || exit; done
	@$(BUILD)/bench_command $(BUILD)/cpubind
	@BUILD=$(BUILD) python3 tests/bench/bench_python.py
	@$(BUILD)/bench_run $(BUILD)/cpubind

bench-host: deps-bench ## a watch beside 100,000 threads, for two minutes; needs root
	@$(MAKE_IN) $(BUILD)/bench_host && BUILD=$(BUILD) tests/bench/host_cost.sh

bench-slurm: deps-slurm ## what the plugin for Slurm costs a task, as a ratio in one run; needs root
	@$(MAKE_IN) all slurm-plugin && BUILD=$(BUILD) CPUBIND_SLURM_COST=15 tests/slurm/slurm.sh

quality: deps-bench ## compare the rules of a plan, over layouts and fixture hosts
	@$(MAKE_IN) $(BUILD)/quality && $(BUILD)/quality fixtures/hosts

fuzz: deps-fuzz ## fuzz each reader for FUZZ_SECONDS=60; FUZZ_TARGETS="cpulist plan" chooses
	@$(MAKE_IN) BUILD=$(BUILD)/fuzz STATIC_LINK= CC=clang CFLAGS="$(SANITIZE) -fsanitize=fuzzer-no-link" $(BUILD)/fuzz/fuzz
	@BUILD=$(BUILD)/fuzz JOBS=$(JOBS) fuzz/run.sh "$(or $(FUZZ_SECONDS),60)" $(FUZZ_TARGETS)

clean: ## remove BUILD
	rm -rf $(BUILD)
deps-%: ; @tests/support/deps.sh $*

# -- Objects ----------------------------------------------------------------------

# They are built again when the compiler or the flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)/obj/made $(BUILD)/made
	@echo '$(CC) $(ALL) $(LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL) $(LDFLAGS)' >$@

$(CORE): cpubind.h $(BUILD)/flags
	$(CC) -std=c99 $(CFLAGS) $(WARN) $(LIBRARY) -DCPUBIND_IMPLEMENTATION -x c -c $< -o $@
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 $(ALL) -c $< -o $@
$(BUILD)/obj/made/%.o: $(BUILD)/made/%.c $(BUILD)/flags
	$(CC) -std=c11 $(ALL) -Iadapters/sqlite -c $< -o $@

# The messages of NRI, by Debian's protobuf-c; the schema, so that the command can create a corpus
# without another file.
MADE = $(BUILD)/made/nri.pb-c.c
$(MADE): adapters/nri/nri.proto | $(BUILD)/flags
	protoc-c --c_out=$(@D) -I$(<D) $<
$(BUILD)/made/schema.c: fixtures/schema.sql fixtures/shapes.sql | $(BUILD)/flags
	{ echo '#include "database.h"'; for part in corpus_schema=schema shapes_schema=shapes; do \
	    echo "const char cpubind_priv_$${part%=*}[] = {"; \
	    od -An -v -tu1 fixtures/$${part#*=}.sql | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; done; } >$@
$(NRI) $(TESTS:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/adapters/nri/nri_main.o: | $(MADE)

# -- The command, the libraries, the corpus ---------------------------------------

# Without shared libraries `cpubind run` starts its command in two thirds of the time. Where that
# cannot be linked (a sanitizer, a distribution without static libraries) it has shared ones. A
# copy, which is written in one go as by `make install`, starts 60 us earlier.
STATIC_LINK ?= -static
# With FAULTS, and in BUILD/faulty, each system call fails when a test says so, and a copy of the
# command is made for a test: tests/faults/sys_faults.c, served.c. A test stands in for libc, too.
FAULTY = $(patsubst %,$(BUILD)/obj/tests/faults/%.o,sys_faults served)
WRAP = -Wl,--wrap=cpubind_sys_real -Wl,--wrap=main
command = $(CC) $(CFLAGS) $(LDFLAGS) $(if $(filter $(FAULTY),$^),$(WRAP))
$(BUILD)/cpubind: $(if $(FAULTS),$(FAULTY))
$(BUILD)/faulty: $(FAULTY)
$(BUILD)/faulty: STATIC_LINK = -no-pie
$(BUILD)/cpubind $(BUILD)/faulty: $(BUILD)/obj/adapters/cli/main.o $(ROOMS)
	$(command) $^ $(STATIC_LINK) $(LIBS) $(LDLIBS) -o $@.linked 2>$@.log || \
	    $(command) $^ $(LIBS) $(LDLIBS) -o $@.linked
	@install $@.linked $@ && rm $@.linked
$(BUILD)/fixtures.db: $(BUILD)/cpubind $(sort $(wildcard fixtures/hosts/*.host))
	@rm -f $@.new
	@$(NATIVE)/cpubind fixture import --quiet --db $@.new $(filter %.host,$^)
	@mv $@.new $@
fixtures: deps-run ## the fixture hosts as one database, BUILD/fixtures.db
	@$(MAKE_IN) $(BUILD)/fixtures.db

# The shared library needs libc alone, of glibc 2.28 or later: linux/shared has what is newer.
SHARED_OBJECTS = $(API) $(call objects,linux/shared) $(LINUX) $(TEXT) $(CORE)
$(BUILD)/libcpubind.so.1: adapters/api/cpubind_api.map $(SHARED_OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libcpubind.so.1 -Wl,--version-script=$< \
	    -Wl,-z,defs -Wl,-z,relro,-z,now -Wl,--gc-sections $(filter %.o,$^) -o $@
$(BUILD)/libcpubind.so: $(BUILD)/libcpubind.so.1
	ln -sf libcpubind.so.1 $@
# A static library is one object in which only the names of its list are global. The core of the
# readers' is a second object, which the linker passes over in a program that has its own.
LIBRARIES := $(patsubst %,$(BUILD)/libcpubind%.a,_ascend _linux _corpus) $(BUILD)/libcpubind.a
$(BUILD)/libcpubind.a: adapters/api/cpubind_api.map $(SHARED_OBJECTS)
$(BUILD)/libcpubind_ascend.a: adapters/ascend/libcpubind_ascend.symbols $(TEXT) $(CORE)
$(BUILD)/libcpubind_linux.a: adapters/linux/libcpubind_linux.symbols $(LINUX)
$(BUILD)/libcpubind_corpus.a: adapters/sqlite/libcpubind_corpus.symbols $(SQLITE)
own_core = $(if $(findstring ascend,$@),$(CORE))
$(LIBRARIES):
	sed -n 's/^ *\(cp[a-z]*_[a-z0-9_]*\)[; ].*/\1/p;s/^ *\(cpb_[a-z0-9_]*\);$$/\1/p' $< >$@.names
	$(CC) $(CFLAGS) -r -nostdlib $(filter-out $(own_core),$(filter %.o,$^)) -o $@.o
	$(OBJCOPY) --keep-global-symbols=$@.names $@.o
	rm -f $@
	$(AR) rcsD $@ $@.o $(own_core)
lib: $(BUILD)/libcpubind.so $(LIBRARIES) ## the shared library, and the readers, binding and corpus as static ones

# -- Other programs ---------------------------------------------------------------
# $(1) below BUILD, of its own objects $(2) and all rooms, with the libraries $(3).
define program
$(BUILD)/$(1): $(2:%=$(BUILD)/obj/%.o) $(ROOMS)
	$$(CC) $$(CFLAGS) $$(LDFLAGS) $$^ $(3) $$(LIBS) $$(LDLIBS) -o $$@
endef
link = $(eval $(call program,$(strip $(1)),$(2),$(3)))
$(call link, test, $(TESTS:%.c=%) $(NRI:$(BUILD)/obj/%.o=%), -lcmocka -ljansson -lprotobuf-c)
$(call link, fuzz, fuzz/fuzz $(basename $(filter-out %/inputs.c,$(wildcard tests/readers/*.c))) $(NRI:$(BUILD)/obj/%.o=%) \
    $(addprefix tests/laws/,view_law view_texts host_view random_host random_view), -fsanitize=fuzzer -lprotobuf-c)
$(call link, cpubind-nri, adapters/nri/nri_main $(NRI:$(BUILD)/obj/%.o=%), -lprotobuf-c)
$(call link, quality, $(basename $(wildcard tests/quality/*.c)))
$(foreach one,adapters/packaging/option_table tests/sqlite/fleet_hosts,$(call link, $(notdir $(one)), $(one)))
$(foreach bench,$(notdir $(BENCHES)),$(call link, $(bench), tests/bench/$(bench), -lhwloc))

test: $(BUILD)/test
tested: test $(BUILD)/cpubind $(BUILD)/fixtures.db $(BUILD)/cpubind-nri $(SCENES)

$(BUILD)/programs/%: tests/scenes/programs/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_DEFAULT_SOURCE -O1 $(WARN) -Werror $(if $(findstring shim,$@),-shared -fPIC) $< -ldl -pthread -o $@

include adapters/packaging/packages.mk
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
