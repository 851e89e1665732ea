#include "mpi/program.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

namespace tca::tool {

namespace {

template <class Record>
bool read_at(std::ifstream& file, std::uint64_t offset, Record& record) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&record), sizeof record));
}

bool is_program(std::ifstream& file, Elf64_Ehdr& header) {
  return read_at(file, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64;
}

// Returns the loader that the program names; empty for one that needs none, being linked statically.
std::string loader_of(std::ifstream& file, const Elf64_Ehdr& header) {
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, header.e_phoff + i * header.e_phentsize, segment)) break;
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    std::string loader(segment.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(loader.data(), static_cast<std::streamsize>(loader.size()));
    return loader.c_str();  // without the zero at its end
  }
  return {};
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> part;
  while (pipe && std::fgets(part.data(), part.size(), pipe.get()) != nullptr) output += part.data();
  return output;
}

}  // namespace

MpiOfProgram find_mpi(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!is_program(file, header))
    return {{}, fmt::format("{} is a script, which does not say what MPI it uses; name it (--mpi)", path)};
  const std::string loader = loader_of(file, header);
  if (loader.empty())
    return {{}, fmt::format("{} is linked statically, so that nothing can stand before its MPI", path)};
  const std::string libraries =
      output_of(fmt::format("{} --list {} 2> /dev/null", quoted(loader), quoted(path)));
  if (libraries.find("libmpi.so.40") != std::string::npos) return {"openmpi", {}};
  for (const char* const library : {"libmpich.so.12", "libmpi.so.12"})
    if (libraries.find(library) != std::string::npos) return {"mpich", {}};
  if (libraries.find("libmpi_abi.so.") != std::string::npos) return {"abi", {}};
  return {{},
          fmt::format("{} is linked with neither Open MPI 4 nor MPICH, nor with MPI's standard ABI; if it "
                      "loads one later, name it (--mpi)",
                      path)};
}

std::string what_is_missing(const std::string& library, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  const bool is_script = !is_program(file, header);
  std::ifstream self("/proc/self/exe", std::ios::binary);
  if (is_script && !is_program(self, header)) return {};
  const std::string loader = loader_of(is_script ? self : file, header);
  const std::string said =
      output_of(fmt::format("LD_PRELOAD={} {} --list {} 2>&1 > /dev/null", quoted(library), quoted(loader),
                            quoted(is_script ? library : path)));
  const std::string_view before = "error while loading shared libraries: ";
  const std::size_t at = said.find(before);
  if (at == std::string::npos) return {};
  const std::string missing = said.substr(at + before.size());
  return missing.substr(0, missing.find(':'));
}

}  // namespace tca::tool
