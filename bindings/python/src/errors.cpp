#include "errors.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "interpreter.hpp"

namespace opentca_python {

namespace {

nb::object classes() { return nb::module_::import_("opentca.errors"); }

void raise(const tca::Error& error) {
  const nb::object made = classes().attr("_of_code")(error.exit_code(), error.what());
  made.attr("rank") = nb::cast(error.rank());
  made.attr("chain") = nb::cast(error.chain());
  made.attr("step") = nb::cast(error.step());
  made.attr("missing") = nb::tuple(nb::cast(error.missing()));
  made.attr("file") = nb::cast(error.file());
  made.attr("line") = nb::cast(error.line());
  PyErr_SetObject(made.type().ptr(), made.ptr());
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const tca::Error& error) {
      try {
        raise(error);
      } catch (nb::python_error& other) {
        other.restore();  // the interpreter is ending, say
      }
    }
  });
}

std::optional<tca::Error> library_error(const nb::python_error& error) {
  const nb::object value = nb::borrow(error.value());
  if (!nb::isinstance(value, classes().attr("Error"))) return std::nullopt;
  return tca::Error(static_cast<tca::Errc>(nb::cast<int>(value.attr("exit_code"))), text(value));
}

}  // namespace opentca_python
