"""Has GDB show windows, layouts, shapes and chains in the words that messages use.

GDB loads it with a shared OpenTCA, beside which it is installed, once its folder is trusted (add-auto-load-safe-path).
Elsewhere: source PREFIX/share/opentca/gdb/opentca.py. Of chains and the numbers of windows it needs an OpenTCA with debug
information (-g).
"""

import gdb
import gdb.printing

WITHOUT_DEBUG = "OpenTCA was compiled without -g"


def text(string):
    """A std::string, with the library's own printers or without."""
    return string["_M_dataplus"]["_M_p"].string(length=int(string["_M_string_length"]))


def pointee(pointer):
    """What a std::unique_ptr holds, which is one pointer; None where it is null, or of a type that nothing is known of."""
    held = pointer.address.cast(pointer.type.strip_typedefs().template_argument(0).pointer().pointer()).dereference()
    return known(held)


def shared(pointer):
    return known(pointer["_M_ptr"])


def known(pointer):
    if int(pointer) == 0:
        return None
    target = pointer.dereference()
    return target if target.type.strip_typedefs().fields() else None


def loops_of(value):
    """Innermost first."""
    count = int(value["loop_count" if value.type.strip_typedefs().name.endswith("Shape") else "loop_count_"])
    loops = value["loops" if "loops" in value.type else "loops_"]["_M_elems"]
    return [loops[i] for i in range(count)]


class Layout:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        first, run, loops = int(self.value["first_"]), int(self.value["run_"]), loops_of(self.value)
        counts, pitches = [int(loop["count"]) for loop in loops], [int(loop["pitch"]) for loop in loops]
        if not loops:
            words = f"block of {run}"
        elif len(loops) > 1:
            words = "sub-array of " + " x ".join(map(str, [*reversed(counts), run]))
        elif run == 1:
            words = f"stride of {counts[0]}, pitch {pitches[0]}"
        else:
            words = f"block-stride of {counts[0]} rows of {run}, pitch {pitches[0]}"
        return words + (f", from element {first}" if first else "")


class Shape:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        words = f"runs of {int(self.value['run'])} bytes"
        for loop in loops_of(self.value):
            words += f", {int(loop['count'])} times {int(loop['to_pitch'])} bytes apart (from {int(loop['from_pitch'])})"
        return words


class Window:
    def __init__(self, value):
        self.value = value
        self.element = value.type.strip_typedefs().template_argument(0)
        self.size = int(value["last_"] - value["first_"])

    def to_string(self):
        if int(self.value["untyped_"]["state_"]["_M_ptr"]) == 0:
            return "window that was moved from"
        state = shared(self.value["untyped_"]["state_"])
        number = f" {int(state['id_'])}" if state else ""
        return f"window{number} of {self.size} {self.element}"

    def children(self):
        """Elements, where they are memory that a debugger can read."""
        try:
            self.value["first_"].dereference().fetch_lazy() if self.size else None
        except gdb.MemoryError:
            return
        for i in range(self.size):
            yield f"[{i}]", (self.value["first_"] + i).dereference()

    def display_hint(self):
        return "array"


class Chain:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        if int(self.value["state_"].address.cast(gdb.lookup_type("unsigned long").pointer()).dereference()) == 0:
            return "chain that was moved from"
        state = pointee(self.value["state_"])
        return ChainState(state).to_string() if state else f"chain ({WITHOUT_DEBUG})"


class ChainState:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        words = f"chain '{text(self.value['name_'].referenced_value())}'"
        if not self.value["committed_"]:
            draft = pointee(self.value["draft_"])
            vector = draft["descriptors"]["_M_impl"]
            return f"{words}, not committed, {int(vector['_M_finish'] - vector['_M_start'])} puts and signals"
        if self.value["on_stream_"]:
            return f"{words}, {int(self.value['step_'])} steps, the last one on a stream"
        return f"{words}, step {int(self.value['step_'])} {'under way' if self.value['running_'] else 'over'}"


printers = gdb.printing.RegexpCollectionPrettyPrinter("OpenTCA")
printers.add_printer("Layout", "^tca::Layout$", Layout)
printers.add_printer("Shape", "^tca::base::Shape$", Shape)
printers.add_printer("Window", "^tca::Window<.*>$", Window)
printers.add_printer("Chain", "^tca::Chain$", Chain)
printers.add_printer("ChainState", "^tca::core::ChainState$", ChainState)
gdb.printing.register_pretty_printer(gdb.current_objfile(), printers, replace=True)
