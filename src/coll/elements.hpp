// The windows of a collective: where the elements are that its schedule puts and combines, and how to
// combine them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/combine.hpp"
#include "tca/chain.hpp"
#include "tca/raw/collective.hpp"

namespace tca::coll {

// A rank's memory as the algorithms see it. Input and output may be the same.
enum class Buffer : std::uint8_t { input, output, scratch };

// Elements from `from_first` of a buffer of this rank to `to_first` of one of rank `to`. A put of no elements
// is a signal.
struct Put {
  int to = 0;
  Buffer to_buffer = Buffer::output;
  std::int64_t to_first = 0;
  Buffer from_buffer = Buffer::input;
  std::int64_t from_first = 0;
  std::int64_t count = 0;
};

// Whether a collective of this kind combines elements.
constexpr bool combines(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

// Returns the name that messages use for a window that a collective makes for itself: `part` is "memory",
// "input", "output" or "scratch", as in "the scratch of allreduce 'residual'".
std::string title_of(const char* part, CollectiveKind kind, const std::string& name);

// Makes such a window. Collective.
raw::Window make_memory(World& world, std::int64_t elements, std::size_t element_bytes, std::string title);

class Elements {
 public:
  // Collective. Makes the collective's own windows.
  static Elements with_own_memory(World& world, const raw::Request& request);

  // With a single window, the collective works in place.
  Elements(const World& world, const raw::Request& request, raw::Window window);
  Elements(const raw::Request& request, raw::Window input, raw::Window output);

  const raw::Window& input() const { return input_; }
  const raw::Window& output() const { return output_; }
  bool in_place() const { return in_place_; }
  DataType type() const { return type_; }
  std::size_t bytes() const { return bytes_; }  // of an element
  std::int64_t available(Buffer buffer) const;  // counted from the start of the buffer
  std::byte* data(Buffer buffer) const;
  std::uint32_t window_number(Buffer buffer) const { return window(buffer).number(); }

  void make_scratch(World& world, std::int64_t elements, std::string title);
  void put(Chain& chain, const Put& put) const;
  void read(Buffer buffer, std::int64_t from, std::span<std::byte> into) const;
  void write(Buffer buffer, std::int64_t to, std::span<const std::byte> from) const;

  // into = left op right, for `count` elements; `into` may be either of them.
  void combine(std::byte* into, const std::byte* left, const std::byte* right, std::size_t count) const {
    if (loop_ != nullptr) return loop_(into, left, right, count);
    std::get<raw::Combiner> (*operation_)(into, left, right, count);
  }

  // Null if the collective combines nothing.
  const raw::Operation* operation() const { return operation_ ? &*operation_ : nullptr; }
  // The operation, if it is one of the library's.
  std::optional<ReduceOp> op() const;
  bool has_own_function() const { return operation_ && !op(); }

  // Every rank's part as kernels see it, and the buffer's offset in this rank's part, in bytes; only if
  // there are kernels.
  const DeviceWindow<std::byte>& device(Buffer buffer) const { return window(buffer).device(); }
  std::uint64_t first_byte(Buffer buffer) const { return static_cast<std::uint64_t>(first(buffer)) * bytes_; }

 private:
  Elements(const raw::Request& request, raw::Window input, raw::Window output, std::int64_t input_first,
           bool in_place);
  const raw::Window& window(Buffer buffer) const {
    return buffer == Buffer::input ? input_ : buffer == Buffer::output ? output_ : *scratch_;
  }
  std::int64_t first(Buffer buffer) const { return buffer == Buffer::input ? input_first_ : 0; }

  raw::Window input_, output_;
  std::int64_t input_first_;
  bool in_place_;
  DataType type_;
  std::size_t bytes_;
  std::optional<raw::Operation> operation_;
  base::CombineLoop loop_ = nullptr;  // for an operation of the library's
  std::optional<raw::Window> scratch_;
};

}  // namespace tca::coll
