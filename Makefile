# cpubind: which CPUs belong to which NPU. `make help` lists the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
CC      ?= cc
CFLAGS  ?= -O2 -g
STATIC_LINK ?= -static
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
ifeq ($(origin AR),default)
AR      := $(shell $(CC) -print-prog-name=ar)
endif
HOST    ?= a2-192cpu-8npu
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
SHARED  ?= ../shared
VERSION := $(shell sed -n 's/^.define CPUBIND_VERSION *"\(.*\)"$$/\1/p' cpubind.h)

WARN     = -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
# Lines alone are what a report of the sanitizers names. For -O1 gcc needs twice the time.
SANITIZE = -Og -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZED   = $(SANITIZE) -fsanitize=fuzzer-no-link
# Some tests start the command a thousand times. So linked, the sanitizers start in two thirds of the
# time: nothing is relocated, and no library is loaded. gold links in half the time of ld.
SAN_LINK = -no-pie $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan) \
           $(if $(shell command -v ld.gold),-fuse-ld=gold)
# 256 MB of freed memory, of which each page is new, and 30 callers of each malloc are a third of
# the time of a test. ASAN= has the defaults.
ASAN    ?= quarantine_size_mb=8:malloc_context_size=8
COVERED  = -O0 -g -fprofile-instr-generate -fcoverage-mapping
# A shared object can contain the static libraries; it exports none of their names.
LIBRARY  = -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
# On a 32-bit machine a folder cannot be listed without it when an inode has a large number.
LARGE    = -D_FILE_OFFSET_BITS=64
ALL      = $(CPPFLAGS) $(CFLAGS) $(WARN) $(LIBRARY) -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 $(LARGE) -MMD -MP

# The folder of a command that runs on this machine; another one when BUILD is for another.
NATIVE  ?= $(BUILD)
VERSION := $(shell sed -n 's/^.define CPUBIND_VERSION  *"\(.*\)"/\1/p' cpubind.h)
# Pages and packages have the time of the last commit; those of make dist have it too.
export SOURCE_DATE_EPOCH ?= $(shell [ -e .git ] && git log -1 --format=%ct 2>/dev/null || date -r cpubind.h +%s)

