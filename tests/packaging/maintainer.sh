#!/bin/sh
# maintainer.sh - upgrading a package hands over what is bound, removing it gives it back; TAP
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/packaging/maintainer.sh    from the top folder
#
# deb.sh makes the packages out of a small tree with the command of BUILD; dpkg installs them in a
# folder, with its scripts run in place of a new root, and with a systemctl that writes down how it
# is called. The scripts of the RPM are taken out of cpubind.spec.
. tests/scenes/lib.sh
mkdir "$out/bin" || exit 1
. tests/support/own_host.sh
make_own_host "$out/host" || exit 1

cat >"$out/bin/systemctl" <<EOF
#!/bin/sh
echo "\$*" >>"$out/calls"
[ ! -e "$out/systemctl-fails" ]
EOF
chmod +x "$out/bin/systemctl"
PATH=$out/bin:$PATH

# -- The packages ------------------------------------------------------------

make_deb() { # version
    tree=$out/tree
    rm -rf "$tree" "$tree.deb"
    mkdir -p "$tree/usr/bin" "$tree/usr/lib/x" "$tree/usr/share/zsh/site-functions" \
        "$tree/usr/share/doc/cpubind" "$tree/usr/share/man/man1" "$tree/usr/share/man/man3" "$tree/usr/include"
    cp "$CPUBIND" "$tree/usr/bin/cpubind" && cp "$CPUBIND" "$tree/usr/lib/x/libcpubind.so.1" &&
        : >"$tree/usr/share/zsh/site-functions/_cpubind" && : >"$tree/usr/share/man/man1/cpubind.1" &&
        : >"$tree/usr/share/man/man3/cpubind.3" && : >"$tree/usr/include/cpubind.h" &&
        cp LICENSE CHANGELOG.md "$tree/usr/share/doc/cpubind" &&
        VERSION=$1 SOURCE_DATE_EPOCH=0 adapters/packaging/deb.sh "$tree" "$(uname -m)" "$out/debs"
}

new_root() { # has systemd: 1 or 0
    root=$out/root
    rm -rf "$root" /run/cpubind "$out/calls" "$out/systemctl-fails"
    mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/etc" "$root/run"
    : >"$root/var/lib/dpkg/status"
    : >"$out/calls"
    [ "$1" = 0 ] || mkdir -p "$root/run/systemd/system"
}

package() { # arguments of dpkg
    dpkg --root="$root" --force-script-chrootless --force-depends --log=/dev/null "$@"
}

install_version() { # version
    package -i "$out/debs/cpubind_$1-1_"*.deb
}

# -- A process that is bound -------------------------------------------------

bind() {
    sleep 600 &
    pid=$!
    "$CPUBIND" apply --pid $pid --root "$out/host" --device npu0 -o scope=own -o strategy=global_slice \
        --rules reference --allowed "$own_cpu" -o any-arch=yes --memory none --quiet && is_bound
}

is_bound() {
    [ "$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/$pid/status)" = "$own_cpu" ] &&
        [ -e /run/cpubind/$pid.record ]
}

is_free() {
    [ "$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/$pid/status)" = "$all_cpus" ] &&
        [ -z "$(ls -A /run/cpubind)" ]
}

end() {
    kill $pid
    rm -rf /run/cpubind
}

all_cpus=$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)

# -- Debian ------------------------------------------------------------------

installing_starts_nothing() {
    new_root 1 && install_version 1.0.0 && ! grep -E 'start|enable' "$out/calls"
}

upgrade_keeps_what_is_bound() {
    new_root 1 && install_version 1.0.0 && bind && : >"$out/calls" && install_version 1.1.0 &&
        cat "$out/calls" && [ "$(grep -c '^try-restart cpubind.service' "$out/calls")" = 1 ] &&
        ! grep -E 'disable|stop' "$out/calls" && is_bound && end
}

upgrade_goes_on_without_the_service() {
    new_root 1 && install_version 1.0.0 && : >"$out/systemctl-fails" &&
        install_version 1.1.0 2>"$out/err" && cat "$out/err" &&
        grep -q 'cpubind.service was not started again' "$out/err" &&
        new_root 0 && install_version 1.0.0 && install_version 1.1.0 && [ ! -s "$out/calls" ]
}

removal_gives_all_back() {
    for has_systemd in 1 0; do
        new_root $has_systemd && install_version 1.0.0 && bind && package --remove cpubind &&
            is_free && [ ! -e "$root/usr/bin/cpubind" ] && end || return 1
        [ $has_systemd = 0 ] || grep -q '^disable --now cpubind.service' "$out/calls" || return 1
    done
}

