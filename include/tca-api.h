/// @file
/// The interface of Tightly Coupled Accelerators, as programs for HA-PACS/TCA call it (PEACH2), on OpenTCA. Such
/// programs compile as they are, with -ltca; docs/seeds.md says what each call does here.
///
/// Every call that can fail returns TCA_SUCCESS or an error, and says on stderr what happened. All calls of a rank
/// come from one thread.
#ifndef TCA_API_H
#define TCA_API_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TCA_LIB_VERSION 2

typedef enum tcaresult {
  TCA_SUCCESS = 0,
  TCA_ERROR_INVALID_VALUE = 1,
  TCA_ERROR_OUT_OF_MEMORY = 2,
  TCA_ERROR_NOT_SUPPORTED = 3,
  TCA_ERROR_COMMUNICATION = 4  ///< a partner is late or lost, or a device has failed
} tcaresult;

/// Returns this thread's last message where it was about `result`, and a sentence of its own otherwise. It is
/// good until the thread's next call.
const char* tcaGetErrorString(tcaresult result);

/// Collective. Comes up as one rank of `tca run`, mpirun or alone.
tcaresult tcaInit(void);

typedef enum tcaMemoryKind { tcaMemoryGPU = 0, tcaMemoryCPU = 1 } tcaMemoryKind;

/// Gives zeroed memory that others can put into once they have a handle of it.
tcaresult tcaMalloc(void** memory, size_t bytes, tcaMemoryKind kind);
tcaresult tcaFree(void* memory, tcaMemoryKind kind);

/// Names memory of a rank. It is plain bytes, and travels to other ranks by any means.
typedef struct tcaHandle {
  unsigned char token[128];
  uint64_t offset;   ///< in the region that the token names, in bytes
  uint64_t size;     ///< in bytes
  uint64_t address;  ///< on the rank that has the memory
  uint32_t node;     ///< that rank
  uint32_t mark;     ///< says that this is a handle
} tcaHandle;

/// Names memory of this rank: from tcaMalloc, or any other.
tcaresult tcaCreateHandle(tcaHandle* handle, void* memory, size_t bytes, tcaMemoryKind kind);
tcaresult tcaDestroyHandle(tcaHandle* handle);

/// Flags of a descriptor.
typedef enum tcaDMAFlag {
  tcaDMAUseInternal = 1,        ///< the descriptor lies in the board; makes no difference here
  tcaDMAUseNotifyInternal = 2,  ///< makes no difference here
  tcaDMANotify = 4,             ///< the target learns that the data is in place
  tcaDMANotifySelf = 8,         ///< the source learns that the data has left
  tcaDMAPipeline = 16,          ///< makes no difference here
  tcaDMAContinue = 32           ///< older calls: the chain goes on with the next descriptor
} tcaDMAFlag;
#define tcaDMAUseNotifyFlag tcaDMAUseNotifyInternal

/// A chain of descriptors: puts that one rank starts by itself.
typedef struct tcaDesc tcaDesc;

/// Returns NULL where it fails.
tcaDesc* tcaDescNew(void);
tcaresult tcaDescFree(tcaDesc* chain);

/// Adds a descriptor: `bytes` bytes go from memory of this rank to that of any. Notices that it raises have a slot
/// (0 to 255) and a tag; up to eight tags of a rank may wait in a slot.
tcaresult tcaDescSetMemcpy(tcaDesc* chain, const tcaHandle* to, off_t to_offset, const tcaHandle* from,
                           off_t from_offset, size_t bytes, int flags, int slot, int tag);
/// The same for `count` rows of `width` bytes, the next of which begin `to_pitch` and `from_pitch` bytes behind the
/// last.
tcaresult tcaDescSetMemcpy2D(tcaDesc* chain, const tcaHandle* to, off_t to_offset, size_t to_pitch,
                             const tcaHandle* from, off_t from_offset, size_t from_pitch, size_t width,
                             size_t count, int flags, int slot, int tag);

/// Gives a chain to one of the four controllers, 0 to 3. Each start of the controller runs it.
tcaresult tcaDescSet(tcaDesc* chain, int controller);
/// Starts a controller. Waits where what it has started has not left yet.
tcaresult tcaStartDMADesc(int controller);
/// Waits until what the controller has started has left, so that its sources may be overwritten.
tcaresult tcaWaitDMAC(int controller);

