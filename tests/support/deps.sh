#!/bin/sh
# runs: by make
# deps.sh - installs the Debian packages that a target of the Makefile needs
#
#   tests/support/deps.sh run|check|check-all|foreign|vm|bench|fuzz|fixtures|static|packages|slurm|nri|check-nri|check-slurm
#
# If packages are missing: installs them (root with apt-get), or prints the command that does and
# fails. If none is missing, changes nothing.

run='cc:gcc
/usr/include/stdio.h:libc6-dev
/usr/include/sqlite3.h:libsqlite3-dev
/usr/include/sha2.h:libmd-dev
/usr/include/zlib.h:zlib1g-dev'

messages='/usr/include/protobuf-c/protobuf-c.h:libprotobuf-c-dev
protoc-c:protobuf-c-compiler'

fixtures='sqlite3:sqlite3'

cluster='/usr/include/slurm/spank.h:libslurm-dev
/usr/sbin/slurmctld:slurmctld
/usr/sbin/slurmd:slurmd
srun:slurm-client
/usr/sbin/munged:munge'

check="$run
$messages
$fixtures
prove:perl
gcc:gcc
/usr/include/cmocka.h:libcmocka-dev
/usr/include/jansson.h:libjansson-dev
unshare:util-linux
cloc:cloc
curl:curl
setpriv:util-linux
strace:strace
python3:python3"

check_all="$check
pkg-config:pkgconf
cmake:cmake
groff:groff
man:man-db
mandoc:mandoc
zsh:zsh
/usr/lib/python3/dist-packages/yaml/__init__.py:python3-yaml
kubectl:kubernetes-client
g++:g++
clang:clang
clang-format-14:clang-format-14
clang-tidy:clang-tidy
cppcheck:cppcheck
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
/usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
qemu-aarch64-static:qemu-user-static
$cluster"

vm='prove:perl
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
/usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
qemu-system-aarch64:qemu-system-arm
cpio:cpio'

check_slurm="$run
$cluster
$vm"

foreign="$run
s390x-linux-gnu-gcc:gcc-s390x-linux-gnu
/usr/s390x-linux-gnu/include/stdio.h:libc6-dev-s390x-cross
arm-linux-gnueabihf-gcc:gcc-arm-linux-gnueabihf
/usr/arm-linux-gnueabihf/include/stdio.h:libc6-dev-armhf-cross
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
/usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
qemu-aarch64-static:qemu-user-static"

bench="$run
/usr/include/hwloc.h:libhwloc-dev
hwloc-distrib:hwloc-nox
ps:procps
taskset:util-linux
lscpu:util-linux
migratepages:numactl
python3:python3"

fuzz="$run
$messages
clang:clang
libfuzzer:libclang-rt-dev
llvm-cov:llvm
llvm-profdata:llvm"

static="$run
git:git
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
/usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross"

packages="$static
dpkg-deb:dpkg
rpmbuild:rpm
xz:xz-utils
cmake:cmake
pkg-config:pkgconf
debootstrap:debootstrap
qemu-aarch64-static:qemu-user-static"

slurm="$run
/usr/include/slurm/spank.h:libslurm-dev
strip:binutils
dpkg-deb:dpkg"

nri="$run
$messages
strip:binutils
dpkg-deb:dpkg"

check_nri="$run
/usr/lib/python3/dist-packages/grpc:python3-grpcio
busybox:busybox-static
runc:runc"

# The path depends on the version of clang and on the machine.
has_libfuzzer() {
    [ -n "$(find "$(clang -print-resource-dir 2>/dev/null)/lib" -name '*rt.fuzzer*.a' \
        2>/dev/null | head -n 1)" ]
}

case $1 in
run) needs=$run ;;
check) needs=$check ;;
check-all) needs=$check_all ;;
vm) needs=$vm ;;
foreign) needs=$foreign ;;
bench) needs=$bench ;;
fuzz) needs=$fuzz ;;
fixtures) needs=$fixtures ;;
static) needs=$static ;;
packages) needs=$packages ;;
slurm) needs=$slurm ;;
nri) needs=$nri ;;
check-nri) needs=$check_nri ;;
check-slurm) needs=$check_slurm ;;
*) echo "usage: deps.sh run|check|check-all|foreign|vm|bench|fuzz|fixtures|static|packages|slurm|nri|check-nri|check-slurm" >&2 && exit 2 ;;
esac

missing=
for need in $needs; do
    what=${need%%:*}
    case $what in
    /*) [ -e "$what" ] && continue ;;
    libfuzzer) has_libfuzzer && continue ;;
    *) command -v "$what" >/dev/null 2>&1 && continue ;;
    esac
    missing="$missing ${need##*:}"
done
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing, by the names of Debian's packages:$missing" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "missing; install it with:" >&2
    echo "  sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp) || exit 1
# shellcheck disable=SC2086
if apt-get install -y --no-install-recommends $missing >"$log" 2>&1 ||
    { apt-get update >"$log" 2>&1 &&
        apt-get install -y --no-install-recommends $missing >"$log" 2>&1; }; then
    rm -f "$log"
    exit 0
fi
cat "$log" >&2
rm -f "$log"
exit 1
