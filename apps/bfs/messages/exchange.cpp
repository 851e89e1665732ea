#include "bfs/messages/exchange.hpp"

namespace tca::bfs {

std::string_view name_of(Message message) {
  switch (message) {
    case Message::out:
      return "OUT";
    case Message::flag:
      return "FLAG";
    default:
      return "TREE";
  }
}

std::int64_t Sending::bytes() const {
  std::int64_t all = 0;
  for (const Part& part : parts) all += part.count * static_cast<std::int64_t>(part.window.element_bytes());
  return all;
}

}  // namespace tca::bfs
