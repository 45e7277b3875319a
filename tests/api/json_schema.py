#!/usr/bin/env python3
"""Validates JSON objects against adapters/api/cpubind.schema.json, and prints its page.

    json_schema.py check NAME FILE...   each line of each file is an object of "$defs"/NAME
    json_schema.py page NAME            the documentation, key by key, as Markdown: the page
                                        JSON.md, JSON-BINDING.md of what is bound,
                                        JSON-MEASURE.md or JSON-POD.md
    json_schema.py self-test            broken objects are refused

Knows the keywords that the schema has, and refuses a schema with another one.
"""
import copy
import json
import re
import sys

SCHEMA = "adapters/api/cpubind.schema.json"
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required",
         "additionalProperties", "items", "enum", "pattern", "oneOf"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float), "null": type(None)}


def has_type(value, word):
    is_bool = isinstance(value, bool)
    return isinstance(value, TYPES[word]) and (not is_bool or word == "boolean")


def faults(value, schema, defs, at="$"):
    """The reasons why a value does not keep to a schema."""
    unknown = set(schema) - KNOWN
    if unknown:
        raise SystemExit("unknown keyword of the schema: %s" % ", ".join(sorted(unknown)))
    if "$ref" in schema:
        yield from faults(value, defs[schema["$ref"].rsplit("/", 1)[1]], defs, at)
    if "oneOf" in schema:
        found = [list(faults(value, one, defs, at)) for one in schema["oneOf"]]
        if sum(not f for f in found) != 1:
            yield "%s: not exactly one of %d forms: %s" % (
                at, len(found), "; ".join(f[0] for f in found if f))
    words = schema.get("type", [])
    words = [words] if isinstance(words, str) else words
    if words and not any(has_type(value, word) for word in words):
        yield "%s: %r is not of type %s" % (at, value, " or ".join(words))
        return
    if "enum" in schema and value not in schema["enum"]:
        yield "%s: %r is not one of %s" % (at, value, ", ".join(map(str, schema["enum"])))
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield "%s: %r does not match %s" % (at, value, schema["pattern"])
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from faults(item, schema["items"], defs, "%s[%d]" % (at, i))
    if isinstance(value, dict):
        yield from faults_of_object(value, schema, defs, at)


def faults_of_object(value, schema, defs, at):
    for key in schema.get("required", []):
        if key not in value:
            yield "%s: no key %s" % (at, key)
    other = schema.get("additionalProperties", True)
    for key, item in value.items():
        below = schema.get("properties", {}).get(key, other)
        if below is False:
            yield "%s: the schema has no key %s" % (at, key)
        elif below is not True:
            yield from faults(item, below, defs, "%s.%s" % (at, key))


def check(defs, name, paths):
    n = n_bad = 0
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                found = list(faults(json.loads(line), defs[name], defs))
                n += 1
                n_bad += bool(found)
                for fault in found[:3]:
                    print("%s:%d: %s" % (path, number, fault))
    print("%d objects, %d of them wrong" % (n, n_bad))
    return n == 0 or n_bad > 0


def type_of(schema, defs):
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        if defs[name].get("type") == "object":
            return "[%s](#%s)" % (name, name)
        return type_of(defs[name], defs)
    if "oneOf" in schema:
        return " or ".join(type_of(one, defs) for one in schema["oneOf"])
    if "enum" in schema:
        return ", ".join('`"%s"`' % word for word in schema["enum"])
    words = schema.get("type", "any")
    text = " or ".join([words] if isinstance(words, str) else words)
    if "array" in text and "items" in schema:
        text += " of " + type_of(schema["items"], defs)
    return text


def rows(schema, required, defs, prefix=""):
    """A row for each key, those of objects without a name below their key."""
    for key, below in schema.get("properties", {}).items():
        path = prefix + key
        yield "| `%s` | %s | %s%s |" % (
            path, type_of(below, defs), "" if key in required else "optional; ",
            below.get("description", ""))
        forms = [below] + below.get("oneOf", [])
        for form in forms + [form["items"] for form in forms if "items" in form]:
            mark = "[]." if "items" in below and form is below["items"] else "."
            if "properties" in form:
                yield from rows(form, form["required"], defs, path + mark)


