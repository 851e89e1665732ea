#include "mpi/callers.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "mpi/hook.hpp"
#include "mpi/p2p/names.hpp"

namespace tca::interposer {

namespace {

using Dynamic = ElfW(Dyn);
using Relocation = ElfW(Rela);
using Symbol = ElfW(Sym);

// Of MPI 4.1, where the hooks are of an older one.
constexpr bool is_newer_than_hooks([[maybe_unused]] std::string_view symbol) {
#if TCA_HAS_MPI_4_1
  return false;
#else
  return symbol.starts_with("MPI_Request_get_status_");
#endif
}

bool is_past_hooks(std::string_view symbol) {
  if (is_newer_than_hooks(symbol)) return true;
  if (!symbol.starts_with("PMPI_")) return false;
  symbol.remove_prefix(5);
  if (symbol.ends_with("_c")) symbol.remove_suffix(2);
  return std::ranges::find(message_calls, symbol) != message_calls.end() ||
         std::ranges::find(request_calls, symbol) != request_calls.end();
}

// Parts of MPI, whose own calls are known to the hooks, and this library.
bool is_of_mpi(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  constexpr std::array<std::string_view, 8> beginnings = {"libtca-mpi-", "libmpi.so", "libmpi_", "libmpich",
                                                          "libopen-",    "mca_",      "libmca_", "libompi"};
  return std::ranges::any_of(beginnings, [&](std::string_view begin) { return name.starts_with(begin); });
}

// What a loaded object is linked with.
class Linked {
 public:
  explicit Linked(const dl_phdr_info& object) : base_(object.dlpi_addr) {
    for (int each = 0; each < object.dlpi_phnum; ++each) {
      const ElfW(Phdr)& header = object.dlpi_phdr[each];
      if (header.p_type != PT_DYNAMIC) continue;
      for (auto* entry = reinterpret_cast<const Dynamic*>(base_ + header.p_vaddr); entry->d_tag != DT_NULL;
           ++entry)
        read(*entry);
    }
  }

  // The first symbol of its relocations for which `is_meant`, or nothing.
  template <class IsMeant>
  std::string_view find(const IsMeant& is_meant) const {
    if (symbols_ == nullptr || names_ == nullptr) return {};
    for (const Table& table : tables_)
      for (std::size_t each = 0; each < table.bytes / sizeof(Relocation); ++each) {
        const Symbol& symbol = symbols_[ELF64_R_SYM(table.begin[each].r_info)];
        if (symbol.st_shndx != SHN_UNDEF) continue;
        const std::string_view name = names_ + symbol.st_name;
        if (is_meant(name)) return name;
      }
    return {};
  }

 private:
  struct Table {
    const Relocation* begin = nullptr;
    std::size_t bytes = 0;
  };

  // The loader has made most of them addresses, but not in every object.
  template <class T>
  const T* at(const Dynamic& entry) const {
    const auto address = static_cast<ElfW(Addr)>(entry.d_un.d_ptr);
    return reinterpret_cast<const T*>(address < base_ ? address + base_ : address);
  }
  void read(const Dynamic& entry) {
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols_ = at<Symbol>(entry);
        break;
      case DT_STRTAB:
        names_ = at<char>(entry);
        break;
      case DT_RELA:
        tables_[0].begin = at<Relocation>(entry);
        break;
      case DT_RELASZ:
        tables_[0].bytes = entry.d_un.d_val;
        break;
      case DT_JMPREL:
        tables_[1].begin = at<Relocation>(entry);
        break;
      case DT_PLTRELSZ:
        tables_[1].bytes = entry.d_un.d_val;
        break;
      default:
        break;
    }
  }

  ElfW(Addr) base_;
  const Symbol* symbols_ = nullptr;
  const char* names_ = nullptr;
  std::array<Table, 2> tables_{};
};

int look_at(dl_phdr_info* object, std::size_t, void* found) {
  const std::string_view path = object->dlpi_name != nullptr ? object->dlpi_name : "";
  if (is_of_mpi(path) || path.starts_with("linux-vdso")) return 0;
  const std::string_view symbol = Linked(*object).find(is_past_hooks);
  if (symbol.empty()) return 0;
  *static_cast<std::string*>(found) = fmt::format("{} calls {}", path.empty() ? "the program" : path, symbol);
  return 1;
}

}  // namespace

std::string message_call_past_hooks() {
  std::string found;
  dl_iterate_phdr(look_at, &found);
  return found;
}

}  // namespace tca::interposer
