/// @file
/// The functions of OpenACC, for this rank's device: the host's own processors, or a GPU.
#ifndef TCA_XACC_OPENACC_H
#define TCA_XACC_OPENACC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum acc_device_t {
  acc_device_none = 0,
  acc_device_default = 1,
  acc_device_host = 2,
  acc_device_not_host = 3,
  acc_device_nvidia = 4
} acc_device_t;

/// At least one, on hosts too.
int acc_get_num_devices(acc_device_t kind);
/// A rank's device is chosen when it starts; this only confirms it.
void acc_set_device_num(int device, acc_device_t kind);
int acc_get_device_num(acc_device_t kind);
acc_device_t acc_get_device_type(void);
void acc_set_device_type(acc_device_t kind);
void acc_init(acc_device_t kind);
void acc_shutdown(acc_device_t kind);
int acc_async_test(int queue);
void acc_async_wait(int queue);
void acc_async_wait_all(void);
void acc_wait(int queue);
void acc_wait_all(void);
/// Queues without a number: that of `async` without an argument, and the one that the host waits for.
enum { acc_async_noval = -1, acc_async_sync = -2 };
/// Memory of the device, for `deviceptr`.
void* acc_malloc(size_t bytes);
void acc_free(void* memory);
/// Where memory of the host is on the device; NULL if it is not.
void* acc_deviceptr(void* host);
int acc_is_present(void* host, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
