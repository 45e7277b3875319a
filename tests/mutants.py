#!/usr/bin/env python3
"""mutants.py - how many wrong lines of the product the tests notice
SPDX-License-Identifier: MIT

  tests/mutants.py --rooms text,model --count 200 --seed 7 --build 'make ...' --test 'COMMAND' ...
  tests/mutants.py --files cpubind.h --count 1000 --build 'make ...' --test 'COMMAND' ...
  tests/mutants.py --planted tests/planted.txt --build 'make ...' --test 'tests/run check-all'

Draws places of the C files of these rooms, or of these files, by the seed, puts a small mistake at
each (an operator, a number, a statement that is missing), builds, and runs the commands up to the
first that fails. A mistake that does not compile is not counted. Changes files of the tree that it
runs in, and puts each back: it is for a copy. Prints a line a mutant, and at the end how many were
found. The same seed draws the same mutants as long as the files are the same; --only N,M tries
these alone.
With --planted the mistakes are those of a table, and each command gets the word of its row.
"""
import argparse
import glob
import random
import re
import subprocess
import sys

SWAPS = [(r"<=", ["<"]), (r">=", [">"]), (r"==", ["!="]), (r"!=", ["=="]), (r"&&", ["||"]),
         (r"\|\|", ["&&"]), (r"(?<![<\-])<(?![<=])", ["<="]), (r"(?<![>\-])>(?![>=])", [">="]),
         (r" \+ ", [" - "]), (r" - ", [" + "]), (r"\+\+", ["--"]), (r"--", ["++"]),
         (r"(?<=[( ])!(?=[a-zA-Z(])", [""]), (r"\bcontinue;", ["break;"]),
         (r"(?<![\w.])\d+(?![\w.])", ["+1"])]
STATEMENT = re.compile(r"^\s+[a-zA-Z_*(][^{}]*;$")


def code_of(text):
    """The text with its comments, strings and directives as blanks: places stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", blank, text, flags=re.M)


def mutants_of(path):
    """All mutants of a file: place, length, replacement."""
    code = code_of(open(path).read())
    found = []
    for pattern, replacements in SWAPS:
        for m in re.finditer(pattern, code):
            for new in replacements:
                if new == "+1":
                    new = str(int(m.group(0)) + 1) if len(m.group(0)) < 10 else m.group(0)
                found.append((m.start(), m.end() - m.start(), new))
    at = 0
    for line in code.splitlines(keepends=True):
        word = line.split()[:1]
        if STATEMENT.match(line.rstrip("\n")) and word[0] not in ("return", "static", "const", "break;",
                                                                  "typedef", "extern", "goto"):
            if not re.match(r"^\s+(?:unsigned |struct )?\w+ \*?\w+(?:\[.*\])?(?: = [^=]|;|,)", line):
                start = at + len(line) - len(line.lstrip())
                found.append((start, at + len(line.rstrip()) - start, ";"))
        at += len(line)
    return found


def is_well(command, seconds):
    try:
        return subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, timeout=seconds,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def planted(path):
    """The rows of a table of mistakes: file, place, length, replacement, word of its tests."""
    for row in open(path):
        if row.startswith("#"):
            continue
        name, old, new, word = (cell.replace("\\|", "|") for cell in row.rstrip("\n").split(" | "))
        at = open(name).read().find(old)
        if at < 0:
            sys.exit("%s has no longer: %s" % (name, old))
        yield name, (at, len(old), new), word


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rooms", default="")
    parser.add_argument("--files", default="")
    parser.add_argument("--planted", default="")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--build", required=True)
    parser.add_argument("--test", action="append", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=int, default=300)
    arguments = parser.parse_args()
    files = sorted(f for room in arguments.rooms.split(",") if room
                   for f in glob.glob("adapters/%s/**/*.c" % room, recursive=True))
    files += [f for f in arguments.files.split(",") if f]
    everything = [(f, m, "") for f in files for m in mutants_of(f)]
    random.Random(arguments.seed).shuffle(everything)
    if arguments.planted:
        everything = list(planted(arguments.planted))
        arguments.count = len(everything)
    only = {int(n) for n in arguments.only.split(",") if n}
    for command in [arguments.build] + ([] if arguments.planted else arguments.test):
        if not is_well(command, 3600):
            sys.exit("fails without a mutant: " + command)
    tried = found = number = 0
    for path, (at, length, new), word in everything:
        if tried == arguments.count:
            break
        number += 1
        if only and number not in only:
            continue
        text = open(path).read()
        line = text.count("\n", 0, at) + 1
        try:
            with open(path, "w") as file:
                file.write(text[:at] + new + text[at + length:])
            if not is_well(arguments.build, 600):
                continue
            tried += 1
            commands = [" ".join([command, word]).strip() for command in arguments.test]
            by = next((c for c in commands if not is_well(c, arguments.seconds)), None)
            found += by is not None
            print("%4d %s %s:%d: %r -> %r%s" % (number, "found" if by else "LEFT ", path, line,
                  text[at:at + length], new, " by " + by if by else ""), flush=True)
        finally:
            with open(path, "w") as file:
                file.write(text)
    print("%d of %d found" % (found, tried))


main()