# The objects of the other pages; JSON.md has the rest.
OTHERS = {"JSON-BINDING.md": {"item", "report", "host_report", "worker_row", "pod", "places", "status",
                              "status_device", "place", "status_worker", "doctor", "change",
                              "doctor_restore"},
          "JSON-MEASURE.md": {"measured", "verdict", "measure"},
          "JSON-POD.md": {"explain_pod", "kubelet_given"}}

HEADS = {
    "JSON.md": """# JSON of plans and devices

For whoever reads the JSON of a command: **which keys has it, and what do they mean?** How
to ask for it is in [PLAN.md](../cli/PLAN.md#as-json); what `apply`, `verify`, `status`,
`restore` and `doctor` print is in [JSON-BINDING.md](JSON-BINDING.md), `measure` in
[JSON-MEASURE.md](JSON-MEASURE.md).

Made from `cpubind.schema.json` (JSON Schema) by `tests/api/json_schema.py page JSON.md`;
the tests hold the outputs for all fixture hosts against it.
""",
    "JSON-BINDING.md": """# JSON of what is bound

For whoever reads the JSON of `apply`, `verify`, `restore`, `status` or `doctor`: **which keys
has it, and what do they mean?** Plans, devices and errors are in [JSON.md](JSON.md);
`status --explain POD` is in [JSON-POD.md](JSON-POD.md).

Made from `cpubind.schema.json` by `tests/api/json_schema.py page JSON-BINDING.md`.
""",
    "JSON-MEASURE.md": """# JSON of measurements

For whoever reads the JSON of `measure`, or what `status` and `doctor` say of the last one:
**which keys has it, and what do they mean?** Errors are in [JSON.md](JSON.md).

Made from `cpubind.schema.json` by `tests/api/json_schema.py page JSON-MEASURE.md`.
""",
    "JSON-POD.md": """# JSON of a pod

For whoever reads the JSON of `status --explain POD`: **which keys has it, and what do they
mean?** Pods are in [JSON-BINDING.md](JSON-BINDING.md), errors in [JSON.md](JSON.md).

Made from `cpubind.schema.json` by `tests/api/json_schema.py page JSON-POD.md`.
"""}


def page_of(key):
    """The page that has an object."""
    for name, keys in OTHERS.items():
        if key in keys:
            return name
    return "JSON.md"


def page(schema, name):
    defs = schema["$defs"]
    print(HEADS[name])
    if name == "JSON.md":
        print(schema["description"])
    for key, one in defs.items():
        if page_of(key) != name:
            continue
        if one.get("type") == "object":
            print("\n## %s\n\n%s\n" % (key, one["description"]))
            print("| key | type | meaning |\n|--|--|--|")
            for row in rows(one, one["required"], defs):
                print(re.sub(r"\(#(\w+)\)", lambda m: link(m.group(1), name), row))
        elif "oneOf" not in one and "enum" not in one:
            print("\n## %s\n\n%s" % (key, one["description"]))


def link(key, name):
    """The link from a page to an object, which may be on the other page."""
    its = page_of(key)
    return "(%s#%s)" % ("" if its == name else its, key)


def self_test(defs):
    """Each edit of a right object must be refused."""
    right = {"cpubind": "0", "error": {"code": "usage", "text": "why"}}
    edits = [lambda o: o.pop("cpubind"), lambda o: o.update(more=1),
             lambda o: o["error"].pop("code"), lambda o: o["error"].update(code="No Word"),
             lambda o: o["error"].update(npu="3"), lambda o: o["error"].update(npu=True),
             lambda o: o["error"].update(line="all"), lambda o: o.update(error=[]),
             lambda o: o["error"].update(text=None)]
    bad = list(faults(right, defs["error"], defs))
    for number, edit in enumerate(edits):
        broken = copy.deepcopy(right)
        edit(broken)
        if not list(faults(broken, defs["error"], defs)):
            bad.append("edit %d is not found" % number)
    print("\n".join(bad))
    return len(bad) > 0


def main(argv):
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    if argv[1:2] == ["check"] and len(argv) > 3:
        return check(schema["$defs"], argv[2], argv[3:])
    if len(argv) == 3 and argv[1] == "page" and argv[2] in HEADS:
        return page(schema, argv[2])
    if argv[1:] == ["self-test"]:
        return self_test(schema["$defs"])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
