#include "tca/post.hpp"

#include <bit>

#include "c/handles.hpp"
#include "c/layouts.hpp"

namespace tca::c {
namespace {

static_assert(sizeof(tca_token) == RegionToken::size);

RegionToken token_of(const tca_token* token) {
  return std::bit_cast<RegionToken>(present(token, "the token"));
}

}  // namespace
}  // namespace tca::c

using namespace tca::c;

tca_status tca_region_create(tca_world* world, int64_t bytes, tca_region** region) {
  return guarded(__func__, [&] {
    tca_region*& made = emptied(region);
    made = make<tca_region>(world_of(world), bytes);
  });
}

tca_status tca_region_of_memory(tca_world* world, void* memory, int64_t bytes, tca_region** region) {
  return guarded(__func__, [&] {
    tca_region*& made = emptied(region);
    made = make<tca_region>(world_of(world), memory, bytes);
  });
}

tca_status tca_region_data(tca_region* region, void** data) {
  return guarded(__func__, [&] { present(data, "the place for the address") = object(region).data(); });
}

tca_status tca_region_bytes(tca_region* region, size_t* bytes) {
  return guarded(__func__, [&] { present(bytes, "the place for the size") = object(region).size(); });
}

tca_status tca_region_token(tca_region* region, tca_token* token) {
  return guarded(__func__, [&] {
    present(token, "the place for the token") = std::bit_cast<tca_token>(object(region).token());
  });
}

tca_status tca_region_free(tca_region* region) {
  return guarded(__func__, [&] { destroy(region); });
}

tca_status tca_token_rank(const tca_token* token, int* rank) {
  return guarded(__func__, [&] { present(rank, "the place for the rank") = token_of(token).rank(); });
}

tca_status tca_token_bytes(const tca_token* token, size_t* bytes) {
  return guarded(__func__, [&] { present(bytes, "the place for the size") = token_of(token).bytes(); });
}

tca_status tca_post_create(tca_world* world, const char* name, tca_post** post) {
  return guarded(__func__, [&] {
    tca_post*& made = emptied(post);
    made = make<tca_post>(world_of(world), text_of(name));
  });
}

tca_status tca_post_put(tca_post* post, const tca_token* to, int64_t at, const tca_layout* to_layout,
                        const void* from, int64_t elements, const tca_layout* from_layout,
                        size_t element_bytes) {
  return guarded(__func__, [&] {
    tca::Post& all = object(post);
    const tca_layout& there = present(to_layout, "the layout");
    const tca_layout& here = from_layout == nullptr ? there : *from_layout;
    const std::byte& source = present(static_cast<const std::byte*>(from), "the source");
    if (here.first < 0 || here.first > elements)
      throw Misuse(fmt::format("the source begins at element {} of {}", here.first, elements));
    all.put_untyped(token_of(to), at + there.first, layout_of(there),
                    &source + static_cast<std::size_t>(here.first) * element_bytes, elements - here.first,
                    layout_of(here), element_bytes);
  });
}

tca_status tca_post_notify(tca_post* post, int rank, int slot, uint32_t tag) {
  return guarded(__func__, [&] { object(post).notify(rank, slot, tag); });
}

tca_status tca_post_clear(tca_post* post) {
  return guarded(__func__, [&] { object(post).clear(); });
}

tca_status tca_post_start(tca_post* post) {
  return guarded(__func__, [&] { object(post).start(); });
}

tca_status tca_post_test(tca_post* post) {
  return guarded(__func__, [&] { return finished(object(post).test()); });
}

tca_status tca_post_wait(tca_post* post) {
  return guarded(__func__, [&] { object(post).wait(); });
}

tca_status tca_post_wait_for(tca_post* post, double seconds) {
  return guarded(__func__, [&] { return finished(object(post).wait_for(duration_of(seconds))); });
}

tca_status tca_post_run(tca_post* post) {
  return guarded(__func__, [&] { object(post).run(); });
}

tca_status tca_post_flush(tca_post* post) {
  return guarded(__func__, [&] { object(post).flush(); });
}

tca_status tca_post_flush_for(tca_post* post, double seconds) {
  return guarded(__func__, [&] { return finished(object(post).flush_for(duration_of(seconds))); });
}

tca_status tca_post_free(tca_post* post) {
  return guarded(__func__, [&] { destroy(post); });
}

tca_status tca_notices_create(tca_world* world, tca_notices** notices) {
  return guarded(__func__, [&] {
    tca_notices*& made = emptied(notices);
    made = make<tca_notices>(world_of(world));
  });
}

tca_status tca_notices_test(tca_notices* notices, int source, int slot, uint32_t tag) {
  return guarded(__func__, [&] { return finished(object(notices).test({source, slot, tag})); });
}

tca_status tca_notices_wait(tca_notices* notices, int source, int slot, uint32_t tag) {
  return guarded(__func__, [&] { object(notices).wait({source, slot, tag}); });
}

tca_status tca_notices_wait_for(tca_notices* notices, int source, int slot, uint32_t tag, double seconds,
                                double already) {
  return guarded(__func__, [&] {
    return finished(
        object(notices).wait_for({source, slot, tag}, duration_of(seconds), duration_of(already)));
  });
}

tca_status tca_notices_test_any(tca_notices* notices, int source, int slot, uint32_t* tag) {
  return guarded(__func__, [&] {
    uint32_t& found = present(tag, "the place for the tag");
    const std::optional<tca::Notice> notice = object(notices).test_any(source, slot);
    if (notice) found = notice->tag;
    return finished(notice.has_value());
  });
}

tca_status tca_notices_free(tca_notices* notices) {
  return guarded(__func__, [&] { destroy(notices); });
}
