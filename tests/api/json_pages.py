#!/usr/bin/env python3
"""Holds JSON objects against the lists of adapters/api/JSON*.md, which are the schema.

    json_pages.py check NAME FILE...   each line of each file is an object of "## NAME"
    json_pages.py self-test            broken objects, and lists without sense, are refused

A row of an object is "- `key` (type): meaning", or has several keys: `a`, `b`. A key of a key is
`one.two`, one of the objects of an array `one[].two`. A meaning that begins with "optional; " is of
a key that may be missing. A row `...` whose type is an object stands for the rows of that object.

    type    = one, or several with "," and "or" between them; one with "?" behind it may be null
    one     = string, integer, number, boolean, null, object or any
            | `"word"` or `2`, that value alone
            | [NAME](#NAME), an object of any page, or [NAME](#types), a row of "## types"
            | array of ONE | object of ONE, with any keys | (TYPE)

A row of the section "## types" is "- `name` (type): meaning"; there a type may also be
text `REGULAR EXPRESSION`.
"""
import copy
import glob
import json
import re
import sys

PLAIN = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float), "null": type(None)}
TOKEN = re.compile(r"\s*(,|\?|\(|\)|[a-z]+|`[^`]+`|"
                   r"\[(?P<name>\w+)\]\((?P<page>[\w.-]*)#(?P<at>\w+)\))")
ROW = re.compile(r"- ((?:`[\w.\[\]]+`(?:, (?=`)| ))+)\((.+?)\): (.+)")


class Unread(Exception):
    """A list that makes no sense."""


# == Types: each is a function that says what is wrong with a value, or nothing ===============

def plain(word):
    def faults(value, at):
        is_bool = isinstance(value, bool)
        if not isinstance(value, PLAIN[word]) or (is_bool and word != "boolean"):
            yield "%s: %r is no %s" % (at, value, word)
    return faults


def only(constant):
    def faults(value, at):
        if value != constant or isinstance(value, bool):
            yield "%s: %r is not %r" % (at, value, constant)
    return faults


def text_like(pattern):
    def faults(value, at):
        if not isinstance(value, str) or not re.search(pattern, value):
            yield "%s: %r is no text %s" % (at, value, pattern)
    return faults


def each_of(word, one):
    def faults(value, at):
        yield from plain(word)(value, at)
        if isinstance(value, PLAIN[word]):
            for key, item in value.items() if word == "object" else enumerate(value):
                yield from one(item, "%s[%s]" % (at, key))
    return faults


def any_of(ones):
    """Of several types that do not fit, the one that a value is nearest to says why: one whose
    fault is inside of the value."""
    def faults(value, at):
        found = [list(one(value, at)) for one in ones]
        if all(found):
            yield from max(found, key=lambda wrong: len(wrong[0].split(":")[0]))
    return faults if len(ones) > 1 else ones[0]


class Thing:
    """An object with keys."""

    def __init__(self):
        self.keys = {}  # key: (type, whether it may be missing)
        self.others = []  # functions that return an object whose keys are there, too

    def all_keys(self):
        keys = dict(self.keys)
        for other in self.others:
            keys.update(other().all_keys())
        return keys

    def __call__(self, value, at):
        yield from plain("object")(value, at)
        if not isinstance(value, dict):
            return
        keys = self.all_keys()
        for key, (_, is_optional) in keys.items():
            if key not in value and not is_optional:
                yield "%s: no key %s" % (at, key)
        for key, item in value.items():
            if key in keys:
                yield from keys[key][0](item, "%s.%s" % (at, key))
            else:
                yield "%s: no row has the key %s" % (at, key)


# == Types of rows ============================================================================

