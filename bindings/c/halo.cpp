#include <algorithm>
#include <span>
#include <vector>

#include "c/chains.hpp"
#include "c/handles.hpp"
#include "c/layouts.hpp"

namespace tca::c {
namespace {

std::vector<GhostWidth> widths(const tca_ghost_width* given, std::size_t dims) {
  if (given == nullptr) return {};
  std::vector<GhostWidth> all(dims);
  std::transform(given, given + dims, all.begin(), [](const tca_ghost_width& width) {
    return GhostWidth{width.low, width.high};
  });
  return all;
}

HaloOptions halo_options_of(const tca_halo_options* given, std::size_t dims) {
  constexpr const char* what = "options of a halo";
  const tca_halo_options options = taken(given, TCA_HALO_OPTIONS_INIT, what);
  require_unset(options.reserved, what);
  return {.width = widths(options.width, dims),
          .exchange = widths(options.exchange, dims),
          .corners = options.corners != 0,
          .chain = chain_options_of(options.chain)};
}

std::size_t field_of(int number) {
  if (number < 0) throw Misuse(fmt::format("fields are counted from 0; {} is none", number));
  return static_cast<std::size_t>(number);
}

std::span<const int> side_of(const Halo& halo, const int* side) {
  const std::size_t dims = halo.extents().size();
  return {array(side, dims, "the side"), dims};
}

}  // namespace
}  // namespace tca::c

using namespace tca::c;

tca_status tca_halo_create(tca_world* world, const char* name, const tca_grid* grid, const int64_t* interior,
                           const tca_halo_options* options, tca_halo** halo) {
  return guarded(__func__, [&] {
    tca_halo*& made = emptied(halo);
    const tca::Grid over = grid_of(present(grid, "the grid"));
    const auto dims = static_cast<std::size_t>(over.dims());
    const int64_t* const cells = array(interior, dims, "the interior");
    made = make<tca_halo>(world_of(world), std::string(&present(name, "the name")), over,
                          std::vector<int64_t>(cells, cells + dims), halo_options_of(options, dims));
  });
}

tca_status tca_halo_free(tca_halo* halo) {
  return guarded(__func__, [&] { destroy(halo); });
}

tca_status tca_halo_extents(tca_halo* halo, int64_t* extents) {
  return guarded(__func__, [&] {
    const std::span<const int64_t> all = object(halo).extents();
    std::ranges::copy(all, array(extents, all.size(), "the place for the extents"));
  });
}

tca_status tca_halo_elements(tca_halo* halo, int64_t* elements) {
  return guarded(__func__,
                 [&] { present(elements, "the place for the elements") = object(halo).elements(); });
}

tca_status tca_halo_index(tca_halo* halo, const int64_t* cell, int64_t* offset) {
  return guarded(__func__, [&] {
    const tca::Halo& all = object(halo);
    const std::size_t dims = all.extents().size();
    present(offset, "the place for the offset") = all.index(std::span(array(cell, dims, "the cell"), dims));
  });
}

tca_status tca_halo_add(tca_halo* halo, tca_window* window, int64_t offset) {
  return guarded(__func__, [&] { object(halo).add(object(window), offset); });
}

tca_status tca_halo_add_counted(tca_halo* halo, tca_window* window, int64_t offset) {
  return guarded(__func__, [&] { object(halo).add_counted(object(window), offset); });
}

tca_status tca_halo_to(tca_halo* halo, int field, const int* side, tca_counted_put** put) {
  return guarded(__func__, [&] {
    tca_counted_put*& made = emptied(put);
    const tca::Halo& all = object(halo);
    const auto end = all.to(field_of(field), side_of(all, side));
    if (end) made = make<tca_counted_put>(*end);
  });
}

tca_status tca_halo_from(tca_halo* halo, int field, const int* side, tca_counted_arrival** arrival) {
  return guarded(__func__, [&] {
    tca_counted_arrival*& made = emptied(arrival);
    const tca::Halo& all = object(halo);
    const auto end = all.from(field_of(field), side_of(all, side));
    if (end) made = make<tca_counted_arrival>(*end);
  });
}

tca_status tca_halo_commit(tca_halo* halo) {
  return guarded(__func__, [&] { object(halo).commit(); });
}

tca_status tca_halo_start(tca_halo* halo) {
  return guarded(__func__, [&] { object(halo).start(); });
}

tca_status tca_halo_test(tca_halo* halo) {
  return guarded(__func__, [&] { return finished(object(halo).test()); });
}

tca_status tca_halo_wait(tca_halo* halo) {
  return guarded(__func__, [&] { object(halo).wait(); });
}

tca_status tca_halo_wait_for(tca_halo* halo, double seconds) {
  return guarded(__func__, [&] { return finished(object(halo).wait_for(duration_of(seconds))); });
}

tca_status tca_halo_run(tca_halo* halo) {
  return guarded(__func__, [&] { object(halo).run(); });
}

tca_status tca_halo_start_on(tca_halo* halo, tca_stream stream) {
  return guarded(__func__, [&] { object(halo).start(stream); });
}

tca_status tca_halo_wait_on(tca_halo* halo, tca_stream stream) {
  return guarded(__func__, [&] { object(halo).wait(stream); });
}

tca_status tca_halo_run_on(tca_halo* halo, tca_stream stream) {
  return guarded(__func__, [&] { object(halo).run(stream); });
}

tca_status tca_halo_explain(tca_halo* halo, const char** text) {
  return guarded(__func__, [&] { present(text, "the place for the text") = lent(object(halo).explain()); });
}
