#include "runtime/on_device.hpp"

namespace tca::xacc {

OnHost::OnHost(const char* name, void* host, std::size_t bytes)
    : host_(static_cast<std::byte*>(host)),
      device_(static_cast<std::byte*>(Runtime::get().present().address_of(name, host))),
      kept_(host_, host_ + bytes) {
  Device& device = Runtime::get().device();
  device.wait_all();
  device.copy_from(host_, device_, bytes, XACC_SYNC);
  device.wait(XACC_SYNC);
}

void OnHost::give_back() {
  Device& device = Runtime::get().device();
  device.copy_to(device_, host_, kept_.size(), XACC_SYNC);
  device.wait(XACC_SYNC);
  std::memcpy(host_, kept_.data(), kept_.size());
}

}  // namespace tca::xacc