class Cell:
    """Reads the type of a row; an "object" in it is `inner`, if that has keys."""

    def __init__(self, text, names, inner):
        self.names, self.inner, self.text, self.tokens = names, inner, text, []
        at = 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise Unread("the type %s makes no sense" % text)
            self.tokens.append(found)
            at = found.end()

    def next(self):
        return self.tokens.pop(0) if self.tokens else None

    def word(self):
        return self.tokens[0][1] if self.tokens else ""

    def __call__(self, value, at):
        return self.faults(value, at)

    def whole(self):
        """The type of the whole cell."""
        whole = self.type()
        if self.tokens:
            raise Unread("the type %s makes no sense" % self.text)
        return whole

    def type(self):
        ones = [self.one()]
        while self.word() in (",", "or"):
            self.next()
            ones.append(self.one())
        return any_of(ones)

    def one(self):
        one = self.sure()
        if self.word() != "?":
            return one
        self.next()
        return any_of([one, plain("null")])

    def sure(self):
        """A type that is not null by a "?"."""
        token = self.next()
        word = token[1] if token else ""
        if word == "(":
            inner = self.type()
            if self.word() == ")":
                self.next()
                return inner
        elif word in ("array", "object") and self.word() == "of":
            self.next()
            return each_of(word, self.one())
        elif word == "text" and self.word().startswith("`"):
            return text_like(self.next()[1][1:-1])
        elif word == "any":
            return lambda value, at: ()
        elif word == "object":
            return self.inner if self.inner.keys else plain(word)
        elif word in PLAIN and word != "array":
            return plain(word)
        elif word.startswith("`"):
            return only(json.loads(word[1:-1]))
        elif token and token["name"]:
            return self.names.type_of(token)
        raise Unread("the type %s makes no sense" % self.text)


class Pages:
    """The objects and types of all pages."""

    def __init__(self, pages):
        self.things, self.types, self.page_of, self.links = {}, {}, {}, []
        for path, text in pages:
            self.read(path.rsplit("/", 1)[1], text)
        for page, name, at, its in self.links:
            if self.page_of.get(at) != (its or page) or name not in (self.types if at == "types"
                                                                     else self.things):
                raise Unread("%s: [%s](%s#%s) leads nowhere" % (page, name, its, at))

    def type_of(self, token):
        """The type behind a link, which may be read later."""
        name, at = token["name"], token["at"]
        self.links.append((self.page, name, at, token["page"]))
        if at not in ("types", name):
            raise Unread("[%s] has the link of %s" % (name, at))
        of = self.types if at == "types" else self.things
        return lambda value, where: of[name](value, where)

    def object_of(self, kind):
        """The object that a whole cell links to, which may be read later."""
        token = TOKEN.fullmatch(kind)
        if not token or not token["name"] or token["at"] == "types":
            raise Unread("the type %s is no object" % kind)
        self.type_of(token)
        return lambda: self.things[token["name"]]

    def read(self, page, text):
        self.page = page
        for part in re.split(r"^## ", text, flags=re.M)[1:]:
            name = part.split("\n", 1)[0]
            rows = re.findall(r"^- .*$", part, flags=re.M)
            if name in self.page_of or not rows:
                raise Unread("%s: two sections ## %s, or one without rows" % (page, name))
            self.page_of[name] = page
            found = [ROW.fullmatch(row) for row in rows]
            if not all(found):
                raise Unread("%s: a row of ## %s has no key, type and meaning" % (page, name))
            cells = [(key, row[2], row[3]) for row in found
                     for key in row[1].strip("` ").split("`, `")]
            if name == "types":
                for key, kind, _ in cells:
                    self.types[key] = Cell(kind, self, Thing()).whole()
            else:
                self.things[name] = self.thing(cells)

    def thing(self, cells):
        """An object of rows; the objects in it by their paths."""
        inner = {"": Thing()}
        cell_of = {"": None}
        for path, kind, meaning in cells:
            if path == "...":
                inner[""].others.append(self.object_of(kind))
                continue
            above, _, key = path.rpartition(".")
            if above not in inner or key in inner[above].keys:
                raise Unread("the row %s is there twice, or has no row above" % path)
            path += "[]" if "array of object" in kind else ""
            inner[path] = Thing()
            cell_of[path] = Cell(kind, self, inner[path])
            inner[above].keys[key] = (cell_of[path], meaning.startswith("optional; "))
        for path, cell in cell_of.items():
            if cell and inner[path].keys and "object" not in cell.text:
                raise Unread("%s has keys and is no object: %s" % (path, cell.text))
            if cell:
                cell.faults = cell.whole()
        return inner[""]


