// What translated programs call for coarrays, and the functions of xmp.h about images.
#include "runtime/images/images.hpp"
#include "runtime/xmp.hpp"

using namespace tca::xacc;

namespace {

// Functions have no place in the source.
void synchronise(const char* name, int* status, const std::function<void(Images&)>& body) {
  const xacc_place at{"", 0, name};
  guarded(&at, [&] { body(Runtime::get().images()); });
  if (status) *status = 0;
}

}  // namespace

void xacc_coarray_make(void** memory, const char* name, size_t bytes, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().images().make(memory, name, bytes); });
}

void xacc_coarray_put(const xacc_section* to, int64_t image, const xacc_section* from, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().images().put(*to, image, *from); });
}

void xacc_coarray_get(const xacc_section* to, const xacc_section* from, int64_t image, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().images().get(*to, *from, image); });
}

const void* xacc_coarray_element(const xacc_section* from, int64_t image, const xacc_place* at) {
  const void* found = nullptr;
  guarded(at, [&] { found = Runtime::get().images().element(*from, image); });
  return found;
}

void xacc_lock(const void* object, int64_t image, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().images().lock(object, image, true); });
}

void xacc_unlock(const void* object, int64_t image, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().images().lock(object, image, false); });
}

void xacc_post(xacc_on to, int64_t tag, const xacc_place* at) {
  guarded(at, [&] {
    Runtime::get().device().wait(XACC_SYNC);  // who waits for it takes what stands in front of it as done
    for (const int rank : ranks_of(to)) Runtime::get().images().post(rank, tag);
  });
}

void xacc_wait_post(const xacc_on* from, int64_t tag, const xacc_place* at) {
  guarded(at, [&] {
    Runtime::get().images().wait_post(ranks_of(from ? *from : xacc_on_all()),
                                      tag < 0 ? std::nullopt : std::optional(tag));
  });
}

void xmp_sync_all(int* status) {
  synchronise("xmp_sync_all", status, [](Images& i) { i.meet(Runtime::get().executing_ranks()); });
}

void xmp_sync_memory(int* status) {
  synchronise("xmp_sync_memory", status, [](Images& i) { i.flush(); });
}

void xmp_sync_image(int image, int* status) {
  synchronise("xmp_sync_image", status, [&](Images& i) { i.meet_one(Images::rank_of(image)); });
}

void xmp_sync_images(int count, int* images, int* status) {
  synchronise("xmp_sync_images", status, [&](Images& i) { i.meet_some(images, count); });
}

void xmp_sync_images_all(int* status) { xmp_sync_all(status); }
