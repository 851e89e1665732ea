#include "mpi/census/collect.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "mpi/coll/elements.hpp"
#include "mpi/coll/limits.hpp"
#include "mpi/session.hpp"
#include "mpi/tally.hpp"

namespace tca::interposer::census {

namespace {

std::chrono::steady_clock::time_point begun;

constexpr std::array names{
#define HOOK(call, fortran, ...) Hooked<Call::call>::name,
#include "mpi/hooks.def"
#undef HOOK
};

template <class Handle, class Name>
std::string name_of(Handle handle, Name name, const char* otherwise) {
  std::array<char, MPI_MAX_OBJECT_NAME> text = {};
  int length = 0;
  name(handle, text.data(), &length);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : otherwise;
}

bool would_be_served(Call call, const What& what, std::int64_t bytes, int ranks) {
  const Call plain = with_small_counts(call);
  const bool combines =
      plain == Call::Reduce || plain == Call::Allreduce || plain == Call::Reduce_scatter_block;
  const bool has_something = bytes > 0 || call == Call::Barrier;
  return ranks > 1 && has_something && served_sizes(call).contain(bytes) &&
         (!combines || find_element(what.type) != nullptr);
}

nlohmann::json as_json(const Row& row) {
  return {row.rank,       row.call,  row.comm,  row.type,    row.ranks,
          row.size_class, row.calls, row.bytes, row.seconds, row.is_served};
}

Row from_json(const nlohmann::json& all) {
  return {all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8], all[9]};
}

// Gathers each rank's text on rank 0.
std::vector<std::string> gather(const std::string& mine) {
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), begins(lengths);
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] = begins[i - 1] + lengths[i - 1];
  std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), '\0');
  PMPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, 0,
               MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < begins.size() && rank == 0; ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

void write(const Census& census, const std::string& path) {
  std::ofstream file(path);
  if (file << json_lines(census) << std::flush) return;
  const int error = errno;
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none))
    std::filesystem::remove(path, none);  // it has a part only
  Session::get().say_here(fmt::format("the census cannot be written to {}: {}", path, std::strerror(error)));
}

}  // namespace

Counts& counts() {
  static auto* const all = new Counts;
  return *all;
}

void Counts::add(Call call, const What& what, double seconds) {
  int size = 0;
  if (what.type != MPI_DATATYPE_NULL) PMPI_Type_size(what.type, &size);
  const std::int64_t bytes = what.count * size;
  std::int64_t size_class = what.type == MPI_DATATYPE_NULL ? -1 : 0;
  if (bytes > 0) size_class = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes)));
  const std::lock_guard lock(mutex_);
  auto [place, is_new] = rows_.try_emplace({call, what.comm, what.type, size_class});
  if (is_new) place->second = named(call, what, size_class, bytes);
  Row& row = place->second;
  ++row.calls;
  row.bytes += bytes;
  row.seconds += seconds;
}

Row Counts::named(Call call, const What& what, std::int64_t size_class, std::int64_t bytes) const {
  Row row;
  row.call = names[static_cast<std::size_t>(call)];
  row.size_class = size_class;
  if (what.comm != MPI_COMM_NULL) {
    row.comm = name_of(what.comm, PMPI_Comm_get_name, "a communicator without a name");
    PMPI_Comm_size(what.comm, &row.ranks);
  }
  if (what.type != MPI_DATATYPE_NULL)
    row.type = name_of(what.type, PMPI_Type_get_name, "a datatype without a name");
  row.is_served = would_be_served(call, what, bytes, row.ranks);
  return row;
}

std::vector<Row> Counts::rows(int rank) const {
  std::vector<Row> all;
  for (const auto& [key, row] : rows_) {
    all.push_back(row);
    all.back().rank = rank;
  }
  return all;
}

void begin() {
  on = Settings::get().mode == Mode::census;
  begun = std::chrono::steady_clock::now();
}

void end() {
  if (!on) return;
  on = false;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  nlohmann::json mine{{"seconds", took.count()}, {"rows", nlohmann::json::array()}};
  for (const Row& row : counts().rows(rank)) mine["rows"].push_back(as_json(row));
  Census census;
  for (const std::string& text : gather(mine.dump())) {
    const nlohmann::json theirs = nlohmann::json::parse(text);
    census.seconds.push_back(theirs["seconds"]);
    for (const nlohmann::json& row : theirs["rows"]) census.rows.push_back(from_json(row));
  }
  if (rank != 0) return;
  fmt::print(stderr, "{}", table(census));
  if (!Settings::get().census_file.empty()) write(census, Settings::get().census_file);
}

}  // namespace tca::interposer::census
