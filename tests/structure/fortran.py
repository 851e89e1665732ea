#!/usr/bin/env python3
"""Fortran declares every call and struct of tca/tca.h as C has them: fortran.py SOURCE_DIR

bindings/fortran/calls.f90 is written by hand, and no compiler sees both. Compared are the names, the arguments' types and
whether they are passed by value, and the fields of structs. No module calls a function of an abstract interface twice,
which gfortran 12 compiles wrongly. No function returns a text of deferred length, whose length gfortran keeps in static
memory at the call: ranks may be threads.
"""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
NUMBERS = {"int": "integer(c_int)", "int64_t": "integer(c_int64_t)", "uint32_t": "integer(c_int32_t)", "size_t": "integer(c_size_t)"}
NUMBERS |= {"double": "real(c_double)", "tca_status": "integer(c_int)", "uint8_t": "integer(c_int8_t)"}
HANDLES = {"void", "tca_world", "tca_window", "tca_chain", "tca_halo", "tca_collective", "tca_fold", "tca_counted_put"}
HANDLES |= {"tca_counted_arrival", "tca_rounds", "tca_region", "tca_post", "tca_notices"}
POINTERS = {"tca_stream": "type(c_ptr)", "tca_rank_body": "type(c_funptr)", "tca_combine": "type(c_funptr)", "tca_load": "type(c_funptr)"}
POINTERS |= {"tca_unload": "type(c_funptr)"}
ADDRESS = "type(c_ptr), value"


def in_fortran(c):
    """What a parameter of a type of C may be in Fortran."""
    c = c.replace("const ", "").strip()
    base, stars = c.rstrip("* "), c.count("*")
    if stars == 2:
        return {"type(c_ptr)"}
    if base == "char":
        return {"character(kind=c_char)", ADDRESS}
    if base in POINTERS:
        return {POINTERS[base] + ", value"}
    if stars and base in HANDLES:
        return {ADDRESS}
    spelled = {NUMBERS[base]} if base in NUMBERS else {f"type({base})", f"type({base.replace('tca_', 'c_', 1)})"}
    return spelled | {ADDRESS} if stars else {one + ", value" for one in spelled}


def field_in_fortran(c):
    base = c.replace("const ", "").rstrip("* ")
    return "type(c_ptr)" if "*" in c else POINTERS.get(base) or NUMBERS.get(base) or f"type({base})"


def calls_of_c(text):
    for name, parameters in re.findall(r"^TCA_API [\w ]+?[* ]+(\w+)\(([^)]*)\);", text, re.MULTILINE):
        listed = [] if parameters == "void" else re.split(r",\s*", " ".join(parameters.split()))
        yield name, [in_fortran(re.sub(r"\w+$", "", one) if not one.endswith("*") else one) for one in listed]


def calls_of_fortran(text):
    signatures = {}
    text = re.sub(r"&\s*\n\s*", "", text)
    for head, listed, body in re.findall(r"function (\w+)\(([^)]*)\)([\s\S]*?)end function", text):
        types = {}
        for kind, attributes, names in re.findall(r"^\s*((?:type|integer|real|character)\([\w=]+\))([^:\n]*)::(.*)$", body, re.MULTILINE):
            for name in re.findall(r"\w+", re.sub(r"\(.*?\)", "", names)):
                types[name] = kind + (", value" if "value" in attributes else "")
        signatures[head] = [types[name] for name in re.findall(r"\w+", listed)]
        bound = re.search(r"bind\(c, name='(\w+)'\)", body)
        if bound:
            yield bound[1], signatures[head]
    for signature, name in re.findall(r"procedure\((\w+)\), bind\(c, name='(\w+)'\)", text):
        yield name, signatures[signature]


def structs_of_c(text):
    text = re.sub(r"//.*", "", text)
    for body, name in re.findall(r"^typedef struct \w+ \{\n(.*?)^\} (\w+);", text, re.MULTILINE | re.DOTALL):
        if "struct" not in body:  # a layout's loops are a struct within
            fields = []
            for kind, names in re.findall(r"((?:const )?\w+(?:\s*\*)?)\s+([\w, \[\]]+);", re.sub(r"\*\s*", "* ", body)):
                fields += [(one.split("[")[0].strip(), field_in_fortran(kind)) for one in names.split(",")]
            yield name, fields


def structs_of_fortran(text):
    for name, body in re.findall(r"type, bind\(c\) :: (\w+)\n(.*?)end type", text, re.DOTALL):
        fields = []
        for kind, names in re.findall(r"^\s*((?:type|integer|real)\(\w+\)) :: (.*)$", body, re.MULTILINE):
            fields += [(one, kind) for one in re.findall(r"(\w+)(?:\(\w+\))?(?: = [\w-]+)?(?:, |$)", names)]
        yield name, fields


header = (source / "include/tca/tca.h").read_text()
module = (source / "bindings/fortran/calls.f90").read_text()
errors = []
declared = dict(calls_of_fortran(module))
expected = dict(calls_of_c(header))
for name, parameters in expected.items():
    if name not in declared:
        errors.append(f"{name} is not there")
    elif len(parameters) != len(declared[name]) or any(one not in may for may, one in zip(parameters, declared[name])):
        errors.append(f"{name} takes {declared[name]}, not {[' or '.join(sorted(may)) for may in parameters]}")
errors += [f"{name} is not in tca.h" for name in declared if name.startswith("tca_") and name not in expected]
found = dict(structs_of_fortran(module))
for name, fields in structs_of_c(header):
    other = found.get(name) or found.get(name.replace("tca_", "c_", 1))
    if other != fields:
        errors.append(f"the struct {name} has {other}, not {fields}")
for name in re.findall(r"^  procedure\(\w+\), bind\(c, .*:: (\w+)", module, re.MULTILINE):
    for file in (source / "bindings/fortran").glob("*.[fF]90"):
        if len(re.findall(rf"\b{name}\(", file.read_text())) > 1:
            errors.append(f"{name} is called twice in {file.name}: give it an interface of its own")
for file in (source / "bindings/fortran").glob("*.[fF]90"):
    for name, body in re.findall(r"^ *function \w+\([^)]*\) result\((\w+)\)(.*?)^ *end function", file.read_text(), re.MULTILINE | re.DOTALL):
        if re.search(rf"character\(:\), allocatable :: {name}$", body, re.MULTILINE):
            errors.append(f"a function of {file.name} returns {name}, a text of deferred length")
if not expected or not found:
    errors.append("nothing is compared")
sys.exit("\n".join(f"bindings/fortran/calls.f90: {error}" for error in errors) if errors else 0)
