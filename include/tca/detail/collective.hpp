// What the templates of tca/coll.hpp hand to the library: a collective without types, and the windows that it
// works on. Programs name none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tca/collective.hpp"
#include "tca/detail/api.hpp"
#include "tca/device_window.hpp"
#include "tca/types.hpp"
#include "tca/world.hpp"

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

// What a program asks for.
struct Request {
  CollectiveKind kind = CollectiveKind::barrier;
  std::string name;
  std::int64_t count = 0;  // elements of a block: what one rank gives to one other, or gets
  int root = 0;
  bool in_place = false;
  CollOptions options;
};

// Returns what messages call a window that a collective makes for itself: `part` is "memory", "input",
// "output" or "scratch", as in "the scratch of allreduce 'residual'".
TCA_API std::string title_of(const char* part, CollectiveKind kind, const std::string& name);

// Makes such a window. Collective.
struct Memory {
  template <Element T>
  static Window<T> make(World& world, Count elements, std::string title) {
    return World::handle<T>(world.make_own_window(elements, sizeof(T), std::move(title)));
  }
};

// Which operation combines elements.
struct Reducer {
  std::optional<ReduceOp> op;   // nothing: a function of the program's own
  bool lacks_function = false;  // the program gave a std::function that holds none
};

// The windows of a collective, and what is done to their elements.
class TCA_API Elements {
 public:
  virtual ~Elements() = default;
  virtual std::size_t bytes() const = 0;                    // of an element
  virtual std::int64_t available(Buffer buffer) const = 0;  // elements from its beginning on
  virtual void make_scratch(World& world, std::int64_t elements, std::string title) = 0;
  virtual void put(Chain& chain, const Put& put) const = 0;
  virtual std::byte* data(Buffer buffer) const = 0;
  virtual std::uint32_t window_number(Buffer buffer) const = 0;
  virtual void read(Buffer buffer, std::int64_t first, std::span<std::byte> into) const = 0;
  virtual void write(Buffer buffer, std::int64_t first, std::span<const std::byte> from) const = 0;
  // into = left op right, for so many elements; `into` may be either of them.
  virtual void combine(std::byte* into, const std::byte* left, const std::byte* right,
                       std::size_t count) const = 0;
  // Nothing where the collective combines nothing.
  virtual std::optional<Reducer> reducer() const = 0;
  virtual DataType type() const = 0;
  // Every rank's part as kernels find it, and where in this rank's the buffer begins; only where there are
  // kernels.
  virtual DeviceWindow<std::byte> device(Buffer buffer) const = 0;
  virtual std::uint64_t first_byte(Buffer buffer) const = 0;
};

// The elements of so many blocks; 0 for counts that the constructor goes on to refuse on every rank.
TCA_API std::int64_t elements_of(Count count, int blocks, std::size_t element_bytes);

template <Element T>
class ElementsOf final : public Elements {
 public:
  // The input begins at element `input_first` of its window, the output at the first one.
  ElementsOf(Window<T> input, Window<T> output, std::int64_t input_first,
             std::optional<Operation<T>> operation)
      : input_(std::move(input)),
        output_(std::move(output)),
        input_first_(input_first),
        operation_(std::move(operation)) {}
  ElementsOf(Window<T> input, Window<T> output) : input_(std::move(input)), output_(std::move(output)) {}

  const Window<T>& input() const { return input_; }
  const Window<T>& output() const { return output_; }

  std::size_t bytes() const override { return sizeof(T); }
  std::int64_t available(Buffer buffer) const override {
    return static_cast<std::int64_t>(window(buffer).size()) - first(buffer);
  }
  void make_scratch(World& world, std::int64_t elements, std::string title) override {
    scratch_ = Memory::make<T>(world, elements, std::move(title));
  }
  void put(Chain& chain, const Put& put) const override {
    chain.put(window(put.to_buffer).on(put.to).at(put.to_first),
              window(put.from_buffer).at(first(put.from_buffer) + put.from_first), block(put.count));
  }
  std::byte* data(Buffer buffer) const override {
    return reinterpret_cast<std::byte*>(window(buffer).data() + first(buffer));
  }
  std::uint32_t window_number(Buffer buffer) const override { return window(buffer).number(); }
  void read(Buffer buffer, std::int64_t from, std::span<std::byte> into) const override {
    window(buffer).read(first(buffer) + from, {reinterpret_cast<T*>(into.data()), into.size() / sizeof(T)});
  }
  void write(Buffer buffer, std::int64_t to, std::span<const std::byte> from) const override {
    window(buffer).write(first(buffer) + to,
                         {reinterpret_cast<const T*>(from.data()), from.size() / sizeof(T)});
  }
  void combine(std::byte* into, const std::byte* left, const std::byte* right,
               std::size_t count) const override {
    (*operation_)(reinterpret_cast<T*>(into), reinterpret_cast<const T*>(left),
                  reinterpret_cast<const T*>(right), count);
  }
  std::optional<Reducer> reducer() const override {
    if (!operation_) return {};
    return Reducer{operation_->op(), operation_->lacks_function()};
  }
  DataType type() const override { return data_type_of<T>(); }
  DeviceWindow<std::byte> device(Buffer buffer) const override {
    const DeviceWindow<T> typed = window(buffer).device();
    DeviceWindow<std::byte> bytes;
    bytes.rank = typed.rank;
    bytes.size = typed.size;
    for (std::uint32_t rank = 0; rank < typed.size; ++rank) {
      bytes.parts[rank] = reinterpret_cast<std::byte*>(typed.parts[rank]);
      bytes.elements[rank] = typed.elements[rank] * sizeof(T);
    }
    return bytes;
  }
  std::uint64_t first_byte(Buffer buffer) const override {
    return static_cast<std::uint64_t>(first(buffer)) * sizeof(T);
  }

 private:
  const Window<T>& window(Buffer buffer) const {
    return buffer == Buffer::input ? input_ : buffer == Buffer::output ? output_ : *scratch_;
  }
  std::int64_t first(Buffer buffer) const { return buffer == Buffer::input ? input_first_ : 0; }

  Window<T> input_, output_;
  std::int64_t input_first_ = 0;
  std::optional<Operation<T>> operation_;
  std::optional<Window<T>> scratch_;
};

}  // namespace tca::coll
