# wheel.sh - the wheel of the Python package: part of python.sh, which has set the environment
# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154

top=$(pwd)
version=$(sed -n 's/^#define CPUBIND_VERSION *"\(.*\)"$/\1/p' cpubind.h)
machine=$(uname -m)
makes_wheel() { # folder
    python3 adapters/python/make_wheel.py "$version" "$1" "$machine=$CPUBIND_LIBRARY"
}
wheel_is_the_same_twice() {
    makes_wheel "$out/one" && makes_wheel "$out/two" &&
        cmp "$out"/one/*.whl "$out"/two/*.whl
}
# Unpacked into an empty folder, without the tree and the library of this build.
wheel_is_whole() {
    mkdir "$out/site" && (cd "$out/site" && python3 -m zipfile -e ../one/*.whl .) &&
        env -u CPUBIND_LIBRARY PYTHONPATH="$out/site" python3 -m cpubind \
            --root "$top/fixtures/hosts/a2-192cpu-8npu.host" --json >"$out/wheel.json" &&
        "$CPUBIND" plan --root "$top/fixtures/hosts/a2-192cpu-8npu.host" --json | cmp - "$out/wheel.json"
}
record_is_right() {
    python3 - "$out/site" <<'EOP'
import base64, csv, glob, hashlib, os, sys
top = sys.argv[1]
rows = list(csv.reader(open(glob.glob(top + "/*.dist-info/RECORD")[0])))
for name, digest, size in rows:
    data = open(os.path.join(top, name), "rb").read()
    hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert not digest or (digest == "sha256=" + hashed and int(size) == len(data)), name
found = {os.path.relpath(os.path.join(folder, file), top)
         for folder, _, files in os.walk(top) for file in files}
assert found == {row[0] for row in rows}, found ^ {row[0] for row in rows}
EOP
}
is_plugin() {
    grep -qx 'cpubind = cpubind.vllm_ascend:register' "$out"/site/*.dist-info/entry_points.txt &&
        grep -qx 'cpubind = cpubind.sglang:register' "$out"/site/*.dist-info/entry_points.txt
}
check "the wheel is the same twice" wheel_is_the_same_twice
check "the wheel alone plans as the command does" wheel_is_whole
check "its RECORD lists every file" record_is_right
check "it has the entry points of the plugins of vLLM and SGLang" is_plugin
if python3 -c 'import venv, ensurepip' 2>/dev/null; then
    installs() {
        python3 -m venv "$out/venv" && unset PYTHONWARNINGS && "$out/venv/bin/pip" install -q --no-index \
            "$out"/one/*.whl && env -u CPUBIND_LIBRARY -u PYTHONPATH -u PYTHONWARNINGS \
            "$out/venv/bin/python" -c 'import cpubind; print(cpubind.version)' &&
            "$out/venv/bin/pip" uninstall -qy cpubind
    }
    check "pip installs and removes it" installs
else
    skip "pip installs and removes it" "no venv"
fi
