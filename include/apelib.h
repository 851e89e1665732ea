/// @file
/// The RDMA interface of APEnet+, as programs for the torus network card call it, on OpenTCA. Such programs compile as
/// they are, with -lapelink; docs/seeds.md says what each call does here.
///
/// Every call that fails says on stderr what happened. All calls of a rank come from one thread.
#ifndef APELIB_H
#define APELIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Results; errors are negative.
enum {
  APELINK_SUCCESS = 0,
  APELINK_NOERROR = 0,
  APELINK_WOULDBLOCK = -1,     ///< not now; no error, and nothing is said
  APELINK_INVALID = -2,        ///< a value cannot be
  APELINK_NOMEMORY = -3,       ///< there is no more memory
  APELINK_NOTSUPPORTED = -4,   ///< this is not done here
  APELINK_COMMUNICATION = -5,  ///< a partner is late or lost, or a device has failed
};

/// Ranks of a node; here each rank is a node of its own.
#define AM_NPORTS 1
/// Of streaming buffers, in bytes. A put may be as long as the buffer that it goes to.
#define AM_MAX_MSG_SIZE 65536

typedef struct apelink* apelink_t;
typedef uint32_t am_portid_t;
typedef uint64_t am_vaddr_t;
typedef uint64_t am_context_t;

/// Where a node is in the torus.
typedef union ape_net_address_t {
  uint32_t u;
  struct {
    uint8_t x, y, z, unused;
  } s;
} ape_net_address_t;

/// Collective. Comes up as one rank of `tca run`, mpirun or alone. There is one card, 0. Returns NULL where it
/// fails, and otherwise stores this rank's port.
apelink_t ape_open(int card, am_portid_t* port);
int ape_close(apelink_t link);

/// The torus: as many ranks as there are, X >= Y >= Z as near to a cube as can be. Ranks are
/// port + AM_NPORTS (x + X (y + Y z)).
int ape_get_topology(apelink_t link, unsigned* x, unsigned* y, unsigned* z);
ape_net_address_t ape_get_self_address(apelink_t link);

/// What a buffer is for.
enum {
  AM_PERSISTENT_BUF = 1,  ///< many puts
  AM_STREAMING_BUF = 2    ///< one put, whose event hands it back
};

/// Registers memory of this rank and stores the address by which others put into it; a put may go to any byte of it.
/// `context` comes back with each event.
int am_register_buf(apelink_t link, am_vaddr_t* vaddr, void* memory, size_t bytes, am_context_t context,
                    int kind);
/// From here on puts into it are refused.
int am_unregister_buf(apelink_t link, am_vaddr_t vaddr, void* memory, size_t bytes, int kind);

/// Whether a put that has no room waits for some, or returns APELINK_WOULDBLOCK.
enum { AM_NONBLOCKING = 0, AM_BLOCKING = 1 };

/// Puts `bytes` bytes into a buffer of the rank with an address and a port. Raises an event there, with `data`, and one
/// here, with `context`, once the source may be overwritten. 100 puts of a rank to another may wait for their events
/// to be taken.
int am_put(apelink_t link, ape_net_address_t address, am_portid_t port, uint32_t data, int blocking,
           am_context_t context, const void* from, size_t bytes, am_vaddr_t to);

typedef enum am_event_type_t { AM_TYPE_RECV = 1, AM_TYPE_SENT = 2 } am_event_type_t;

typedef struct am_event_recv_t {
  uint32_t data;
  ape_net_address_t src_addr;
  am_portid_t src_port;
  void* buf;             ///< the buffer that the data has come into
  size_t buflen;         ///< all of it
  size_t len;            ///< what has come
  am_vaddr_t vaddr;      ///< where it begins, as the put named it
  am_context_t context;  ///< of the buffer
} am_event_recv_t;

typedef struct am_event_sent_t {
  uint32_t data;
  ape_net_address_t dst_addr;
  am_portid_t dst_port;
  size_t len;
  am_vaddr_t rem_vaddr;
  am_context_t context;  ///< of the put
} am_event_sent_t;

typedef struct am_event_t {
  am_event_type_t ev_type;
  union {
    am_event_recv_t ev_recv;
    am_event_sent_t ev_sent;
  } ev;
} am_event_t;

/// Takes the next event. Waits for at most `timeout` milliseconds and returns APELINK_WOULDBLOCK if none has come; 0
/// looks once, and a negative number waits as long as the world's time limit.
int am_wait_event(apelink_t link, am_event_t* event, int timeout);

#ifdef __cplusplus
}
#endif

#endif
