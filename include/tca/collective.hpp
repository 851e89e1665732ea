// What every collective is: rounds of committed chains over typed windows, or a kernel where the fabric has one. Programs
// name the classes of tca/coll.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "tca/device_window.hpp"
#include "tca/stream.hpp"
#include "tca/world.hpp"

namespace tca {

// What a reduction does to two values; a function of the program's own takes its place where these do not do.
enum class Op { sum, min, max, product };

struct CollOptions {
  // Forces an algorithm, such as "ring" or, on cuda, "kernel_ll"; by size, ranks and the route's costs when empty. The
  // same on every rank.
  std::string algorithm = {};
  // Forces a channel for every put, as ChainOptions::route does; it is then made of chains.
  std::string route = {};
  // How long each round may keep `wait` waiting; the world's limit when not given.
  std::optional<std::chrono::milliseconds> time_limit = {};
};

namespace coll {

enum class Kind : std::uint8_t { barrier, broadcast, all_gather, all_reduce, reduce_scatter, all_to_all };

// A rank's memory as the algorithms see it. Input and output may be the same.
enum class Buffer : std::uint8_t { input, output, scratch };

// Elements from `first` of a buffer of this rank to `to_first` of one of rank `to`. No elements: a signal.
struct Put {
  int to = 0;
  Buffer to_buffer = Buffer::output;
  std::int64_t to_first = 0;
  Buffer from_buffer = Buffer::input;
  std::int64_t from_first = 0;
  std::int64_t count = 0;
};

// Whether ranks mean the same by their elements' bytes. The first four a fabric's kernels can combine.
enum class ElementType : std::uint8_t {
  float32,
  float64,
  int32,
  int64,
  long_double,
  int8,
  int16,
  uint8,
  uint16,
  uint32,
  uint64,
  other
};

template <class T>
constexpr ElementType type_of() {
  if (std::is_same_v<T, float>) return ElementType::float32;
  if (std::is_same_v<T, double>) return ElementType::float64;
  if (std::is_same_v<T, long double>) return ElementType::long_double;
  if (!std::is_integral_v<T> || std::is_same_v<T, bool>) return ElementType::other;
  switch (sizeof(T)) {
    case 1:
      return std::is_signed_v<T> ? ElementType::int8 : ElementType::uint8;
    case 2:
      return std::is_signed_v<T> ? ElementType::int16 : ElementType::uint16;
    case 4:
      return std::is_signed_v<T> ? ElementType::int32 : ElementType::uint32;
    case 8:
      return std::is_signed_v<T> ? ElementType::int64 : ElementType::uint64;
    default:
      return ElementType::other;
  }
}

// What is asked for, in a form without types.
struct Request {
  Kind kind = Kind::barrier;
  std::string name;
  std::int64_t count = 0;  // elements of a block: what one rank gives to one other, or gets
  int root = 0;
  bool in_place = false;
  CollOptions options;
};

// The windows of a collective, and what is done to their elements.
class Elements {
 public:
  virtual ~Elements() = default;
  virtual std::size_t bytes() const = 0;                    // of an element
  virtual std::int64_t available(Buffer buffer) const = 0;  // elements from its beginning on
  virtual void make_scratch(World& world, std::int64_t elements) = 0;
  virtual void put(Chain& chain, const Put& put) const = 0;
  virtual std::byte* data(Buffer buffer) const = 0;
  virtual std::uint32_t window_number(Buffer buffer) const = 0;
  virtual void read(Buffer buffer, std::int64_t first, std::span<std::byte> into) const = 0;
  virtual void write(Buffer buffer, std::int64_t first, std::span<const std::byte> from) const = 0;
  // into = left op right, for so many elements; `into` may be either of them.
  virtual void combine(std::byte* into, const std::byte* left, const std::byte* right,
                       std::size_t count) const = 0;
  // A number for the operation, the same on every rank that has the same; `own_operation` for a program's own,
  // `empty_operation` for a std::function that holds none.
  virtual int operation() const = 0;
  virtual ElementType type() const = 0;
  // Every rank's part as kernels find it, and where in this rank's the buffer begins; only where there are kernels.
  virtual DeviceWindow<std::byte> device(Buffer buffer) const = 0;
  virtual std::uint64_t first_byte(Buffer buffer) const = 0;
};

inline constexpr int no_operation = -1, own_operation = 100, empty_operation = 101;

// So many blocks of elements; 0 for counts that the constructor goes on to refuse on every rank.
std::int64_t elements_of(Count count, int blocks, std::size_t element_bytes);

template <class T>
using Kernel = void (*)(T* into, const T* left, const T* right, std::size_t count);

// For the arithmetic types except bool.
template <class T>
Kernel<T> kernel_of(Op op);

class State;

}  // namespace coll

// Two values into one: an Op, or a function of the program's own, which must be associative. It is called with the
// value of the lower rank on the left, and only on the host.
template <Element T>
class Operation {
 public:
  Operation(Op op) requires(std::is_arithmetic_v<T> &&
                            !std::is_same_v<T, bool>)  // NOLINT: implicit, as is the next
      : kernel_(coll::kernel_of<T>(op)), number_(static_cast<int>(op)) {}