def read_pages():
    pages = []
    for path in sorted(glob.glob("adapters/api/JSON*.md")):
        with open(path, encoding="utf-8") as file:
            pages.append((path, file.read()))
    return pages


def check(name, paths):
    thing = Pages(read_pages()).things[name]
    n = n_bad = 0
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                found = list(thing(json.loads(line), "$"))
                n += 1
                n_bad += bool(found)
                for fault in found[:3]:
                    print("%s:%d: %s" % (path, number, fault))
    print("%d objects, %d of them wrong" % (n, n_bad))
    return n == 0 or n_bad > 0


# == Self-test ================================================================================

def is_unread(pages):
    try:
        Pages(pages)
    except Unread:
        return True
    return False


def self_test():
    """Each edit of a right object, and of a right page, must be refused."""
    bad = []
    things = Pages(read_pages()).things
    error = {"cpubind": "0", "error": {"code": "usage", "text": "why"}}
    topo = {"cpubind": "0", "allowed": "0-3,8", "devices": [], "nics": None, "nodes": [],
            "runtimes": [{"runtime": "r", "variables": {"A": None}, "has_order": True,
                          "why": None}]}
    edits = [("error", error, edit) for edit in (
        lambda o: o.pop("cpubind"), lambda o: o.update(more=1),
        lambda o: o["error"].pop("code"), lambda o: o["error"].update(code="No Word"),
        lambda o: o["error"].update(npu="3"), lambda o: o["error"].update(npu=True),
        lambda o: o["error"].update(line="all"), lambda o: o.update(error=[]),
        lambda o: o["error"].update(text=None))]
    edits += [("topo", topo, edit) for edit in (
        lambda o: o.update(allowed="0-"), lambda o: o.update(nodes=None),
        lambda o: o["devices"].append({}), lambda o: o["nodes"].append({"node": 0}),
        lambda o: o["runtimes"][0]["variables"].update(B=1), lambda o: o.update(nics={}))]
    for number, (name, right, edit) in enumerate(edits):
        broken = copy.deepcopy(right)
        edit(broken)
        if list(things[name](right, "$")) or not list(things[name](broken, "$")):
            bad.append("edit %d of an object is not found, or the object is wrong" % number)
    right = ("## one\n\n- `a` (object): what\n"
             "- `a.b` (array of (integer or null)): optional; what\n")
    for old, new in (("", ""), ("integer", "integers"), ("of (", "of "), ("null)", "null"),
                     (": what\n", ":\n"), ("`a.b`", "`c.b`"), ("`a.b`", "`a`"), ("`a`", "a"),
                     ("object", "string"), ("object", "[two](#two)"), ("object", "[one](#two)"),
                     ("integer", "`2"), ("integer", "integer boolean"), ("integer", "integer??"),
                     ("- `a", "- a"),
                     ("- `a` (object): what\n", "- `...` (object): what\n"),
                     ("`a.b` (array of (integer or null))", "`...` ([two](#two))")):
        if is_unread([("a/b.md", right.replace(old, new))]) != (old != ""):
            bad.append("a page is read wrongly: %s in place of %s" % (new, old))
    print("\n".join(bad))
    return len(bad) > 0


def main(argv):
    if argv[1:2] == ["check"] and len(argv) > 3:
        return check(argv[2], argv[3:])
    if argv[1:] == ["self-test"]:
        return self_test()
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
