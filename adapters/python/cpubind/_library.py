# SPDX-License-Identifier: MIT
"""_library.py - libcpubind.so.1, loaded with the types of cpubind_api.h

The library is that of CPUBIND_LIBRARY, else the one in the wheel (lib/<machine>/ beside this
file), else the one that the loader finds. Must not print or change the environment.
"""
from __future__ import annotations

import ctypes
import json
import os
import platform
from array import array
from ctypes import POINTER, byref, c_char_p, c_int32, c_size_t, c_void_p
from typing import Any, Callable, Dict, Optional

ABI = 4
NAME = "libcpubind.so.1"

# The numbers that an error may have.
NUMBERS = ("device", "other_device", "cpu", "need", "have", "uncut", "line", "column", "errno",
           "exit")

_ERROR = POINTER(c_void_p)
_INTS = POINTER(c_int32)
_TYPES: Dict[str, Any] = {
    "cpb_abi": (c_int32,),
    "cpb_version": (c_char_p,),
    "cpb_text_free": (None, c_void_p),
    "cpb_error_code": (c_char_p, c_void_p),
    "cpb_error_text": (c_char_p, c_void_p),
    "cpb_error_number": (c_int32, c_void_p, c_char_p),
    "cpb_error_json": (c_char_p, c_void_p),
    "cpb_error_free": (None, c_void_p),
    "cpb_host_live": (c_void_p, c_int32, _ERROR),
    "cpb_host_folder": (c_void_p, c_char_p, _ERROR),
    "cpb_host_empty": (c_void_p, _ERROR),
    "cpb_host_put": (c_int32, c_void_p, c_char_p, c_char_p, c_size_t, c_int32, _ERROR),
    "cpb_host_topo": (c_void_p, c_void_p, POINTER(c_char_p), _ERROR),
    "cpb_near_cpus": (c_int32, c_void_p, c_char_p, _INTS, c_int32, _ERROR),
    "cpb_home_node": (c_int32, c_void_p, c_char_p, _ERROR),
    "cpb_host_close": (None, c_void_p),
    "cpb_plan_make": (c_void_p, c_void_p, POINTER(c_char_p), _ERROR),
    "cpb_plan_free": (None, c_void_p),
    "cpb_plan_devices": (c_int32, c_void_p, POINTER(_INTS)),
    "cpb_plan_rank_device": (c_int32, c_void_p),
    "cpb_plan_cpus": (c_int32, c_void_p, c_int32, c_char_p, POINTER(_INTS)),
    "cpb_plan_table": (c_int32, c_void_p, c_char_p, POINTER(_INTS), POINTER(_INTS)),
    "cpb_plan_mask": (c_int32, c_void_p, c_int32, c_char_p, c_char_p, c_size_t),
    "cpb_plan_memory_node": (c_int32, c_void_p, c_int32),
    "cpb_plan_quality": (c_int32, c_void_p, c_int32, c_char_p),
    "cpb_plan_json": (c_char_p, c_void_p),
    "cpb_plan_format": (c_void_p, c_void_p, c_char_p, _ERROR),
    "cpb_plan_explain": (c_void_p, c_void_p, c_char_p, _ERROR),
    "cpb_bind": (c_void_p, c_void_p, c_int32, POINTER(c_char_p), _ERROR),
    "cpb_binding_open": (c_void_p, c_int32, POINTER(c_char_p), _ERROR),
    "cpb_binding_verify": (c_int32, c_void_p, _ERROR),
    "cpb_binding_again": (c_int32, c_void_p, _ERROR),
    "cpb_binding_restore": (c_int32, c_void_p, _ERROR),
    "cpb_binding_json": (c_char_p, c_void_p),
    "cpb_binding_close": (None, c_void_p),
    "cpb_bind_thread": (c_int32, c_void_p, c_int32, c_char_p, _ERROR),
    "cpb_cpu_budget": (c_int32, c_int32, c_int32, c_int32, c_int32),
    "cpb_next_pool": (c_char_p, c_int32, c_int32, c_int32, c_int32, c_int32),
}


