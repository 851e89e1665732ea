#include "runtime/device.hpp"

#include <cstring>

#include "runtime/runtime.hpp"

namespace tca::xacc {
namespace {

class HostDevice : public Device {
 public:
  explicit HostDevice(bool separate) : separate_(separate) {}

  bool is_separate() const override { return separate_; }
  void* allocate(std::size_t bytes) override { return ::operator new(bytes); }
  void release(void* memory) override { ::operator delete(memory); }
  void copy_to(void* device, const void* host, std::size_t bytes, std::int64_t) override {
    std::memmove(device, host, bytes);
  }
  void copy_from(void* host, const void* device, std::size_t bytes, std::int64_t) override {
    std::memmove(host, device, bytes);
  }
  void copy_within(void* to, const void* from, std::size_t bytes, std::int64_t) override {
    std::memmove(to, from, bytes);
  }
  void copy_boxes(const std::vector<BoxCopy>& boxes, std::size_t element_bytes, std::int64_t) override {
    for (const auto& [to, from, what] : boxes) copy(to, what->to, from, what->from, what->box, element_bytes);
  }
  void wait(std::int64_t) override {}
  void wait_all() override {}
  void wait_for_copies() override {}
  bool test(std::int64_t) override { return true; }
  void order(std::int64_t, std::int64_t) override {}
  void join() override {}
  Stream stream(std::int64_t) override { return nullptr; }
  Launched launch(const xacc_launch&, void**) override {
    refuse("the region was translated for GPUs: have the program start on cuda");
  }

 private:
  bool separate_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(bool separate) { return std::make_unique<HostDevice>(separate); }

}  // namespace tca::xacc
