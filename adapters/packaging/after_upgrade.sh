# A service that runs is started again: the earlier one leaves all bound, and the new one takes
# its records over.
if [ -d "${DPKG_ROOT:-}/run/systemd/system" ]; then
    systemctl try-restart cpubind.service >/dev/null 2>&1 ||
        echo "cpubind: cpubind.service was not started again; see systemctl status cpubind" >&2
fi
