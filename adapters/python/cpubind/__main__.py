# SPDX-License-Identifier: MIT
"""python -m cpubind [--root FOLDER] [--format FORMAT] [--OPTION VALUE | --OPTION=VALUE ...]

Prints the plan of this host, or of a captured one, as `cpubind plan` does.
"""
import sys
from typing import Any, Dict, Sequence

from . import Error, Host


def main(words: Sequence[str]) -> int:
    """Prints the plan that the words ask for; returns the exit status of the command."""
    if "--help" in words or "-h" in words:
        print(__doc__.strip())
        return 0
    options: Dict[str, Any] = {}
    words = list(words)
    while words:
        key, is_pair, value = words.pop(0).partition("=")
        if not key.startswith("--"):
            print("cpubind: %s is not an option" % key, file=sys.stderr)
            return 2
        if not is_pair and words and not words[0].startswith("--"):
            is_pair, value = True, words.pop(0)
        options[key[2:].replace("-", "_")] = value if is_pair else True
    root, form = options.pop("root", None), options.pop("format", "text")
    if options.pop("json", False):
        form = "json"
    try:
        with Host.folder(root) if root else Host.live() as host:
            print(host.plan(**options).format(form).rstrip("\n"))
    except Error as error:
        if form == "json":
            print(error.json)
        else:
            print("cpubind: %s" % error.text, file=sys.stderr)
        return error.numbers.get("exit", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
