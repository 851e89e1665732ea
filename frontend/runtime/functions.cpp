// The functions that programs call themselves: those of xmp.h and openacc.h.
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "runtime/runtime.hpp"
#include "runtime/xmp.hpp"
#include "tca/xacc/openacc.h"

using namespace tca::xacc;

namespace {

int my_number() {
  const auto& ranks = Runtime::get().executing_ranks();
  const int rank = Runtime::get().world().rank();
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] == rank) return static_cast<int>(i);
  return -1;
}

}  // namespace

int xmpc_node_num(void) { return my_number(); }
int xmp_node_num(void) { return my_number() + 1; }
int xmpc_all_node_num(void) { return Runtime::get().world().rank(); }
int xmp_all_node_num(void) { return xmpc_all_node_num() + 1; }
int xmp_num_nodes(void) { return static_cast<int>(Runtime::get().executing_ranks().size()); }
int xmp_all_num_nodes(void) { return Runtime::get().world().size(); }
int xmpc_this_image(void) { return xmpc_node_num(); }
int xmp_this_image(void) { return xmp_node_num(); }
int xmp_num_images(void) { return xmp_num_nodes(); }

// What regions do is over when the program looks at the time.
double xmp_wtime(void) {
  if (Runtime::started()) guarded(nullptr, [] { Runtime::get().device().wait(XACC_SYNC); });
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double xmp_wtick(void) { return 1e-9; }
void xmp_exit(int status) { std::exit(status); }
void xmp_free(void* descriptor) {
  auto* a = static_cast<xacc_array*>(descriptor);
  if (a->layout && a->layout->storage) a->layout->storage->used = false;
  a->base = a->origin = nullptr;
}

int xacc_processor_name(char* name, int* length) {
  gethostname(name, 255);
  name[255] = '\0';
  *length = static_cast<int>(std::char_traits<char>::length(name));
  return 0;
}

int acc_get_num_devices(acc_device_t) { return 1; }
void acc_set_device_num(int, acc_device_t) {}
int acc_get_device_num(acc_device_t) { return 0; }
acc_device_t acc_get_device_type(void) {
  return Runtime::get().device().stream(XACC_SYNC) ? acc_device_nvidia : acc_device_host;
}
void acc_set_device_type(acc_device_t) {}
void acc_init(acc_device_t) {}
void acc_shutdown(acc_device_t) {}
int acc_async_test(int queue) {
  bool over = true;
  guarded(nullptr, [&] { over = Runtime::get().device().test(queue); });
  return over;
}
void acc_async_wait(int queue) { xacc_wait_queue(queue, nullptr); }
void acc_async_wait_all(void) { xacc_wait_queues(nullptr); }
void acc_wait(int queue) { acc_async_wait(queue); }
void acc_wait_all(void) { acc_async_wait_all(); }
void* acc_malloc(size_t bytes) {
  void* memory = nullptr;
  guarded(nullptr, [&] { memory = Runtime::get().device().allocate(bytes); });
  return memory;
}
void acc_free(void* memory) {
  guarded(nullptr, [&] { Runtime::get().device().release(memory); });
}
void* acc_deviceptr(void* host) {
  guarded(nullptr, [] { Runtime::get().device().wait(XACC_SYNC); });
  Present& present = Runtime::get().present();
  return present.find(host) ? present.address_of("", host) : nullptr;
}
int acc_is_present(void* host, size_t) { return Runtime::get().present().find(host) != nullptr; }