# The objects of each room, and the headers that are installed.
objects    = $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard $(1:%=adapters/%/*.c))))
TEXT      := $(call objects,text model ascend pci plan)
DOCTOR    := $(call objects,doctor)
LINUX     := $(call objects,linux linux/source linux/kernel linux/bind)
WORKERS   := $(call objects,host)
MEASURE   := $(call objects,measure)
SERVICE   := $(call objects,service)
SQLITE    := $(call objects,sqlite) $(BUILD)/obj/adapters/sqlite/schema.o
ARCHIVE   := $(call objects,archive)
API       := $(call objects,api)
OLD_LIBC  := $(call objects,linux/shared)
NRI       := $(call objects,nri) $(BUILD)/obj/adapters/nri/nri.pb-c.o
KUBELET   := $(call objects,kubelet) $(BUILD)/obj/adapters/kubelet/podresources.pb-c.o
CLI       := $(call objects,cli)
PUBLIC    := source.h \
             $(patsubst adapters/%,%,$(filter-out %scan.h %_reader.h %_parts.h,\
               $(sort $(wildcard adapters/text/*.h adapters/model/*.h adapters/ascend/*.h adapters/plan/*.h)))) \
             $(addprefix linux/,cpubind_linux.h linux.h sys.h source/host_source.h bind/bind.h) \
             sqlite/corpus.h sqlite/store.h
CORE      := $(BUILD)/obj/cpubind.o
LIBRARIES := $(patsubst %,$(BUILD)/libcpubind_%.a,ascend linux corpus)
TESTS     := $(sort $(wildcard tests/core/test_*.c tests/text/test_*.c tests/ascend/test_*.c \
               tests/doctor/test_*.c tests/pci/test_*.c tests/archive/test_*.c tests/linux/test_*.c tests/host/test_*.c tests/service/test_*.c tests/measure/test_*.c tests/sqlite/test_*.c tests/api/test_*.c tests/kubelet/test_*.c tests/cli/test_*.c))
TEST_BINS := $(patsubst %.c,$(BUILD)/%,$(TESTS))
FUZZ      := $(shell fuzz/fuzz_targets.sh list)
REPLAYS   := $(patsubst %,$(BUILD)/fuzz/replay_%,$(FUZZ))
LAW       := $(addprefix tests/ascend/,view_law random_view host_view view_texts random_host)
# The programs of make laws: each takes as many random hosts or views as it is told.
LAWS      := ascend/test_views core/test_near_laws core/test_laws core/test_allowed
QUALITY   := $(addprefix tests/quality/,layouts rules)
# The commands of make check; tests/run.sh has the form. BESIDE can run beside any other: what it
# writes, it has to itself; what it starts, it asks for alone; and it measures no times. OWN_FILES
# are programs of rooms that bind of which that is true; WAITING and WAITS are so too, but wait for
# limits of a second or more, most of their time. KEPT reads files alone, whose result is repeated
# while nothing that goes in changes. The longest come first.
# BARE is built without sanitizers: it starts the command thousands of times, and would wait for
# the sanitizers most of the time, tries each word of each fixture, or counts the plans of so many
# random hosts that their sum says whether one has changed. Under sanitizers run a sample of these
# commands (tests/cli/run_command.h), the replay of the fixtures, the inputs of the fuzz target of
# redaction, and the random hosts of test_laws. TWICE is built in both ways: without sanitizers
# every allocation fails, under them a sample.
TWICE      = tests/sqlite/test_store_faults.c
BARE       = $(filter tests/cli/%,$(TESTS)) $(addprefix tests/,doctor/test_doctor.c ascend/test_redact.c \
               core/test_same_plans.c) $(TWICE)
BESIDE     = $(addprefix tests/,checks/lint.sh checks/arm64.sh packaging/library.sh \
               packaging/packaging.sh python/python.sh languages/languages.sh cli/corpus.sh checks/readme.sh cli/upgrade.sh \
               service/upgrade.sh api/json.sh packaging/limits.sh service/kills.sh \
               packaging/maintainer.sh packaging/slurm_packages.sh checks/layers.sh sqlite/fleet.sh \
               cli/topo.sh packaging/abi.sh cli/redact.sh checks/tree.sh checks/fuzz.sh checks/kept.sh)
SELF_TESTS = $(foreach check,layers tree,"+tests/checks/$(check).sh --self-test")
OWN_FILES  = $(addprefix tests/,linux/test_bind_faults.c sqlite/test_store_faults.c \
               host/test_host_bind.c linux/test_mend.c linux/test_folder_writer_faults.c \
               linux/test_partition.c linux/test_record_faults.c linux/test_folder_host.c \
               linux/test_source_faults.c linux/test_folder_writer.c host/test_host_users.c)
WAITING    = $(addprefix tests/,service/test_service.c linux/test_irqbalance.c linux/test_shared_run.c \
               linux/test_live_host.c linux/test_host_lock.c)
WAITS      = $(addprefix tests/,service/owner.sh slurm/slurm.sh service/device_users.sh \
               service/device_service.sh service/service.sh cli/device_bind.sh nri/nri.sh kubelet/kubelet.sh)
KEPT       = $(addprefix $(BUILD)/san/,fuzz/replay_facts $(addprefix tests/,sqlite/test_store_faults \
               ascend/test_damaged ascend/test_views core/test_laws core/test_allowed core/test_near_laws \
               archive/test_archive ascend/test_host_cases ascend/test_mutations core/test_realistic)) \
             $(addprefix $(BUILD)/tests/,sqlite/test_store_faults cli/test_advice doctor/test_doctor \
               ascend/test_redact cli/test_hosts cli/test_pictures cli/test_host_files core/test_same_plans)
ALONE      = $(filter-out $(OWN_FILES) $(WAITING),$(filter $(addprefix tests/,linux/% host/% service/% measure/test_engine% measure/test_probe% api/%),$(TESTS)))
SCRIPTS    = $(addprefix tests/,cli/bind.sh cli/bind_all.sh \
               cli/run_tree.sh cli/status.sh cli/measure.sh service/measure.sh cli/numa_bind.sh cli/numa_statements.sh cli/online.sh \
               cli/device_cgroup.sh cli/formats.sh service/deploy.sh checks/install.sh packaging/installed.sh \
               checks/symbols.sh)
SANITIZED  = $(filter-out $(filter-out $(TWICE),$(BARE)),$(TESTS))

# The longest first, so that the last ones end together.
VM_HOSTS  ?= a2 950 a2x4@6.12 a2x4 300i a3 a2x2 mixed
SLURM_HOSTS = a2x4 a2x4@6.12
VM         = $(BUILD)/vm

.PHONY: all help run check analyze check-fleet check-foreign check-vm check-slurm check-nri laws bench bench-host bench-limits bench-slurm quality measure fuzz fuzz-merge fixtures install clean deps-run deps-check \
        deps-foreign deps-vm deps-bench deps-fuzz deps-fixtures deps-measure deps-static deps-packages deps-slurm deps-nri deps-check-nri deps-check-slurm vm-programs tests arm64-tests fuzz-targets fuzz-replays lib
.PHONY: built pages wheel static deb rpm slurm spank nri dist packages check-packages

all: $(BUILD)/cpubind $(BUILD)/fixtures.db ## build/cpubind, and build/fixtures.db beside it

help: ## this text
	@awk -F ':.*## ' '/^[a-z -]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile
	@echo "  variables: BUILD=build PREFIX=/usr/local DESTDIR= CC=cc CFLAGS=\"-O2 -g\" HOST=$(HOST)"

run: deps-run ## install missing packages, build, and plan the fixture host HOST
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@$(BUILD)/cpubind plan --fixture $(HOST)

check: deps-check ## install missing packages, build, and run everything that CI runs
	@$(MAKE) --no-print-directory -s -j$(JOBS) built spank $(BUILD)/cpubind-nri $(BUILD)/cpubind_shared $(BUILD)/tests/sqlite/fleet_hosts $(BARE:%.c=$(BUILD)/%)
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD)/san \
	    CFLAGS="$(SANITIZE) -Werror" LDFLAGS="$(SAN_LINK)" all $(BUILD)/san/cpubind-nri $(SANITIZED:%.c=$(BUILD)/san/%) fuzz-replays
	@BUILD=$(BUILD) CPUBIND_TESTS=tests CPUBIND_SHARED=$(SHARED) ASAN_OPTIONS="$(ASAN)" \
	    CPUBIND_SANITIZED=$(abspath $(BUILD)/san/cpubind) \
	    tests/run.sh $(BESIDE:%=+%) $(SELF_TESTS) $(foreach program,$(KEPT),"+tests/support/kept_program.sh $(program)") \
	    $(patsubst %,+%,$(filter-out $(KEPT),$(patsubst %.c,$(BUILD)/san/%,$(OWN_FILES) \
	        $(filter-out $(ALONE) $(OWN_FILES) $(WAITING),$(SANITIZED))) $(BARE:%.c=$(BUILD)/%))) \
	    $(WAITS:%==%) $(WAITING:%.c==$(BUILD)/san/%) \
	    "+$(BUILD)/san/cpubind fixture replay --db $(BUILD)/fixtures.db --format tap" \
	    $(patsubst %,+%,$(filter-out $(KEPT),$(FUZZ:%=$(BUILD)/san/fuzz/replay_%))) \
	    $(patsubst %.c,$(BUILD)/san/%,$(ALONE)) $(SCRIPTS)

check-foreign: deps-foreign ## plan the fixture hosts with the library on s390x, armhf and aarch64, by emulation
	@$(MAKE) --no-print-directory -s -j$(JOBS) lib
	@BUILD=$(BUILD) tests/run.sh tests/packaging/foreign.sh

check-vm: deps-vm ## boot Ascend hosts as ARM machines and test there; VM_HOSTS="a2 950" chooses
	@BUILD=$(BUILD) tests/vm/fetch.sh
	@$(MAKE) --no-print-directory -s vm-programs
	@BUILD=$(BUILD) JOBS=$(JOBS) tests/vm/vm.sh boot $(VM_HOSTS)
	@BUILD=$(BUILD) tests/run.sh $(VM_HOSTS:%="tests/vm/vm.sh show %")

check-slurm: deps-check-slurm ## the plugin in a Slurm of 64 nodes, and in ARM machines with cgroups of version 2
	@$(MAKE) --no-print-directory -s -j$(JOBS) all spank
	@BUILD=$(BUILD) tests/vm/fetch.sh slurm
	@$(MAKE) --no-print-directory -s vm-programs
	@CPATH=$(abspath $(VM))/slurm/root/usr/include BUILD=$(BUILD) \
	    tests/support/arm64.sh $(BUILD)/arm64/slurm/spank_cpubind.so
	@BUILD=$(BUILD) JOBS=$(JOBS) VM_SECTIONS=slurm tests/vm/vm.sh boot $(SLURM_HOSTS)
	@BUILD=$(BUILD) CPUBIND_SLURM_NODES=64 tests/run.sh tests/slurm/slurm.sh $(SLURM_HOSTS:%="tests/vm/vm.sh show %")

check-nri: deps-nri deps-check-nri ## the plugin in a real containerd of Debian 13, which is fetched; CPUBIND_NRI_PODS=500 pods
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/cpubind $(BUILD)/cpubind-nri
	@BUILD=$(BUILD) tests/nri/fetch.sh || echo "containerd could not be fetched"
	@BUILD=$(BUILD) tests/run.sh tests/nri/real.sh

analyze: deps-check ## follow paths through the functions with clang-tidy's analyzer: some minutes
	@BUILD=$(BUILD) tests/checks/lint.sh --analyze

laws: deps-check ## PAIRS=1000000 pairs of views share no CPU, HOSTS=1000000 hosts keep the laws of plans
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(LAWS:%=$(BUILD)/tests/%)
	@for law in $(LAWS); do CPUBIND_PAIRS=$(or $(PAIRS),1000000) CPUBIND_SEED=$(or $(SEED),1) \
	    CPUBIND_TEST_HOSTS=$(or $(HOSTS),1000000) CPUBIND_TEST_NEAR_HOSTS=$(or $(HOSTS),1000000) \
	    $(BUILD)/tests/$$law || exit; done

check-fleet: deps-check ## import and group 10,000 made hosts, and print time and memory; FLEET_HOSTS=N for others
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/cpubind $(BUILD)/tests/sqlite/fleet_hosts
	@BUILD=$(BUILD) FLEET_HOSTS=$${FLEET_HOSTS:-10000} tests/sqlite/fleet.sh

bench: deps-bench ## time the core, the readers, the command, binding, Python, as ratios
	@$(MAKE) --no-print-directory -s -j$(JOBS) all lib $(BUILD)/bench $(BUILD)/bench_text \
	    $(BUILD)/bench_command $(BUILD)/bench_bind $(BUILD)/bench_watch $(BUILD)/bench_host \
	    $(BUILD)/bench_run $(BUILD)/cpubind_shared
	@$(BUILD)/bench
	@$(BUILD)/bench_text
	@$(BUILD)/bench_bind
	@$(BUILD)/bench_watch
	@$(BUILD)/bench_host
	@$(BUILD)/bench_command $(BUILD)/cpubind
	@BUILD=$(BUILD) python3 tests/bench/bench_python.py
	@$(BUILD)/bench_run $(BUILD)/cpubind $(BUILD)/cpubind_shared

bench-host: deps-bench ## measure a watch beside 100,000 threads, for two minutes; needs root
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/bench_host
	@BUILD=$(BUILD) tests/bench/host_cost.sh

bench-limits: ## time plans of 65,536 CPUs and 4,096 devices, of homes of any shape; needs 3 GB
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/bench_limits
	@$(BUILD)/bench_limits

bench-slurm: deps-slurm ## what the plugin for Slurm costs a task, as a ratio in one run; needs root
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/slurm/spank_cpubind.so
	@BUILD=$(BUILD) CPUBIND_SLURM_COST=15 tests/slurm/slurm.sh

quality: deps-bench ## compare the rules of a plan and hwloc-distrib, over layouts and fixture hosts
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/quality
	@$(BUILD)/quality fixtures/hosts

measure: deps-measure ## figures of the sources: lines, long functions, circles, names
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build all lib
	@tests/checks/measure.sh .

fuzz: deps-fuzz ## fuzz each reader for FUZZ_SECONDS=60; FUZZ_TARGETS="cpulist plan" chooses
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD)/fuzz CC=clang \
	    CFLAGS="$(FUZZED)" fuzz-targets
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD)/fuzz/cov CC=clang \
	    CFLAGS="$(COVERED)" fuzz-replays
	@BUILD=$(BUILD) JOBS=$(JOBS) FUZZ_TARGETS="$(FUZZ_TARGETS)" \
	    FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) fuzz/fuzz_targets.sh fuzz

fuzz-merge: ## after make fuzz: keep the new inputs that add coverage, in fuzz/corpus
	@BUILD=$(BUILD) JOBS=$(JOBS) FUZZ_TARGETS="$(FUZZ_TARGETS)" fuzz/fuzz_targets.sh merge

fixtures: deps-run ## the fixture hosts as one database, BUILD/fixtures.db
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/fixtures.db

# The headers of adapters/ go to include/cpubind/, in the same folders as here; those of the
# shared library are beside cpubind.h.
INSTALLED = $(BUILD)/cpubind $(NATIVE)/fixtures.db $(NATIVE)/doc/made $(BUILD)/libcpubind.so.1 \
            $(BUILD)/libcpubind.a $(LIBRARIES)
built: $(INSTALLED)
install: built ## command, libraries, headers, pages, completion, fixtures, unit of systemd
	@BUILD=$(BUILD) NATIVE=$(NATIVE) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) VERSION=$(VERSION) \
	    adapters/packaging/install.sh "$(DESTDIR)" $(PUBLIC)

lib: $(BUILD)/libcpubind.so $(BUILD)/libcpubind.a $(LIBRARIES) ## the shared library, and the readers, binding and corpus as static ones

# Packages hold the command that needs no library, so that they install on every distribution.
# They are made on amd64; the libraries for arm64 are fetched from Debian.
ARCHES := x86_64 aarch64
STATIC  = $(BUILD)/static
ARM64   = $(STATIC)/apt/root/usr
release = $(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(STATIC)/$(1) NATIVE=$(STATIC)/x86_64 \
          LDLIBS="-static -Wl,--no-warnings -lm" $(release_$(1))
release_x86_64  = CC=gcc CFLAGS="-O2 -ffile-prefix-map=$(CURDIR)=."
release_aarch64 = CC=aarch64-linux-gnu-gcc LDFLAGS=-L$(ARM64)/lib/aarch64-linux-gnu \
          CFLAGS="-O2 -ffile-prefix-map=$(CURDIR)=. -idirafter $(ARM64)/include"

static: deps-static ## BUILD/static/cpubind-x86_64 and -aarch64: the command without libraries, and its fixtures
	@mkdir -p $(STATIC)/apt
	@adapters/packaging/arm64_libraries.sh $(STATIC)/apt >$(STATIC)/log 2>&1 || { cat $(STATIC)/log; exit 1; }
	@$(call release,x86_64) all built
	@$(call release,aarch64) built
	@strip -o $(STATIC)/cpubind-x86_64 $(STATIC)/x86_64/cpubind
	@aarch64-linux-gnu-strip -o $(STATIC)/cpubind-aarch64 $(STATIC)/aarch64/cpubind
	@cp $(STATIC)/x86_64/fixtures.db $(STATIC)/fixtures.db

deb rpm: static deps-packages ## packages for amd64 and arm64 in BUILD/packages
	@$(foreach arch,$(ARCHES),$(call release,$(arch)) PREFIX=/usr \
	    LIBDIR=/usr/lib$(if $(filter deb,$@),/$(arch)-linux-gnu,64) \
	    DESTDIR=$(BUILD)/staged/$@-$(arch) install &&) true
	@$(foreach arch,$(ARCHES),VERSION=$(VERSION) adapters/packaging/$@.sh \
	    $(BUILD)/staged/$@-$(arch) $(arch) $(BUILD)/packages &&) true

slurm: deps-slurm ## the SPANK plugin and its packages, for the Slurm of this machine, in BUILD/packages
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/slurm/spank_cpubind.so
	@VERSION=$(VERSION) adapters/packaging/slurm.sh $(BUILD)/slurm/spank_cpubind.so $(BUILD)/packages

nri: deps-nri ## the plugin of containerd and CRI-O and its package, for this machine: BUILD/packages/cpubind-nri_*.deb
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/cpubind-nri
	@VERSION=$(VERSION) adapters/packaging/nri.sh $(BUILD)/cpubind-nri $(BUILD)/packages

dist: ## the sources of the last commit: BUILD/packages/cpubind-VERSION.tar.gz
	@mkdir -p $(BUILD)/packages
	@git archive --format=tar --prefix=cpubind-$(VERSION)/ HEAD | gzip -9n \
	    >$(BUILD)/packages/cpubind-$(VERSION).tar.gz

packages: deb rpm wheel dist ## static, deb, rpm, wheel, dist, and BUILD/packages/SHA256SUMS
	@cp -p $(ARCHES:%=$(STATIC)/cpubind-%) $(STATIC)/fixtures.db $(BUILD)/packages
	@cd $(BUILD)/packages && LC_ALL=C && export LC_ALL && \
	    sha256sum *_$(VERSION)-*.deb *-$(VERSION)-*.rpm *-$(VERSION)-*.whl *-$(VERSION).tar.gz cpubind-x86_64 \
	    cpubind-aarch64 fixtures.db >SHA256SUMS

check-packages: deps-packages ## make packages twice, install, run and remove them in a new Debian and a new Ubuntu
	@$(MAKE) --no-print-directory -s -j$(JOBS) packages
	@BUILD=$(BUILD) tests/run.sh tests/packaging/packages.sh

# One wheel for each architecture that a compiler is here for.
wheel: deps-run ## the Python package with its library, BUILD/packages/*.whl, for x86-64 and aarch64
	@set -e; made=; for machine in x86_64 aarch64; do \
	    compiler=$$machine-linux-gnu-gcc; \
	    command -v $$compiler >/dev/null || { echo "no $$compiler: no wheel for $$machine"; continue; }; \
	    $(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD)/wheel/$$machine CC=$$compiler \
	        CFLAGS="-O2" $(BUILD)/wheel/$$machine/libcpubind.so.1; \
	    $$machine-linux-gnu-strip $(BUILD)/wheel/$$machine/libcpubind.so.1; \
	    adapters/python/make_wheel.py $(VERSION) $(BUILD)/packages $$machine=$(BUILD)/wheel/$$machine/libcpubind.so.1; made=1; \
	done; [ -n "$$made" ] || { echo "no wheel was made: install gcc" >&2; exit 1; }

clean: ## remove BUILD
	rm -rf $(BUILD)

deps-run deps-check deps-foreign deps-vm deps-bench deps-fuzz deps-fixtures deps-measure deps-static deps-packages deps-slurm deps-nri deps-check-nri deps-check-slurm:
	@tests/support/deps.sh $(@:deps-%=%)

# What runs in the ARM machines.
vm-programs:
	@BUILD=$(BUILD) tests/support/arm64.sh $(BUILD)/arm64/cpubind
	@mkdir -p $(VM)/bin
	@aarch64-linux-gnu-strip -o $(VM)/bin/cpubind $(BUILD)/arm64/cpubind
	@for name in worker disturb memory; do aarch64-linux-gnu-gcc -std=c11 -O2 $(WARN) -Werror -static -s \
	    tests/vm/vm_$$name.c -o $(VM)/bin/$$name || exit; done
	@aarch64-linux-gnu-gcc -std=c11 -O2 $(WARN) -Werror -static -s tests/cli/deny.c -o $(VM)/bin/deny

tests: $(TEST_BINS) $(REPLAYS)
spank: $(if $(wildcard /usr/include/slurm/spank.h),$(BUILD)/slurm/spank_cpubind.so)
fuzz-targets: $(patsubst %,$(BUILD)/fuzz/%,$(FUZZ))
fuzz-replays: $(REPLAYS)
arm64-tests: $(filter $(BUILD)/tests/core/% $(BUILD)/tests/text/% $(BUILD)/tests/ascend/%,$(TEST_BINS))

# The shared library needs libc alone, of glibc 2.28 or later: old_libc.c has what is newer.
$(BUILD)/libcpubind.so.1: adapters/api/cpubind_api.map $(API) $(OLD_LIBC) $(LINUX) $(TEXT) $(CORE)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libcpubind.so.1 -Wl,--version-script=$< \
	    -Wl,-z,defs -Wl,-z,relro,-z,now -Wl,--gc-sections $(filter %.o,$^) -o $@
$(BUILD)/libcpubind.so: $(BUILD)/libcpubind.so.1
	ln -sf libcpubind.so.1 $@

# Slurm looks up the functions of a plugin by name, and gives it its own.
$(BUILD)/slurm/spank_cpubind.so: adapters/slurm/spank_cpubind.c adapters/api/cpubind_api.h $(BUILD)/libcpubind.so
	@mkdir -p $(@D)
	$(CC) -std=c11 $(ALL) -fvisibility=default $(LDFLAGS) -shared -Wl,-z,nodelete $< -L$(BUILD) \
	    -lcpubind -lpthread -o $@

# The same library as an archive.
$(BUILD)/libcpubind.a: adapters/api/cpubind_api.map $(API) $(OLD_LIBC) $(LINUX) $(TEXT) $(CORE)
	sed -n 's/^ *\(cpb_[a-z0-9_]*\);/\1/p' $< >$(BUILD)/obj/libcpubind.names
	$(CC) $(CFLAGS) -r -nostdlib $(filter %.o,$^) -o $(BUILD)/obj/libcpubind.o
	$(OBJCOPY) --keep-global-symbols=$(BUILD)/obj/libcpubind.names $(BUILD)/obj/libcpubind.o
	rm -f $@
	$(AR) rcsD $@ $(BUILD)/obj/libcpubind.o

# A static library is one object in which only the names of its list are global. The core is a
# second object, which the linker passes over in a program that has a core of its own.
$(BUILD)/libcpubind_ascend.a: $(BUILD)/obj/libcpubind_ascend.o $(CORE)
$(BUILD)/libcpubind_linux.a: $(BUILD)/obj/libcpubind_linux.o
$(BUILD)/libcpubind_corpus.a: $(BUILD)/obj/libcpubind_corpus.o
$(LIBRARIES):
	rm -f $@
	$(AR) rcsD $@ $^

$(BUILD)/obj/libcpubind_ascend.o: adapters/ascend/libcpubind_ascend.symbols $(TEXT)
$(BUILD)/obj/libcpubind_linux.o: adapters/linux/libcpubind_linux.symbols $(LINUX)
$(BUILD)/obj/libcpubind_corpus.o: adapters/sqlite/libcpubind_corpus.symbols $(SQLITE)
$(LIBRARIES:$(BUILD)/%.a=$(BUILD)/obj/%.o):
	sed -n 's/^\(cpubind_[a-z0-9_]*\) .*/\1/p' $< >$(@:.o=.names)
	$(CC) $(CFLAGS) -r -nostdlib $(filter %.o,$^) -o $@
	$(OBJCOPY) --keep-global-symbols=$(@:.o=.names) $@

# Manual pages and completion, from the help and the options of the command.
$(BUILD)/doc/made: $(BUILD)/cpubind $(BUILD)/option_table adapters/api/cpubind_api.h \
        adapters/service/deploy/cpubind.conf.example $(wildcard adapters/packaging/*.sh)
	rm -rf $(@D)
	mkdir -p $(@D)
	$(BUILD)/option_table >$(@D)/options
	adapters/packaging/manuals.sh $(BUILD)/cpubind $(@D)
	adapters/packaging/completion.sh $(BUILD)/cpubind $(@D)/options $(@D)
	touch $@

pages: $(BUILD)/doc/made ## the pages that are made from the help
	cp $(BUILD)/doc/COMMANDS.md adapters/cli/COMMANDS.md
	cp $(BUILD)/doc/FIXTURE.md adapters/sqlite/FIXTURE.md
	cp $(BUILD)/doc/OPTIONS.md adapters/measure/OPTIONS.md

# SQLite writes its own version number to byte 96, which no reader uses; the
# recipe overwrites it with 3.38.0, the oldest version that can read the file, so that the file
# has the same bytes everywhere.
$(BUILD)/fixtures.db: $(BUILD)/cpubind $(sort $(wildcard fixtures/hosts/*.host)) fixtures/hosts
	@rm -f $@.new
	@$< fixture import --quiet --db $@.new $(filter %.host,$^)
	@printf '\000\056\133\060' | dd of=$@.new bs=1 seek=96 conv=notrunc 2>/dev/null
	@mv $@.new $@

# Objects are built again when the compiler or the flags change.
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

# The schema is compiled in, so that the command can create a corpus without another file.
$(BUILD)/obj/adapters/sqlite/schema.c: fixtures/schema.sql fixtures/shapes.sql Makefile
	@mkdir -p $(@D)
	{ echo '#include "schema.h"'; \
	  for part in corpus_schema=schema shapes_schema=shapes; do \
	    echo "const char cpubind_priv_$${part%=*}[] = {"; \
	    od -An -v -tu1 fixtures/$${part#*=}.sql | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; \
	  done; } >$@.new
	mv $@.new $@
$(BUILD)/obj/adapters/sqlite/schema.o: $(BUILD)/obj/adapters/sqlite/schema.c $(BUILD)/flags
	$(CC) -std=c11 $(ALL) -Iadapters/sqlite -c $< -o $@

# The messages of NRI and of kubelet, by Debian's protobuf-c.
NRI_MADE     = $(BUILD)/obj/adapters/nri
KUBELET_MADE = $(BUILD)/obj/adapters/kubelet
$(NRI_MADE)/nri.pb-c.c: adapters/nri/nri.proto
$(KUBELET_MADE)/podresources.pb-c.c: adapters/kubelet/podresources.proto
$(NRI_MADE)/nri.pb-c.c $(KUBELET_MADE)/podresources.pb-c.c:
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) -I$(<D) $<
$(NRI_MADE)/nri.pb-c.o $(KUBELET_MADE)/podresources.pb-c.o: %.o: %.c $(BUILD)/flags
	$(CC) -std=c11 $(ALL) -c $< -o $@
NRI_USERS     = $(NRI) $(BUILD)/obj/fuzz/targets/fuzz_nri.o
KUBELET_USERS = $(KUBELET) $(BUILD)/obj/adapters/cli/explain_kubelet.o $(BUILD)/obj/adapters/cli/explain_pod.o \
                $(BUILD)/obj/fuzz/targets/fuzz_kubelet.o $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/kubelet/*.c))
$(NRI_USERS): $(NRI_MADE)/nri.pb-c.c
$(NRI_USERS): private CPPFLAGS += -I$(NRI_MADE)
$(KUBELET_USERS): $(KUBELET_MADE)/podresources.pb-c.c
$(KUBELET_USERS): private CPPFLAGS += -I$(KUBELET_MADE)

# A program: its name below BUILD, its own objects, those of the rooms, libraries. A test is
# linked with the room that it tests and those below it; a fuzz target has the main of replay.c
# or that of libFuzzer.
COMMAND = $(CLI) $(KUBELET) $(API) $(SERVICE) $(DOCTOR) $(MEASURE) $(WORKERS) $(ARCHIVE) $(LINUX) $(SQLITE) $(TEXT) $(CORE)
KUBELET_READER = $(filter-out %/kubelet_call.o,$(KUBELET))
COMMAND_LIBS = -ljansson -lsqlite3 -lmd -lz -lnghttp2 -lprotobuf-c
define program
$(BUILD)/$(1): $(2:%=$(BUILD)/obj/%.o) $(3)
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(LDFLAGS) $$^ $(4) $$(LDLIBS) -o $$@
endef
link = $(eval $(call program,$(strip $(1)),$(strip $(2)),$(3),$(4)))

# Without shared libraries `cpubind run` starts its command in two thirds of the time. Where that
# cannot be linked (a sanitizer, a distribution without static libraries) it has shared ones. A
# copy, which is written in one go as by `make install`, has larger pages in the page cache than
# what the linker writes, and starts 60 us earlier.
$(BUILD)/cpubind: $(COMMAND)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(STATIC_LINK) $(COMMAND_LIBS) -lm $(LDLIBS) -o $@.linked 2>/dev/null || \
	    $(CC) $(CFLAGS) $(LDFLAGS) $^ $(COMMAND_LIBS) $(LDLIBS) -o $@.linked
	@install $@.linked $@ && rm $@.linked

$(call link, cpubind-nri, , $(NRI) $(SERVICE) $(WORKERS) $(LINUX) $(TEXT) $(CORE), -lprotobuf-c -ljansson)
# For tests that replace system calls by a library before it.
$(call link, cpubind_shared, , $(COMMAND), $(COMMAND_LIBS))
$(call link, option_table, adapters/packaging/option_table adapters/cli/help, $(API) $(LINUX) $(TEXT) $(CORE))
$(call link, tests/core/%,   tests/core/% tests/core/model, $(CORE), -lcmocka)
$(call link, tests/core/test_near_laws, tests/core/test_near_laws tests/core/near_model tests/core/model, $(CORE), -lcmocka)
$(call link, tests/core/test_realistic, tests/core/test_realistic tests/core/near_model tests/core/model, $(CORE), -lcmocka)
$(call link, tests/core/test_same_plans, tests/core/test_same_plans tests/core/near_model tests/core/model, $(CORE), -lcmocka)
$(call link, tests/core/test_allowed, tests/core/test_allowed tests/core/near_model tests/core/model, $(CORE), -lcmocka)
$(call link, tests/core/test_layouts, tests/core/test_layouts $(QUALITY), $(CORE), -lcmocka)
$(call link, tests/text/%,   tests/text/%,   $(TEXT) $(CORE), -lcmocka)
$(call link, tests/ascend/%, tests/ascend/%, $(TEXT) $(CORE), -lcmocka)
$(call link, tests/pci/%,    tests/pci/%,    $(TEXT) $(CORE), -lcmocka)
$(call link, tests/ascend/test_views, tests/ascend/test_views $(LAW), $(TEXT) $(CORE), -lcmocka)
$(call link, tests/archive/%, tests/archive/%, $(ARCHIVE) $(TEXT) $(CORE), -lcmocka -lz)
$(call link, tests/linux/%,  tests/linux/%,  $(LINUX) $(TEXT) $(CORE), -lcmocka)
$(call link, tests/host/%,   tests/host/%,   $(WORKERS) $(LINUX) $(TEXT) $(CORE), -lcmocka)
$(call link, tests/measure/%, tests/measure/%, $(MEASURE) $(WORKERS) $(LINUX) $(TEXT) $(CORE), -lcmocka)
$(call link, tests/service/%, tests/service/%, $(SERVICE) $(WORKERS) $(LINUX) $(TEXT) $(CORE), -lcmocka)
$(call link, tests/sqlite/%, tests/sqlite/%, $(SQLITE) $(TEXT) $(CORE), -lcmocka -lsqlite3 -lmd)
$(call link, tests/sqlite/fleet_hosts, tests/sqlite/fleet_hosts, $(TEXT) $(CORE))
$(call link, tests/doctor/%, tests/doctor/%, $(DOCTOR) $(TEXT) $(CORE), -lcmocka -ljansson)
$(call link, tests/api/%,    tests/api/%,    $(API) $(LINUX) $(TEXT) $(CORE), -lcmocka -ljansson -lpthread)
$(call link, tests/kubelet/%, tests/kubelet/%, $(KUBELET) $(LINUX) $(TEXT) $(CORE), -lcmocka -lnghttp2 -lprotobuf-c -lpthread)
$(call link, tests/cli/%,    tests/cli/%,    , -lcmocka -ljansson)

$(call link, fuzz/replay_%, fuzz/targets/fuzz_% fuzz/replay, $(TEXT) $(CORE))
$(call link, fuzz/replay_record, fuzz/targets/fuzz_record fuzz/replay, $(LINUX) $(TEXT) $(CORE))
$(call link, fuzz/replay_ask, fuzz/targets/fuzz_ask fuzz/replay, $(SERVICE) $(WORKERS) $(LINUX) $(TEXT) $(CORE))
$(call link, fuzz/replay_nri, fuzz/targets/fuzz_nri fuzz/replay, $(filter-out %/nri_main.o,$(NRI)) $(SERVICE) $(WORKERS) $(LINUX) $(TEXT) $(CORE), -lprotobuf-c -ljansson)
$(call link, fuzz/replay_kubelet, fuzz/targets/fuzz_kubelet fuzz/replay, $(KUBELET_READER) $(TEXT) $(CORE), -lprotobuf-c)
$(call link, fuzz/replay_conf, fuzz/targets/fuzz_conf fuzz/replay, $(filter-out %/main.o,$(COMMAND)), $(COMMAND_LIBS))
$(call link, fuzz/replay_call, fuzz/targets/fuzz_call fuzz/replay, $(API) $(LINUX) $(TEXT) $(CORE))
$(call link, fuzz/replay_doctor, fuzz/targets/fuzz_doctor fuzz/replay, $(DOCTOR) $(TEXT) $(CORE))
$(call link, fuzz/replay_host_record, fuzz/targets/fuzz_host_record fuzz/replay, $(LINUX) $(TEXT) $(CORE))
$(call link, fuzz/replay_views, fuzz/targets/fuzz_views fuzz/replay $(LAW), $(TEXT) $(CORE))
$(call link, fuzz/replay_corpus, fuzz/targets/fuzz_corpus fuzz/replay, $(SQLITE) $(TEXT) $(CORE), -lsqlite3 -lmd)
$(call link, fuzz/%, fuzz/targets/fuzz_%, $(TEXT) $(CORE), -fsanitize=fuzzer)
$(call link, fuzz/ask, fuzz/targets/fuzz_ask, $(SERVICE) $(WORKERS) $(LINUX) $(TEXT) $(CORE), -fsanitize=fuzzer)
$(call link, fuzz/nri, fuzz/targets/fuzz_nri, $(filter-out %/nri_main.o,$(NRI)) $(SERVICE) $(WORKERS) $(LINUX) $(TEXT) $(CORE), -fsanitize=fuzzer -lprotobuf-c -ljansson)
$(call link, fuzz/kubelet, fuzz/targets/fuzz_kubelet, $(KUBELET_READER) $(TEXT) $(CORE), -fsanitize=fuzzer -lprotobuf-c)
$(call link, fuzz/conf, fuzz/targets/fuzz_conf, $(filter-out %/main.o,$(COMMAND)), -fsanitize=fuzzer $(COMMAND_LIBS))
$(call link, fuzz/call, fuzz/targets/fuzz_call, $(API) $(LINUX) $(TEXT) $(CORE), -fsanitize=fuzzer)
$(call link, fuzz/doctor, fuzz/targets/fuzz_doctor, $(DOCTOR) $(TEXT) $(CORE), -fsanitize=fuzzer)
$(call link, fuzz/views, fuzz/targets/fuzz_views $(LAW), $(TEXT) $(CORE), -fsanitize=fuzzer)
$(call link, fuzz/record, fuzz/targets/fuzz_record, $(LINUX) $(TEXT) $(CORE), -fsanitize=fuzzer)
$(call link, fuzz/host_record, fuzz/targets/fuzz_host_record, $(LINUX) $(TEXT) $(CORE), -fsanitize=fuzzer)
$(call link, fuzz/corpus, fuzz/targets/fuzz_corpus, $(SQLITE) $(TEXT) $(CORE), -fsanitize=fuzzer -lsqlite3 -lmd)

$(call link, bench, tests/bench/bench, $(TEXT) $(CORE), -lhwloc)
$(call link, bench_limits, tests/bench/bench_limits, $(CORE))
$(call link, quality, tests/quality/quality $(QUALITY), $(LINUX) $(TEXT) $(CORE), -lhwloc)
$(call link, bench_text, tests/bench/bench_text, $(TEXT) $(CORE))
$(call link, bench_bind, tests/bench/bench_bind, $(LINUX) $(TEXT) $(CORE), -ljansson)
$(call link, bench_watch, tests/bench/bench_watch, $(LINUX) $(TEXT) $(CORE))
$(call link, bench_host, tests/bench/bench_host, $(SERVICE) $(WORKERS) $(LINUX) $(TEXT) $(CORE))
$(call link, bench_command, tests/bench/bench_command)
$(call link, bench_run, tests/bench/bench_run)

.PRECIOUS: $(BUILD)/obj/%.o
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
