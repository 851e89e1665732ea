#include "model/machine/mpi.hpp"

namespace tca::net {

MpiWay choose_way(const MpiLibrary& library, std::int64_t bytes, bool in_gpu) {
  if (bytes <= (in_gpu ? library.inline_limit : library.host_inline_limit)) return MpiWay::inlined;
  if (bytes <= library.eager_limit) return MpiWay::eager;
  const bool read_direct = bytes <= library.read_direct_limit;
  const bool write_direct = bytes <= library.write_direct_limit;
  if (read_direct && write_direct) return MpiWay::direct;
  return !read_direct && !write_direct && bytes > library.pipeline_from ? MpiWay::pipelined : MpiWay::staged;
}

}  // namespace tca::net
