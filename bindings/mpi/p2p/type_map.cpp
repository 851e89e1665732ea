#include "mpi/p2p/type_map.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace tca::interposer {

namespace {

constexpr std::size_t most_runs = std::size_t{1} << 16;
using Runs = std::vector<Run>;
// Empty where a datatype is not taken apart.
using Found = std::optional<Runs>;

// Joins it with the run before it where the two are one.
void append(Runs& runs, const Run& run) {
  if (run.all_bytes() == 0) return;
  if (!runs.empty() && run.count == 1) {
    Run& last = runs.back();
    if (last.count == 1 && last.offset + static_cast<MPI_Aint>(last.bytes) == run.offset) {
      last.bytes += run.bytes;
      return;
    }
    const MPI_Aint pitch = last.count > 1 ? last.pitch : run.offset - last.offset;
    if (last.bytes == run.bytes && last.offset + static_cast<MPI_Aint>(last.count) * pitch == run.offset) {
      last.pitch = pitch;
      ++last.count;
      return;
    }
  }
  runs.push_back(run);
}

void append(Runs& runs, const Runs& others, MPI_Aint at) {
  for (Run run : others) {
    run.offset += at;
    append(runs, run);
  }
}

// So many of them, `stride` apart.
Runs repeated(const Runs& runs, MPI_Aint count, MPI_Aint stride) {
  if (count == 1 || runs.empty() || count < 1) return count < 1 ? Runs() : runs;
  Run run = runs.front();
  if (runs.size() == 1) {
    const auto times = static_cast<std::size_t>(count);
    if (run.count == 1 && stride == static_cast<MPI_Aint>(run.bytes)) {
      run.bytes *= times;
      return {run};
    }
    if (run.count == 1 || stride == static_cast<MPI_Aint>(run.count) * run.pitch) {
      run.pitch = run.count == 1 ? stride : run.pitch;
      run.count *= times;
      return {run};
    }
  }
  Runs all;
  for (MPI_Aint each = 0; each < count && all.size() <= most_runs; ++each) append(all, runs, each * stride);
  return all;
}

Runs runs_of_named(MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  // The one among MPI's own with a gap between its parts.
  if (type == MPI_SHORT_INT)
    return {{.offset = 0, .bytes = sizeof(short)}, {.offset = sizeof(int), .bytes = sizeof(int)}};
  return size > 0 ? Runs{{.bytes = static_cast<std::size_t>(size)}} : Runs();
}

struct Envelope {
  std::size_t integers = 0, addresses = 0, large_counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

// As an MPI with large counts wants to be asked, since others of its functions refuse their datatypes.
Envelope envelope_of(MPI_Datatype type) {
  Envelope envelope;
#if MPI_VERSION >= 4
  MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
  PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &envelope.combiner);
  envelope.large_counts = static_cast<std::size_t>(large);
#else
  int integers = 0, addresses = 0, types = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &envelope.combiner);
#endif
  envelope.integers = static_cast<std::size_t>(integers);
  envelope.addresses = static_cast<std::size_t>(addresses);
  envelope.types = static_cast<std::size_t>(types);
  return envelope;
}

// What a datatype was made of.
struct Contents {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
  int combiner = MPI_COMBINER_NAMED;

  MPI_Aint integer(std::size_t index) const { return integers[index]; }
};

bool is_named(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX;
}

std::optional<Contents> contents_of(MPI_Datatype type) {
  Contents contents;
  const Envelope envelope = envelope_of(type);
  contents.combiner = envelope.combiner;
  if (envelope.large_counts > 0) return {};
  if (is_named(contents.combiner)) return contents;
  contents.integers.resize(envelope.integers);
  contents.addresses.resize(envelope.addresses);
  contents.types.resize(envelope.types);
  PMPI_Type_get_contents(type, static_cast<int>(envelope.integers), static_cast<int>(envelope.addresses),
                         static_cast<int>(envelope.types), contents.integers.data(),
                         contents.addresses.data(), contents.types.data());
  return contents;
}

void free_types(Contents& contents) {
  for (MPI_Datatype& type : contents.types)
    if (!is_named(combiner_of(type))) PMPI_Type_free(&type);
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint begin = 0, extent = 0;
  PMPI_Type_get_extent(type, &begin, &extent);
  return extent;
}

Found runs_of(MPI_Datatype type);

// Blocks of as many elements as `length` says, at the bytes that `at` says.
template <class Length, class At>
Runs blocks(const Runs& runs, MPI_Aint extent, MPI_Aint count, const Length& length, const At& at) {
  Runs all;
  for (MPI_Aint each = 0; each < count && all.size() <= most_runs; ++each)
    append(all, repeated(runs, length(static_cast<std::size_t>(each)), extent),
           at(static_cast<std::size_t>(each)));
  return all;
}

Runs runs_of_subarray(const Contents& contents, Runs runs, MPI_Aint extent) {
  const auto dimensions = static_cast<std::size_t>(contents.integers[0]);
  const bool is_c = contents.integers.back() == MPI_ORDER_C;
  MPI_Aint pitch = extent, begin = 0;
  for (std::size_t each = 0; each < dimensions; ++each) {
    const std::size_t dimension = 1 + (is_c ? dimensions - 1 - each : each);
    runs = repeated(runs, contents.integer(dimension + dimensions), pitch);
    begin += contents.integer(dimension + 2 * dimensions) * pitch;
    pitch *= contents.integer(dimension);
  }
  for (Run& run : runs) run.offset += begin;
  return runs;
}

