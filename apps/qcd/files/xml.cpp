// The XML texts in records of LIME files.
#include <fmt/format.h>

#include "qcd/files/headers.hpp"

#ifdef OPENTCA_PUGIXML

#include <cstring>
#include <pugixml.hpp>

namespace tca::qcd {
namespace {

// The element's own text, which comments and CDATA sections may cut into several nodes.
std::string text_of(const pugi::xml_node& element) {
  std::string text;
  for (const pugi::xml_node& child : element.children())
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) text += child.value();
  return trimmed(text);
}

struct Walker : pugi::xml_tree_walker {
  explicit Walker(Header& into) : header(into) {}

  bool for_each(pugi::xml_node& node) override {
    if (node.type() != pugi::node_element) return true;
    const char* const colon = std::strchr(node.name(), ':');
    header.entries.emplace(colon == nullptr ? node.name() : colon + 1, text_of(node));
    return true;
  }

  Header& header;
};

}  // namespace

Header xml_header(const std::string& name, const std::string& text, const std::string& path) {
  pugi::xml_document document;
  const std::size_t bytes = text.find_last_not_of('\0') + 1;
  const pugi::xml_parse_result result = document.load_buffer(text.data(), bytes);
  if (!result)
    refuse(path, fmt::format("its {} is no XML: {} at byte {}", name, result.description(), result.offset));
  Header header{name, {}};
  Walker walker(header);
  document.traverse(walker);
  return header;
}

}  // namespace tca::qcd

#else

namespace tca::qcd {

Header xml_header(const std::string& name, const std::string&, const std::string& path) {
  refuse(path, fmt::format("its {} is XML, which this tca was built without; build it again where pugixml is "
                           "(apt-get install libpugixml-dev)",
                           name));
}

}  // namespace tca::qcd

#endif
