// Which predefined datatypes and operations of MPI the library combines, and how. Ranks must give the same ones, so that what is
// decided by them is decided alike.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tca/raw/collective.hpp"

namespace tca::interposer {

enum class Family : std::uint8_t { integer, floating, complex, pair };

struct Element {
  MPI_Datatype type;
  Family family;
  DataType kind = DataType::other;  // other: MPI combines them, two buffers at a time
  std::size_t bytes = 0;            // from one element to the next
};

// Returns null for a datatype that the library does not combine.
const Element* find_element(MPI_Datatype type);

// Returns nothing where MPI does not define the operation for the element, or a program has made it itself.
std::optional<raw::Operation> find_operation(MPI_Op op, const Element& element);

}  // namespace tca::interposer