removal_keeps_all_when_told() {
    new_root 1 && install_version 1.0.0 && bind &&
        CPUBIND_KEEP=1 package --remove cpubind 2>"$out/err" && cat "$out/err" && is_bound &&
        grep -q 'stays bound' "$out/err" && install_version 1.0.0 && : >"$root/etc/cpubind.keep" &&
        package --remove cpubind && is_bound && end
}

# What cannot be put back is not forgotten: the package stays until it is told otherwise.
removal_does_not_strand() {
    new_root 1 && install_version 1.0.0 && bind && cp "/run/cpubind/$pid.record" "$out/record" &&
        echo "cpubind-record 99 9.9.9" >"/run/cpubind/$pid.record" || return 1
    ! package --remove cpubind 2>"$out/err" || return 1
    cat "$out/err"
    grep -q 'has form 99, which cpubind 9.9.9 wrote' "$out/err" &&
        grep -q 'set CPUBIND_KEEP=1 to leave it' "$out/err" && [ -x "$root/usr/bin/cpubind" ] &&
        cp "$out/record" "/run/cpubind/$pid.record" && package --remove cpubind && is_free && end
}

removal_with_nothing_bound() {
    new_root 1 && install_version 1.0.0 && package --remove cpubind && package --purge cpubind &&
        [ ! -e /run/cpubind ]
}

# A user's own bindings are in the folder of that user.
removal_gives_those_of_users_back() {
    id nobody >/dev/null 2>&1 && user=$(id -u nobody) || return 0
    new_root 1 && install_version 1.0.0 && chmod 755 "$out" && mkdir -p "$root/tmp/cpubind-$user" &&
        chown "$user" "$root/tmp/cpubind-$user" &&
        cat >"$out/bin/runuser" <<EOF
#!/bin/sh
echo "runuser \$*" >>"$out/calls"
EOF
    chmod +x "$out/bin/runuser" && package --remove cpubind && rm "$out/bin/runuser" &&
        grep -q "^runuser -u nobody -- $root/usr/bin/cpubind restore --all --quiet" "$out/calls"
}

# -- RPM ---------------------------------------------------------------------

# A section of the spec as rpm expands it.
section() { # name
    sed -n "/^%$1\$/,/^%[a-z]* *-\{0,1\}[a-z]*\$/p" adapters/packaging/cpubind.spec | grep -v '^%[a-z]' |
        while IFS= read -r line; do
            case $line in
            '%(cat '*) line=${line#'%(cat '} && cat "${line%)}" ;;
            *) echo "$line" ;;
            esac
        done
}

rpm_scripts() {
    for name in preun post; do section $name >"$out/$name.sh" && sh -n "$out/$name.sh" || return 1; done
    ! grep -q % "$out/preun.sh" "$out/post.sh" || return 1
    new_root 1 && mkdir -p "$root/usr/bin" && cp "$CPUBIND" "$root/usr/bin/cpubind" || return 1
    DPKG_ROOT=$root
    export DPKG_ROOT
    bind && sh -e "$out/preun.sh" 1 && is_bound && [ ! -s "$out/calls" ] &&
        sh -e "$out/post.sh" 1 && ! grep try-restart "$out/calls" &&
        sh -e "$out/post.sh" 2 && grep -q '^try-restart cpubind.service' "$out/calls" && is_bound &&
        sh -e "$out/preun.sh" 0 && grep -q '^disable --now cpubind.service' "$out/calls" && is_free && end
    status=$?
    unset DPKG_ROOT
    return $status
}

if ! command -v dpkg-deb >/dev/null; then
    skip "scripts of the Debian package" "no dpkg"
else
    make_deb 1.0.0 && make_deb 1.1.0 || exit 1
    check "deb: installing starts nothing" installing_starts_nothing
    check "deb: an upgrade restarts a service that runs, and all stays bound" upgrade_keeps_what_is_bound
    check "deb: an upgrade goes on where the service does not start" upgrade_goes_on_without_the_service
    check "deb: removing puts everything back" removal_gives_all_back
    check "deb: removing leaves all bound when it is told to" removal_keeps_all_when_told
    check "deb: what cannot be put back keeps the package" removal_does_not_strand
    check "deb: removing with nothing bound leaves nothing" removal_with_nothing_bound
    check "deb: what a user has bound is put back as that user" removal_gives_those_of_users_back
fi
check "rpm: the same, by the scripts of the spec" rpm_scripts
finish
