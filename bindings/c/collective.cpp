#include <algorithm>

#include "c/handles.hpp"
#include "c/options.hpp"

namespace tca::c {
namespace {

static_assert(static_cast<int>(CollectiveKind::all_to_all) == TCA_ALL_TO_ALL);
static_assert(static_cast<int>(DataType::float64) == TCA_FLOAT64);
static_assert(static_cast<int>(DataType::long_double) == TCA_LONG_DOUBLE);
static_assert(static_cast<int>(DataType::uint64) == TCA_UINT64);
static_assert(static_cast<int>(DataType::other) == TCA_OTHER);
static_assert(static_cast<int>(ReduceOp::sum) == TCA_SUM);
static_assert(static_cast<int>(ReduceOp::max) == TCA_MAX);
static_assert(static_cast<int>(ReduceOp::product) == TCA_PRODUCT);

raw::Operation operation_of(const tca_collective_request& given) {
  if (given.combine == nullptr) return enumerator(given.operation, ReduceOp::product, "tca_reduce_op");
  return [combine = given.combine, context = given.context](void* into, const void* left, const void* right,
                                                            std::size_t count) {
    combine(into, left, right, count, context);
  };
}

raw::Request request_of(const tca_collective_request* request) {
  static_cast<void>(present(request, "the request"));
  const tca_collective_request given = taken(request, TCA_COLLECTIVE_REQUEST_INIT, "request of a collective");
  const DataType type = enumerator(given.type, DataType::other, "tca_data_type");
  return {.kind = enumerator(given.kind, CollectiveKind::all_to_all, "tca_collective_kind"),
          .name = &present(given.name, "the name"),
          .type = type,
          .element_bytes =
              given.element_bytes == 0 ? std::max<std::size_t>(bytes_of(type), 1) : given.element_bytes,
          .count = given.count,
          .root = given.root,
          .operation = operation_of(given),
          .options = {.algorithm = text_of(given.algorithm),
                      .channel = text_of(given.channel),
                      .time_limit = limit_of(given.time_limit)}};
}

}  // namespace
}  // namespace tca::c

using namespace tca::c;

tca_status tca_collective_create(tca_world* world, const tca_collective_request* request, tca_window* from,
                                 tca_window* to, tca_collective** collective) {
  return guarded(__func__, [&] {
    tca_collective*& made = emptied(collective);
    tca::World& among = world_of(world);
    if (from == nullptr && to != nullptr) throw Misuse("there is a window to write, and none to read");
    if (from == nullptr) {
      made = make<tca_collective>(among, request_of(request));
    } else if (to == nullptr) {
      made = make<tca_collective>(among, request_of(request), object(from));
    } else {
      made = make<tca_collective>(among, request_of(request), object(from), object(to));
    }
  });
}

tca_status tca_collective_free(tca_collective* collective) {
  return guarded(__func__, [&] { destroy(collective); });
}

tca_status tca_collective_from(tca_collective* collective, tca_window** window) {
  return guarded(__func__, [&] {
    tca_window*& made = emptied(window);
    made = make<tca_window>(object(collective).from());
  });
}

tca_status tca_collective_to(tca_collective* collective, tca_window** window) {
  return guarded(__func__, [&] {
    tca_window*& made = emptied(window);
    made = make<tca_window>(object(collective).to());
  });
}

tca_status tca_collective_start(tca_collective* collective) {
  return guarded(__func__, [&] { object(collective).start(); });
}

tca_status tca_collective_test(tca_collective* collective) {
  return guarded(__func__, [&] { return finished(object(collective).test()); });
}

tca_status tca_collective_wait(tca_collective* collective) {
  return guarded(__func__, [&] { object(collective).wait(); });
}

tca_status tca_collective_wait_for(tca_collective* collective, double seconds) {
  return guarded(__func__, [&] { return finished(object(collective).wait_for(duration_of(seconds))); });
}

tca_status tca_collective_run(tca_collective* collective) {
  return guarded(__func__, [&] { object(collective).run(); });
}

tca_status tca_collective_start_on(tca_collective* collective, tca_stream stream) {
  return guarded(__func__, [&] { object(collective).start(stream); });
}

tca_status tca_collective_wait_on(tca_collective* collective, tca_stream stream) {
  return guarded(__func__, [&] { object(collective).wait(stream); });
}

tca_status tca_collective_run_on(tca_collective* collective, tca_stream stream) {
  return guarded(__func__, [&] { object(collective).run(stream); });
}

tca_status tca_collective_algorithm(tca_collective* collective, const char** name) {
  return guarded(__func__,
                 [&] { present(name, "the place for the name") = lent(object(collective).algorithm()); });
}

tca_status tca_collective_explain(tca_collective* collective, const char** text) {
  return guarded(__func__,
                 [&] { present(text, "the place for the text") = lent(object(collective).explain()); });
}