Found runs_of_struct(const Contents& contents) {
  Runs all;
  for (std::size_t each = 0; each < contents.types.size(); ++each) {
    const Found inner = runs_of(contents.types[each]);
    if (!inner) return {};
    append(all, repeated(*inner, contents.integer(each + 1), extent_of(contents.types[each])),
           contents.addresses[each]);
  }
  return all;
}

Found runs_of_one(const Contents& contents) {
  const Found inner = runs_of(contents.types[0]);
  if (!inner) return {};
  const MPI_Aint extent = extent_of(contents.types[0]);
  const auto number = [&](std::size_t index) { return contents.integer(index); };
  const auto length_of_each = [&](std::size_t each) { return number(each + 1); };
  const auto same_length = [&](std::size_t) { return number(1); };
  const auto address = [&](std::size_t each) { return contents.addresses[each]; };
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return inner;
    case MPI_COMBINER_CONTIGUOUS:
      return repeated(*inner, number(0), extent);
    case MPI_COMBINER_VECTOR:
      return repeated(repeated(*inner, number(1), extent), number(0), number(2) * extent);
    case MPI_COMBINER_HVECTOR:
      return repeated(repeated(*inner, number(1), extent), number(0), address(0));
    case MPI_COMBINER_INDEXED:
      return blocks(*inner, extent, number(0), length_of_each, [&](std::size_t each) {
        return number(static_cast<std::size_t>(number(0)) + each + 1) * extent;
      });
    case MPI_COMBINER_HINDEXED:
      return blocks(*inner, extent, number(0), length_of_each, address);
    case MPI_COMBINER_INDEXED_BLOCK:
      return blocks(*inner, extent, number(0), same_length,
                    [&](std::size_t each) { return number(each + 2) * extent; });
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks(*inner, extent, number(0), same_length, address);
    case MPI_COMBINER_SUBARRAY:
      return runs_of_subarray(contents, *inner, extent);
    default:
      return {};
  }
}

Found runs_of(MPI_Datatype type) {
  std::optional<Contents> contents = contents_of(type);
  if (!contents) return {};
  if (is_named(contents->combiner)) return runs_of_named(type);
  Found found;
  if (contents->combiner == MPI_COMBINER_STRUCT)
    found = runs_of_struct(*contents);
  else if (contents->types.size() == 1)
    found = runs_of_one(*contents);
  free_types(*contents);
  return found && found->size() <= most_runs ? found : Found();
}

using Kept = std::shared_ptr<const TypeMap>;

int drop(MPI_Datatype, int, void* kept, void*) {
  delete static_cast<Kept*>(kept);
  return MPI_SUCCESS;
}

void copy_piece(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes == 4)
    std::memcpy(to, from, 4);
  else
    std::memcpy(to, from, bytes);
}

}  // namespace

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

Kept TypeMap::of(MPI_Datatype type) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop, &made, nullptr);
    return made;
  }();
  void* known = nullptr;
  int is_known = 0;
  PMPI_Type_get_attr(type, key, &known, &is_known);
  if (is_known) return *static_cast<Kept*>(known);
  const Found found = runs_of(type);
  Kept map = found ? std::make_shared<const TypeMap>(*found, extent_of(type)) : nullptr;
  PMPI_Type_set_attr(type, key, new Kept(map));
  return map;
}

TypeMap::TypeMap(std::vector<Run> runs, MPI_Aint extent)
    : runs_(std::move(runs)), begins_{0}, extent_(extent) {
  for (const Run& run : runs_) begins_.push_back(begins_.back() + run.all_bytes());
}

bool TypeMap::is_in_a_row(MPI_Count count) const {
  if (runs_.empty() || count == 0) return true;
  return runs_.size() == 1 && runs_[0].count == 1 &&
         (count == 1 || extent_ == static_cast<MPI_Aint>(runs_[0].bytes));
}

template <class Copy>
void TypeMap::for_each(std::size_t at, std::size_t bytes, const Copy& copy) const {
  if (bytes == 0) return;
  MPI_Aint element = static_cast<MPI_Aint>(at / size()) * extent_;
  const std::size_t within = at % size();
  auto run = static_cast<std::size_t>(std::ranges::upper_bound(begins_, within) - begins_.begin()) - 1;
  std::size_t skipped = within - begins_[run];
  for (;;) {
    const Run& here = runs_[run];
    std::size_t piece = skipped / here.bytes, begin = skipped % here.bytes;
    for (; piece < here.count; ++piece, begin = 0) {
      const std::size_t copied = std::min(bytes, here.bytes - begin);
      copy(element + here.offset + static_cast<MPI_Aint>(piece) * here.pitch + static_cast<MPI_Aint>(begin),
           copied);
      bytes -= copied;
      if (bytes == 0) return;
    }
    skipped = 0;
    if (++run == runs_.size()) {
      run = 0;
      element += extent_;
    }
  }
}

void TypeMap::gather(const std::byte* buffer, std::size_t at, std::size_t bytes, std::byte* into) const {
  for_each(at, bytes, [&](MPI_Aint offset, std::size_t piece) {
    copy_piece(into, buffer + offset, piece);
    into += piece;
  });
}

void TypeMap::scatter(std::byte* buffer, std::size_t at, std::size_t bytes, const std::byte* from) const {
  for_each(at, bytes, [&](MPI_Aint offset, std::size_t piece) {
    copy_piece(buffer + offset, from, piece);
    from += piece;
  });
}

}  // namespace tca::interposer
