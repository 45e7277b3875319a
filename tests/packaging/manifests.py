#!/usr/bin/env python3
"""Examines the manifests in adapters/service/deploy/kubernetes.

    manifests.py tree              each file parses, and what it names is there
    manifests.py page              the table of rights of KUBERNETES.md has those of the manifests,
                                   and no other
    manifests.py image             the image has the command that the probes run
    manifests.py settings FOLDER   prints the file of settings that a folder has
    manifests.py lost FILE TYPED   what is in FILE and not in TYPED, which a program that knows the
                                   types of Kubernetes has read and written: it drops the others
"""
import os
import re
import sys

import yaml

DEPLOY = "adapters/service/deploy"
TOP = DEPLOY + "/kubernetes"
BASE = TOP + "/all-nodes/daemonset.yaml"
NAME = ("cpubind", "kube-system")


def load(path):
    with open(path, encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def folders():
    return sorted(os.path.join(TOP, name) for name in os.listdir(TOP))


def pod(documents):
    return next(d for d in documents if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]


def tree():
    bad = []
    kinds = {(d["kind"], d["metadata"]["name"], d["metadata"]["namespace"]) for d in load(BASE)}
    for folder in folders():
        known = {"kustomization.yaml"}
        one = load(folder + "/kustomization.yaml")[0]
        for name in one["resources"]:
            known.add(name)
            at = os.path.join(folder, name)
            if not os.path.isfile(at + "/kustomization.yaml" if name.startswith("..") else at):
                bad.append("%s names %s" % (folder, name))
        for patch in one.get("patches", []):
            known.add(patch["path"])
            for d in load(os.path.join(folder, patch["path"])):
                if (d["kind"], d["metadata"]["name"], d["metadata"]["namespace"]) not in kinds:
                    bad.append("%s patches what is not there" % patch["path"])
        bad += ["%s/%s is not named" % (folder, name) for name in os.listdir(folder)
                if name not in known]
    if kinds != {("ConfigMap",) + NAME, ("DaemonSet",) + NAME}:
        bad.append("the manifest has %s" % kinds)
    daemon = next(d for d in load(BASE) if d["kind"] == "DaemonSet")["spec"]
    if daemon["selector"]["matchLabels"] != daemon["template"]["metadata"]["labels"]:
        bad.append("the selector does not choose the pods")
    spec = pod(load(BASE))
    mounts = [m["name"] for m in spec["containers"][0]["volumeMounts"]]
    if sorted(mounts) != sorted(v["name"] for v in spec["volumes"]):
        bad.append("mounts and volumes differ")
    return bad


def rights():
    """The rights of all manifests, by the words of the page."""
    spec = pod(load(BASE))
    container = spec["containers"][0]
    security = container["securityContext"]
    words = set(security["capabilities"]["add"])
    words |= {key for key in ("hostPID", "hostNetwork") if spec.get(key)}
    words |= {"privileged"} if security["privileged"] else set()
    words |= {"seccompProfile"} if security["seccompProfile"]["type"] == "Unconfined" else set()
    return words | {m["mountPath"] for m in container["volumeMounts"]}


def page():
    with open(DEPLOY + "/KUBERNETES.md", encoding="utf-8") as file:
        table = file.read().split("\n## Rights", 1)[1].split("\n## ", 1)[0]
    named = set()
    fewer = set()
    for row in re.findall(r"^\| (`.*)", table, re.M):
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        words = set(re.findall(r"`([^`]+)`", cells[0]))
        named |= words
        if cells[-1].rstrip(" |") == "yes":
            fewer |= words
    bad = ["the page lacks %s" % word for word in sorted(rights() - named)]
    bad += ["the manifest lacks %s" % word for word in sorted(named - rights())]
    container = pod(load(TOP + "/gpu/rights.yaml"))["containers"][0]
    gone = {m["mountPath"] for m in container["volumeMounts"]}
    gone |= set() if container["securityContext"]["privileged"] else {"privileged"}
    kept = set(container["securityContext"]["capabilities"]["add"])
    capabilities = {word for word in rights() if re.fullmatch("[A-Z_]+", word)}
    if fewer != rights() - gone - (capabilities - kept):
        bad.append("for other accelerators the page has %s" % sorted(fewer))
    return bad


def image():
    with open(DEPLOY + "/Dockerfile", encoding="utf-8") as file:
        recipe = file.read()
    container = pod(load(BASE))["containers"][0]
    path = re.search(r"^ENTRYPOINT \[\"([^\"]+)\", \"service\"\]", recipe, re.M).group(1)
    bad = [] if "-t %s ." % container["image"] in recipe else ["the image has another name"]
    if not re.search(r"^COPY --from=build \S+ %s$" % path, recipe, re.M):
        bad.append("the image has no %s" % path)
    for probe in ("livenessProbe", "readinessProbe"):
        command = container[probe]["exec"]["command"]
        if command[:2] != [path, "service"] or container[probe]["timeoutSeconds"] < 2:
            bad.append("%s runs %s" % (probe, command))
    return bad


def settings(folder):
    files = [BASE]
    one = load(os.path.join(folder, "kustomization.yaml"))[0]
    files += [os.path.join(folder, patch["path"]) for patch in one.get("patches", [])]
    text = None
    for path in files:
        for d in load(path):
            if d["kind"] == "ConfigMap":
                text = d["data"]["cpubind.conf"]
    print(text, end="")
    return []


def lost(own, typed, at=""):
    """What a typed reader has dropped or changed."""
    if isinstance(own, dict):
        for key, value in own.items():
            if not isinstance(typed, dict) or key not in typed:
                yield "%s.%s" % (at, key)
            elif key != "image":
                yield from lost(value, typed[key], "%s.%s" % (at, key))
    elif isinstance(own, list):
        if not isinstance(typed, list) or len(typed) != len(own):
            yield at
        else:
            for i, value in enumerate(own):
                yield from lost(value, typed[i], "%s[%d]" % (at, i))
    elif own != typed:
        yield "%s: %s, %s" % (at, own, typed)


def main(argv):
    commands = {"tree": tree, "page": page, "image": image, "settings": settings,
                "lost": lambda own, typed: list(lost(load(own)[0], load(typed)[0]))}
    if argv[1:2] and argv[1] in commands:
        bad = commands[argv[1]](*argv[2:])
        print("\n".join(bad), end="\n" if bad else "")
        return len(bad) > 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
