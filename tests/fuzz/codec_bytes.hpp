// Any bytes are decoded as some values, or refused as data of another version. The first half says which values are asked for.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "base/codec.hpp"
#include "must.hpp"

namespace tca::fuzz {

inline std::string try_codec(std::string_view bytes) {
  const std::string_view asked = bytes.substr(0, bytes.size() / 2);
  base::Blob blob(bytes.size() - asked.size());
  if (!blob.empty()) std::memcpy(blob.data(), bytes.data() + asked.size(), blob.size());
  base::Reader reader(blob);
  return refusal(Errc::incompatible, [&] {
    for (const char what : asked) {
      switch (static_cast<unsigned char>(what) % 5) {
        case 0:
          reader.get<std::uint8_t>();
          break;
        case 1:
          reader.get<double>();
          break;
        case 2:
          reader.get_number();
          break;
        case 3:
          must(reader.get_string().size() <= blob.size(), "a string beyond its bytes", {});
          break;
        default:
          must(reader.rest().empty() == reader.done(), "a rest behind the end", {});
      }
    }
  });
}

}  // namespace tca::fuzz
