# packages.mk - pages, installing and packages: a part of the Makefile
#
# Packages hold the command that needs no library, so that they install on every distribution.
# They are made on amd64; the libraries for arm64 are fetched from Debian.

.PHONY: static deb rpm slurm slurm-plugin nri dist packages wheel check-packages

# Manual pages and completion, from the help and the options of the command.
$(BUILD)/doc/made: $(BUILD)/cpubind $(BUILD)/option_table adapters/api/cpubind_api.h \
        adapters/service/deploy/cpubind.conf.example $(wildcard adapters/packaging/*.sh)
	rm -rf $(@D)
	mkdir -p $(@D)
	$(BUILD)/option_table >$(@D)/options
	$(BUILD)/option_table page >$(@D)/COMMANDS.md
	adapters/packaging/manuals.sh $(BUILD)/cpubind $(@D)
	adapters/packaging/completion.sh $(@D)/options $(@D)
	touch $@

pages: $(BUILD)/doc/made $(BUILD)/fixtures.db ## the page of options from their table, and README's picture
	cp $(BUILD)/doc/COMMANDS.md adapters/cli/COMMANDS.md
	$(NATIVE)/cpubind plan --fixture gpu-beside-npu --format svg >adapters/api/plan.svg

# The headers of adapters/ go to include/cpubind/, in the same folders as here; those of the
# shared library are beside cpubind.h.
built: $(BUILD)/cpubind $(NATIVE)/fixtures.db $(NATIVE)/doc/made $(BUILD)/libcpubind.so.1 $(LIBRARIES)
install: built ## command, libraries, headers, pages, completion, fixtures, unit of systemd
	@BUILD=$(BUILD) NATIVE=$(NATIVE) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) VERSION=$(VERSION) \
	    adapters/packaging/install.sh "$(DESTDIR)" $(PUBLIC)

ARCHES := x86_64 aarch64
STATIC  = $(BUILD)/static
ARM64   = $(STATIC)/apt/root/usr
release = $(MAKE_IN) BUILD=$(STATIC)/$(1) NATIVE=$(STATIC)/x86_64 LDLIBS="-static -Wl,--no-warnings -lm" $(release_$(1))
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

# Slurm looks up the functions of a plugin by name, and gives it its own.
$(BUILD)/slurm/spank_cpubind.so: adapters/slurm/spank_cpubind.c adapters/api/cpubind_api.h $(BUILD)/libcpubind.so
	@mkdir -p $(@D)
	$(CC) -std=c11 $(ALL) -fvisibility=default $(LDFLAGS) -shared -Wl,-z,nodelete $< -L$(BUILD) \
	    -lcpubind -lpthread -o $@
slurm-plugin: $(if $(wildcard /usr/include/slurm/spank.h),$(BUILD)/slurm/spank_cpubind.so)

slurm: deps-slurm ## the SPANK plugin and its packages, for the Slurm of this machine, in BUILD/packages
	@$(MAKE_IN) $(BUILD)/slurm/spank_cpubind.so
	@VERSION=$(VERSION) adapters/packaging/slurm.sh $(BUILD)/slurm/spank_cpubind.so $(BUILD)/packages

nri: deps-nri ## the plugin of containerd and CRI-O and its package, for this machine: BUILD/packages/cpubind-nri_*.deb
	@$(MAKE_IN) $(BUILD)/cpubind-nri
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
	@$(MAKE_IN) packages
	@BUILD=$(BUILD) tests/run check-packages

# One wheel for each architecture that a compiler is here for.
wheel: deps-run ## the Python package with its library, BUILD/packages/*.whl, for x86-64 and aarch64
	@set -e; made=; for machine in x86_64 aarch64; do \
	    compiler=$$machine-linux-gnu-gcc; \
	    command -v $$compiler >/dev/null || { echo "no $$compiler: no wheel for $$machine"; continue; }; \
	    $(MAKE_IN) BUILD=$(BUILD)/wheel/$$machine CC=$$compiler \
	        CFLAGS="-O2" $(BUILD)/wheel/$$machine/libcpubind.so.1; \
	    $$machine-linux-gnu-strip $(BUILD)/wheel/$$machine/libcpubind.so.1; \
	    adapters/python/make_wheel.py $(VERSION) $(BUILD)/packages $$machine=$(BUILD)/wheel/$$machine/libcpubind.so.1; made=1; \
	done; [ -n "$$made" ] || { echo "no wheel was made: install gcc" >&2; exit 1; }
