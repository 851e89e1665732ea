#include "arrays/elements.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "interpreter.hpp"
#include "tca/error.hpp"

namespace opentca_python {

namespace {

struct Known {
  std::string_view brief, name, format;
  std::size_t bytes;
  tca::DataType type;
};

using enum tca::DataType;

constexpr std::array known_types{
    Known{"f8", "float64", "d", 8, float64},
    Known{"f4", "float32", "f", 4, float32},
    Known{"f2", "float16", "e", 2, other},
    Known{"i1", "int8", "b", 1, int8},
    Known{"i2", "int16", "h", 2, int16},
    Known{"i4", "int32", "i", 4, int32},
    Known{"i8", "int64", "q", 8, int64},
    Known{"u1", "uint8", "B", 1, uint8},
    Known{"u2", "uint16", "H", 2, uint16},
    Known{"u4", "uint32", "I", 4, uint32},
    Known{"u8", "uint64", "Q", 8, uint64},
    Known{"c8", "complex64", "Zf", 8, other},
    Known{"c16", "complex128", "Zd", 16, other},
    Known{"b1", "bool", "?", 1, other},
    Known{"f16", "longdouble", "g", sizeof(long double), long_double},
};

std::optional<ElementType> known(std::string_view name) {
  for (const Known& type : known_types)
    if (name == type.brief || name == type.name)
      return ElementType{type.bytes, std::string(type.format), type.type};
  return std::nullopt;
}

}  // namespace

std::string type_string(const ElementType& element) {
  for (const Known& type : known_types)
    if (type.format == element.format) return (type.bytes == 1 ? "|" : "<") + std::string(type.brief);
  return "|V" + std::to_string(element.bytes);
}

ElementType element_type(nb::handle dtype) {
  if (nb::isinstance<nb::str>(dtype)) {
    if (auto type = known(nb::borrow<nb::str>(dtype).c_str())) return *type;
  }
  // A type of torch, which NumPy does not know.
  constexpr std::string_view torch = "torch.";
  if (const std::string name = text(dtype); name.starts_with(torch)) {
    if (auto type = known(std::string_view(name).substr(torch.size()))) return *type;
    throw tca::Error(
        tca::Errc::invalid_argument,
        "a window of " + name + ": take integers of the same size, and tensor().view(" + name + ")");
  }
  const nb::object described = nb::module_::import_("numpy").attr("dtype")(dtype);
  const auto words = [&](const char* attribute) { return text(nb::object(described.attr(attribute))); };
  if (nb::cast<bool>(described.attr("isnative"))) {
    if (auto type = known(words("kind") + words("itemsize"))) return *type;
  }
  const auto bytes = nb::cast<std::size_t>(described.attr("itemsize"));
  if (nb::cast<bool>(described.attr("hasobject")) || bytes == 0) {
    throw tca::Error(tca::Errc::invalid_argument,
                     "a window of " + words("name") + ": its elements would mean nothing to another rank");
  }
  // What NumPy exports knows its format, structures and foreign byte orders included.
  const nb::object empty = nb::module_::import_("numpy").attr("empty")(1, described);
  const nb::object view = nb::steal(PyMemoryView_FromObject(empty.ptr()));
  if (!view.is_valid()) {
    PyErr_Clear();
    throw tca::Error(tca::Errc::invalid_argument,
                     "a window of " + words("name") +
                         ": Python's buffers have no such elements; take integers of their "
                         "size, and array.view(...)");
  }
  return {bytes, text(nb::object(view.attr("format"))), tca::DataType::other};
}

}  // namespace opentca_python