/// Waits for a notice. The handle says of whom: of another rank, that its data is in place; of this rank itself, that
/// all that was started with tcaDMANotifySelf and this slot and tag has left.
tcaresult tcaWaitDMARecvDesc(const tcaHandle* of, int slot, int tag);

/// Memory of another rank that this processor stores into.
typedef struct tcaPIOHandle {
  tcaHandle handle;
  uint64_t offset;
  uint64_t size;
} tcaPIOHandle;

tcaresult tcaSetPIORegion(tcaPIOHandle* region, const tcaHandle* of, off_t offset, size_t bytes);
/// Stores bytes in the order of their addresses: who sees the last eight sees all of them.
tcaresult tcaSendPIO(const tcaPIOHandle* region, off_t offset, const void* from, size_t bytes);
/// Returns once everything that was stored is on its way.
tcaresult tcaSendPIOCommit(void);

// ---- Older calls: descriptors with numbers, in the board or in sets in host memory. `next` gets the number behind
// that of the descriptor. A chain goes on while descriptors have tcaDMAContinue.

tcaresult tcaDMADescInt_Init(void);
tcaresult tcaCreateDMADesc(int* set, size_t descriptors);
tcaresult tcaDestroyDMADesc(int set);

/// Puts a descriptor, of one row where `count` is 1, into a set; the board's is 0.
tcaresult tcaSetDMADescOf(int set, int number, int* next, const tcaHandle* to, off_t to_offset,
                          size_t to_pitch, const tcaHandle* from, off_t from_offset, size_t from_pitch,
                          size_t width, size_t count, int flags, int slot, int tag);
/// Gives a controller the chain that begins with a descriptor of a set.
tcaresult tcaSetDMAChainOf(int controller, int set, int number);

static inline tcaresult tcaSetDMADescInt_Memcpy(int number, int* next, const tcaHandle* to, off_t to_offset,
                                                const tcaHandle* from, off_t from_offset, size_t bytes,
                                                int flags, int slot, int tag) {
  return tcaSetDMADescOf(0, number, next, to, to_offset, bytes, from, from_offset, bytes, bytes, 1, flags,
                         slot, tag);
}
static inline tcaresult tcaSetDMADescInt_Memcpy2D(int number, int* next, const tcaHandle* to, off_t to_offset,
                                                  size_t to_pitch, const tcaHandle* from, off_t from_offset,
                                                  size_t from_pitch, size_t width, size_t count, int flags,
                                                  int slot, int tag) {
  return tcaSetDMADescOf(0, number, next, to, to_offset, to_pitch, from, from_offset, from_pitch, width,
                         count, flags, slot, tag);
}
static inline tcaresult tcaSetDMAChainInt(int controller, int number) {
  return tcaSetDMAChainOf(controller, 0, number);
}

static inline tcaresult tcaSetDMADesc_Memcpy(int set, int number, int* next, const tcaHandle* to,
                                             off_t to_offset, const tcaHandle* from, off_t from_offset,
                                             size_t bytes, int flags, int slot, int tag) {
  return tcaSetDMADescOf(set, number, next, to, to_offset, bytes, from, from_offset, bytes, bytes, 1, flags,
                         slot, tag);
}
static inline tcaresult tcaSetDMADesc_Memcpy2D(int set, int number, int* next, const tcaHandle* to,
                                               off_t to_offset, size_t to_pitch, const tcaHandle* from,
                                               off_t from_offset, size_t from_pitch, size_t width,
                                               size_t count, int flags, int slot, int tag) {
  return tcaSetDMADescOf(set, number, next, to, to_offset, to_pitch, from, from_offset, from_pitch, width,
                         count, flags, slot, tag);
}
static inline tcaresult tcaSetDMAChain(int controller, int set) {
  return tcaSetDMAChainOf(controller, set, 0);
}

/// What some programs declare collectives with; the library does nothing with them.
typedef enum tcaDataType { TCA_INT, TCA_LONG, TCA_FLOAT, TCA_DOUBLE } tcaDataType;
typedef enum tcaOp { TCA_OP_SUM, TCA_OP_PROD, TCA_OP_MAX, TCA_OP_MIN } tcaOp;

#ifdef __cplusplus
}
#endif

#endif