  template <class F>
  requires std::is_invocable_r_v<T, F, T, T> Operation(F function)  // NOLINT
      : function_(std::move(function)), number_(function_ ? coll::own_operation : coll::empty_operation) {}

  int number() const { return number_; }

  void operator()(T* into, const T* left, const T* right, std::size_t count) const {
    if (kernel_ != nullptr) return kernel_(into, left, right, count);
    for (std::size_t i = 0; i < count; ++i) into[i] = function_(left[i], right[i]);
  }

 private:
  coll::Kernel<T> kernel_ = nullptr;
  std::function<T(T, T)> function_;
  int number_;
};

// A collective that is set up once and run as often as needed, with the promises of a chain: `start` n takes the input
// as it is, `wait` n returns when it may be overwritten and the output is here, and the output is left alone until this
// rank's `start` n+1. Rounds after the first are driven by its own `wait` and `test` only, so ranks that have several
// collectives under way must wait for them in the same order.
class Collective {
 public:
  // Never blocks. Throws Error{invalid_argument} while a run is under way.
  void start();
  // Without blocking; true as well when none is under way. Throws as `wait` does.
  bool test();
  // Throws Error{timed_out} or Error{rank_lost}; the message names the collective, its round, the step and who is
  // missing. Throws Error{invalid_argument} where the last run was ordered on a stream.
  void wait();
  void operator()() {
    start();
    wait();
  }

  // The same ordered on an accelerator's stream, which may be captured in a graph: `start` takes the input as it is once the
  // stream comes to it, `wait` holds the stream, `run` is both, in one kernel where the fabric runs the whole (`algorithm`
  // begins with "kernel") and chain behind chain elsewhere; the host waits for neither, except where ranks that are threads
  // share a GPU (docs/gpu.md). What such a run meets is thrown by the next call on a stream, or by World::check. On cuda
  // and cuda+mpi for all but reductions by an operation of the program's own, or of other types than float, double, int32 and
  // int64. Throw Error{invalid_argument} for these, and where there are no streams. Destroy a collective only when
  // its runs on streams are over.
  void start(Stream stream);
  void wait(Stream stream);
  void run(Stream stream);

  // What was chosen, e.g. "recursive_doubling".
  const std::string& algorithm() const;

  // The algorithms that there are for this, with predicted times, and the chains of the chosen one; see Chain::explain.
  // Its chains have names of their own, which begin with the collective's.
  std::string explain() const;

  // A collective that was moved from may only be destroyed or assigned to.
  Collective(Collective&&) noexcept;
  Collective& operator=(Collective&&) noexcept;
  ~Collective();

 protected:
  // Collective. Throws Error{refused}, with the same message on every rank, when ranks disagree or ask for what cannot be.
  Collective(World& world, coll::Request request, std::unique_ptr<coll::Elements> elements);

  // Throws what `start` would, before anything is written.
  void require_startable() const;

  // Whether windows are memory that the host may follow pointers into.
  bool on_host() const;
  [[noreturn]] void fail_size(std::size_t have, std::size_t want) const;

 private:
  std::unique_ptr<coll::State> state_;
};

namespace coll {

template <Element T>
class ElementsOf final : public Elements {
 public:
  // `input_first`: where in its window the input begins, that of output is at the beginning.
  ElementsOf(Window<T> input, Window<T> output, std::int64_t input_first = 0,
             std::optional<Operation<T>> operation = {})
      : input_(std::move(input)),
        output_(std::move(output)),
        input_first_(input_first),
        operation_(std::move(operation)) {}

  const Window<T>& input() const { return input_; }
  const Window<T>& output() const { return output_; }

  std::size_t bytes() const override { return sizeof(T); }
  std::int64_t available(Buffer buffer) const override {
    return static_cast<std::int64_t>(window(buffer).size()) - first(buffer);
  }
  void make_scratch(World& world, std::int64_t elements) override { scratch_ = world.window<T>(elements); }
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
  int operation() const override { return operation_ ? operation_->number() : no_operation; }
  ElementType type() const override { return type_of<T>(); }
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
  std::int64_t input_first_;
  std::optional<Operation<T>> operation_;
  std::optional<Window<T>> scratch_;
};

}  // namespace coll
}  // namespace tca
