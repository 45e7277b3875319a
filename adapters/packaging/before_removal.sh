# Before the program is removed the service ends, and what is bound is put back: later no program
# could. CPUBIND_KEEP=1, or a file /etc/cpubind.keep, leaves all bound.
root=${DPKG_ROOT:-}
if [ -d "$root/run/systemd/system" ]; then
    systemctl disable --now cpubind.service >/dev/null 2>&1 || true
fi
if [ -n "${CPUBIND_KEEP:-}" ] || [ -e "$root/etc/cpubind.keep" ]; then
    echo "cpubind: what is bound stays bound (CPUBIND_KEEP, or /etc/cpubind.keep)" >&2
else
    "$root/usr/bin/cpubind" restore --all --service --quiet || {
        echo "cpubind: not all could be put back: mend it, or set CPUBIND_KEEP=1 to leave it" >&2
        exit 1
    }
    for folder in "$root"/run/user/*/cpubind "$root"/tmp/cpubind-*; do
        [ -d "$folder" ] || continue
        # shellcheck disable=SC2046
        user=$(set -- $(ls -ldn "$folder") && id -nu "$3" 2>/dev/null) || continue
        runuser -u "$user" -- "$root/usr/bin/cpubind" restore --all --quiet ||
            echo "cpubind: processes that $user has bound stay bound" >&2
    done
fi
