// The libFuzzer target of one parser: FUZZ_HEADER has FUZZ_TRY. Usage: NAME_fuzz [options] CORPUS_FOLDER...
#include <cstddef>
#include <cstdint>

#include FUZZ_HEADER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tca::fuzz::FUZZ_TRY({reinterpret_cast<const char*>(data), size});
  return 0;
}
