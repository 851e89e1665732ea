#include <span>

#include "c/calls.hpp"
#include "c/handles.hpp"

namespace tca::c {
namespace {

// The bytes of these elements at a program's address.
template <class Byte, class Void>
std::span<Byte> bytes_at(const raw::Window& window, Void* address, int64_t elements) {
  std::size_t bytes = 0;
  if (elements < 0 ||
      __builtin_mul_overflow(static_cast<std::size_t>(elements), window.element_bytes(), &bytes))
    throw Misuse(fmt::format("{} elements cannot be", elements));
  return {static_cast<Byte*>(array(static_cast<Byte*>(address), bytes, "the host memory")), bytes};
}

}  // namespace
}  // namespace tca::c

using namespace tca::c;

tca_status tca_window_create(tca_world* world, int64_t elements, size_t element_bytes, const char* name,
                             tca_window** window) {
  return guarded(__func__, [&] {
    tca_window*& made = emptied(window);
    made = make<tca_window>(world_of(world), elements, element_bytes, text_of(name));
  });
}

tca_status tca_window_of_memory(tca_world* world, void* memory, int64_t elements, size_t element_bytes,
                                const char* name, tca_window** window) {
  return guarded(__func__, [&] {
    tca_window*& made = emptied(window);
    made = make<tca_window>(world_of(world), memory, elements, element_bytes, text_of(name));
  });
}

tca_status tca_window_view(tca_world* group, tca_window* window, tca_window** view) {
  return guarded(__func__, [&] {
    tca_window*& made = emptied(view);
    made = make<tca_window>(world_of(group).view(object(window)));
  });
}

tca_status tca_window_free(tca_window* window) {
  return guarded(__func__, [&] { destroy(window); });
}

tca_status tca_window_data(tca_window* window, void** data) {
  return guarded(__func__, [&] { present(data, "the place for the address") = object(window).data(); });
}

tca_status tca_window_element_bytes(tca_window* window, size_t* bytes) {
  return guarded(__func__,
                 [&] { present(bytes, "the place for the size") = object(window).element_bytes(); });
}

tca_status tca_window_elements(tca_window* window, int64_t* elements) {
  return guarded(__func__, [&] {
    present(elements, "the place for the elements") = static_cast<int64_t>(object(window).size());
  });
}

tca_status tca_window_elements_on(tca_window* window, int rank, int64_t* elements) {
  return guarded(__func__, [&] {
    present(elements, "the place for the elements") = static_cast<int64_t>(object(window).size_on(rank));
  });
}

tca_status tca_window_number(tca_window* window, uint32_t* number) {
  return guarded(__func__, [&] { present(number, "the place for the number") = object(window).number(); });
}

tca_status tca_window_read(tca_window* window, int64_t offset, int64_t elements, void* into) {
  return guarded(__func__, [&] {
    const tca::raw::Window& from = object(window);
    from.read(offset, bytes_at<std::byte>(from, into, elements));
  });
}

tca_status tca_window_write(tca_window* window, int64_t offset, int64_t elements, const void* from) {
  return guarded(__func__, [&] {
    const tca::raw::Window& to = object(window);
    to.write(offset, bytes_at<const std::byte>(to, from, elements));
  });
}

tca_status tca_put_now(tca_remote to, const void* element) {
  return guarded(__func__, [&] {
    object(to.window).on(to.rank).at(to.offset).put(
        &present(static_cast<const char*>(element), "the element"));
  });
}
