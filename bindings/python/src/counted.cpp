#include "counted.hpp"

#include <nanobind/stl/string.h>

#include "tca/counted.hpp"

namespace opentca_python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_counted(nb::module_& module) {
  nb::class_<tca::CountedPut>(module, "CountedPut",
                              "The sending end of a put whose length is chosen anew for every step.")
      .def(
          "set", [](tca::CountedPut& self, std::int64_t elements) { self.set(elements); }, "elements"_a,
          "Sets the length of the steps that are started from here on: 0 to `capacity`, in whole repetitions "
          "of the slice's outermost loop.")
      .def_prop_ro("length", &tca::CountedPut::length, "The length that the next step will have; 0 at first.")
      .def_prop_ro("capacity", &tca::CountedPut::capacity, "The number of elements of the slice.")
      .def_prop_ro("rank", &tca::CountedPut::rank, "The target.")
      .def("__repr__", [](const tca::CountedPut& self) {
        return "<opentca.CountedPut of up to " + std::to_string(self.capacity()) + " elements to rank " +
               std::to_string(self.rank()) + ">";
      });
  nb::class_<tca::CountedArrival>(module, "CountedArrival", "The receiving end of a counted put.")
      .def_prop_ro("count", &tca::CountedArrival::count,
                   "How many elements came with the step that was waited for last.")
      .def_prop_ro("capacity", &tca::CountedArrival::capacity, "The most that can come; 0 before the commit.")
      .def_prop_ro("rank", &tca::CountedArrival::rank, "The sender.")
      .def("__repr__", [](const tca::CountedArrival& self) {
        return "<opentca.CountedArrival of up to " + std::to_string(self.capacity()) +
               " elements from rank " + std::to_string(self.rank()) + ">";
      });
}

}  // namespace opentca_python
