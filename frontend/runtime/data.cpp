// OpenACC's data where the device is the host: nothing is copied, but what is there and who brought it is
// known.
#include <algorithm>

#include "runtime/runtime.hpp"

namespace tca::xacc {
namespace {

struct Entry {
  std::string name;
  const char* begin;
  std::size_t bytes;
  std::string where;
  int count;
};

std::vector<Entry>& table() {
  static std::vector<Entry> entries;
  return entries;
}

Entry* find(const xacc_item& item) {
  const auto* address = static_cast<const char*>(item.address);
  for (Entry& e : table())
    if (address == e.begin || (address > e.begin && address < e.begin + e.bytes)) return &e;
  return nullptr;
}

std::string known() {
  std::string text;
  for (const Entry& e : table()) text += (text.empty() ? "" : ", ") + e.name + " (" + e.where + ")";
  return text.empty() ? "nothing is" : "there are " + text;
}

void enter(const xacc_item& item, const xacc_place& at) {
  if (Entry* entry = find(item)) {
    ++entry->count;
    return;
  }
  if (item.clause == XACC_PRESENT)
    refuse(std::string(item.name) + " is not present on the device; " + known());
  table().push_back({item.name, static_cast<const char*>(item.address), item.bytes,
                     std::string(at.file) + ":" + std::to_string(at.line), 1});
}

void leave(const xacc_item& item) {
  Entry* entry = find(item);
  if (entry && --entry->count == 0) table().erase(table().begin() + (entry - table().data()));
}

}  // namespace
}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_enter_data(const xacc_item* items, int count, const xacc_place* at) {
  guarded(at, [&] {
    for (int i = 0; i < count; ++i) enter(items[i], *at);
  });
}

xacc_data xacc_data_enter(const xacc_item* items, int count, const xacc_place* at) {
  xacc_enter_data(items, count, at);
  return {items, count, at};
}

void xacc_data_leave(xacc_data* data) { xacc_exit_data(data->items, data->count, data->at); }

void xacc_exit_data(const xacc_item* items, int count, const xacc_place* at) {
  guarded(at, [&] {
    for (int i = count; i-- > 0;) leave(items[i]);
  });
}

void xacc_update(const xacc_item* items, int count, const xacc_place* at) {
  guarded(at, [&] {
    for (int i = 0; i < count; ++i)
      if (!find(items[i])) refuse(std::string(items[i].name) + " is not present on the device; " + known());
  });
}
