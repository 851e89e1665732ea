// Of memory that the host and the device both have, which of the two copies is the newer one, byte by byte.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"

namespace tca::xacc {

class TwoCopies {
 public:
  enum Side : int { host, device };

  // What data directives do, in front of it or behind it as the names say.
  void entered(const xacc_item& item);
  void left(const xacc_item& item);
  void updated(const xacc_item& item, const xacc_place& at);

  // An access on a side; `what` is the element, for messages. Returns where its memory is on that side. Throws Error where
  // the copy that is read is older than the other one.
  void* touch(void* memory, std::size_t bytes, int access, Side side, const xacc_place& at,
              const std::string& what);
  void wrote(void* memory, std::size_t bytes, Side side, const xacc_place& at);
  // What bears the name of `at`, or which element of it this is.
  std::string name_of(const void* memory, std::size_t bytes, const xacc_place& at);

 private:
  struct Copied {
    std::size_t bytes = 0;
    std::vector<std::uint8_t> stale = {};  // of each byte, which of the copies: bits
    std::string written[2] = {};           // where each was last written
  };
  // None where the device has no copy.
  Copied* find(const void* memory, std::size_t* offset);
  // `newer` says where the other side wrote.
  [[noreturn]] static void refuse_old(const std::string& newer, Side side, const std::string& variable,
                                      const std::string& what);

  std::map<const std::byte*, Copied> copies_;
};

}  // namespace tca::xacc