class Error(RuntimeError):
    """A call of the library that has failed.

    code: a word for programs, such as "too_few_cpus"; text: the sentence that the command
    prints; numbers: what it is about, such as {"device": 3, "need": 5}; json: the object that the
    command prints with --json.
    """

    def __init__(self, code: str, text: str, numbers: Dict[str, int], as_json: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.numbers = numbers
        self.json = as_json

    def __reduce__(self) -> Any:
        return Error, (self.code, self.text, self.numbers, self.json)


def _paths() -> Any:
    named = os.environ.get("CPUBIND_LIBRARY")
    if named:
        return [named]
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", platform.machine(),
                          NAME)
    return ([beside] if os.path.exists(beside) else []) + [NAME]


def find_corpus() -> str:
    """The corpus of hosts that is installed: beside the library, as in a build folder; in the
    share/cpubind of its prefix, or of /usr/local and /usr. FileNotFoundError: there is none."""
    folder = os.path.dirname(os.path.realpath(_paths()[0]))
    prefixes, places = ["/usr/local", "/usr"], []
    if os.sep in _paths()[0]:
        prefixes = [os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))] + prefixes
        places = [os.path.join(folder, "fixtures.db")]
    places += [os.path.join(prefix, "share/cpubind/fixtures.db") for prefix in prefixes]
    for place in places:
        if os.path.isfile(place):
            return place
    raise FileNotFoundError("no corpus of hosts is in %s; name one with db= or CPUBIND_DB"
                            % ", ".join(places))


_library: Optional[ctypes.CDLL] = None


def load() -> ctypes.CDLL:
    """The library; ImportError: there is none, or one that is older than this package."""
    global _library
    if _library is not None:
        return _library
    path = _paths()[0]
    try:
        found = ctypes.CDLL(path)
        for name, types in _TYPES.items():
            function = getattr(found, name)
            function.restype, function.argtypes = types[0], list(types[1:])
    except (OSError, AttributeError) as error:
        raise ImportError("%s: %s; name the library with CPUBIND_LIBRARY" % (path, error))
    if found.cpb_abi() < ABI:
        raise ImportError("%s is older than this package" % path)
    _library = found
    return found


def _take(error: c_void_p) -> Error:
    """The exception of an error, which is freed."""
    library = load()
    try:
        numbers = {name: library.cpb_error_number(error, name.encode()) for name in NUMBERS}
        return Error(library.cpb_error_code(error).decode(),
                     library.cpb_error_text(error).decode(errors="replace"),
                     {name: number for name, number in numbers.items() if number >= 0},
                     library.cpb_error_json(error).decode(errors="replace"))
    finally:
        library.cpb_error_free(error)


def call(name: str, *words: Any) -> Any:
    """Calls a function whose last argument is an error; raises that."""
    error = c_void_p()
    result = getattr(load(), name)(*words, byref(error))
    if error.value:
        raise _take(error)
    return result


def text_of(pointer: int) -> str:
    """A text that the library has made, which is freed."""
    try:
        return ctypes.cast(pointer, c_char_p).value.decode(errors="replace")
    finally:
        load().cpb_text_free(pointer)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (str, int)):
        return str(value)
    return ",".join(map(str, value))


def options_of(options: Dict[str, Any]) -> Any:
    """{"npu": 3, "any_arch": True} as an array of "npu=3", "any-arch=yes". An option that is
    None is left out; a list or a range is a list of CPUs; class_ is the option class."""
    words = ["%s=%s" % (key.rstrip("_").replace("_", "-"), _value(value))
             for key, value in options.items() if value is not None]
    return (c_char_p * (len(words) + 1))(*[os.fsencode(word) for word in words], None)


def copy(pointer: Any, n: int) -> array:
    """The n numbers at a pointer, as array("i"): one copy of all their bytes."""
    return array("i", ctypes.string_at(pointer, 4 * n) if n > 0 else b"")


def ints(function: Callable[..., int], *words: Any) -> Optional[array]:
    """The array that a getter hands out; None: -1."""
    pointer = _INTS()
    n = function(*words, byref(pointer))
    return None if n < 0 else copy(pointer, n)


def parse(text: Any) -> Dict[str, Any]:
    """The object of a JSON text."""
    return json.loads(text)
