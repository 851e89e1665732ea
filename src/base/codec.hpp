// Encodes values and strings as bytes and decodes them again: the data that ranks of the same version
// exchange during set-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fail.hpp"

namespace tca::base {

using Blob = std::vector<std::byte>;

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Writer& put(const T& value) {
    append(&value, sizeof value);
    return *this;
  }

  Writer& put_string(std::string_view text) {
    put(text.size());
    append(text.data(), text.size());
    return *this;
  }

  // Encodes a small number in few bytes: seven bits per byte, the lowest bits first. The eighth bit is set
  // while more bytes follow.
  Writer& put_number(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) put(static_cast<std::uint8_t>(number | 0x80));
    return put(static_cast<std::uint8_t>(number));
  }

  Writer& put_blob(const Blob& blob) {
    append(blob.data(), blob.size());
    return *this;
  }

  const Blob& blob() const { return blob_; }

 private:
  void append(const void* data, std::size_t bytes) {
    if (bytes == 0) return;
    blob_.resize(blob_.size() + bytes);
    std::memcpy(blob_.data() + blob_.size() - bytes, data, bytes);
  }

  Blob blob_;
};

class Reader {
 public:
  explicit Reader(const Blob& blob) : blob_(blob) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }

  std::string get_string() {
    const auto size = get<std::size_t>();
    return {reinterpret_cast<const char*>(take(size)), size};
  }

  std::uint64_t get_number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<std::uint8_t>();
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    return number;
  }

  Blob get_blob(std::size_t bytes) {
    const std::byte* const data = take(bytes);
    return {data, data + bytes};
  }

  void skip(std::size_t bytes) { take(bytes); }

  bool done() const { return at_ == blob_.size(); }
  Blob rest() const { return Blob(blob_.begin() + static_cast<std::ptrdiff_t>(at_), blob_.end()); }

 private:
  const std::byte* take(std::size_t bytes) {
    if (bytes > blob_.size() - at_)
      fail(Errc::incompatible, "a rank sent {} bytes of set-up data, more were due", blob_.size());
    const std::byte* data = blob_.data() + at_;
    at_ += bytes;
    return data;
  }

  const Blob& blob_;
  std::size_t at_ = 0;
};

}  // namespace tca::base
