#include "mpi/coll/elements.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace tca::interposer {

namespace {

std::vector<Element> all_elements() {
  using enum Family;
  using enum DataType;
  static constexpr auto sized = [](Family family, std::size_t bytes) {
    if (family == floating) return bytes == 4 ? float32 : float64;
    return bytes == 4 ? int32 : int64;
  };
  std::vector<Element> elements = {{MPI_FLOAT, floating, float32},
                                   {MPI_DOUBLE, floating, float64},
                                   {MPI_LONG_DOUBLE, floating, long_double},
                                   {MPI_INT, integer, int32},
                                   {MPI_UNSIGNED, integer, uint32},
                                   {MPI_LONG, integer, int64},
                                   {MPI_UNSIGNED_LONG, integer, uint64},
                                   {MPI_LONG_LONG, integer, int64},
                                   {MPI_UNSIGNED_LONG_LONG, integer, uint64},
                                   {MPI_SHORT, integer, int16},
                                   {MPI_UNSIGNED_SHORT, integer, uint16},
                                   {MPI_SIGNED_CHAR, integer, int8},
                                   {MPI_UNSIGNED_CHAR, integer, uint8},
                                   {MPI_INT8_T, integer, int8},
                                   {MPI_INT16_T, integer, int16},
                                   {MPI_INT32_T, integer, int32},
                                   {MPI_INT64_T, integer, int64},
                                   {MPI_UINT8_T, integer, uint8},
                                   {MPI_UINT16_T, integer, uint16},
                                   {MPI_UINT32_T, integer, uint32},
                                   {MPI_UINT64_T, integer, uint64},
                                   {MPI_C_FLOAT_COMPLEX, complex},
                                   {MPI_C_DOUBLE_COMPLEX, complex},
                                   {MPI_FLOAT_INT, pair},
                                   {MPI_DOUBLE_INT, pair},
                                   {MPI_LONG_INT, pair},
                                   {MPI_2INT, pair},
                                   {MPI_SHORT_INT, pair}};
  // Those of Fortran: an MPI without it has not their names or, by the standard ABI, not their sizes.
  for (const auto& [type, family] :
       {std::pair(MPI_INTEGER, integer), std::pair(MPI_REAL, floating),
        std::pair(MPI_DOUBLE_PRECISION, floating), std::pair(MPI_INTEGER8, integer),
        std::pair(MPI_REAL8, floating), std::pair(MPI_COMPLEX, complex),
        std::pair(MPI_DOUBLE_COMPLEX, complex), std::pair(MPI_2INTEGER, pair), std::pair(MPI_2REAL, pair),
        std::pair(MPI_2DOUBLE_PRECISION, pair)}) {
    int bytes = 0;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0) continue;
    const bool combined = family == integer || family == floating;
    elements.push_back({type, family, combined ? sized(family, static_cast<std::size_t>(bytes)) : other});
  }
  for (Element& element : elements) {
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(element.type, &lower, &extent);
    element.bytes = static_cast<std::size_t>(extent);
  }
  return elements;
}

raw::Combiner combined_by_mpi(MPI_Op op, const Element& element) {
  return [op, type = element.type, bytes = element.bytes](void* into, const void* left, const void* right,
                                                          std::size_t count) {
    // MPI combines into the right operand.
    std::vector<std::byte> kept;
    if (into == left) {
      kept.assign(static_cast<const std::byte*>(left), static_cast<const std::byte*>(left) + count * bytes);
      left = kept.data();
    }
    if (into != right) std::memcpy(into, right, count * bytes);
    PMPI_Reduce_local(left, into, static_cast<int>(count), type, op);
  };
}

}  // namespace

const Element* find_element(MPI_Datatype type) {
  static const std::vector<Element> elements = all_elements();
  thread_local const Element* last = &elements.front();
  if (last->type == type) return last;
  const auto found = std::ranges::find(elements, type, &Element::type);
  return found == elements.end() ? nullptr : last = &*found;
}

std::optional<raw::Operation> find_operation(MPI_Op op, const Element& element) {
  const bool is_number = element.family == Family::integer || element.family == Family::floating;
  if (is_number && op == MPI_SUM) return ReduceOp::sum;
  if (is_number && op == MPI_PROD) return ReduceOp::product;
  if (is_number && op == MPI_MIN) return ReduceOp::min;
  if (is_number && op == MPI_MAX) return ReduceOp::max;
  const bool is_bitwise =
      op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR || op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
  if ((element.family == Family::integer && is_bitwise) ||
      (element.family == Family::complex && (op == MPI_SUM || op == MPI_PROD)) ||
      (element.family == Family::pair && (op == MPI_MINLOC || op == MPI_MAXLOC)))
    return combined_by_mpi(op, element);
  return {};
}

}  // namespace tca::interposer
