/*
 * Direct between ranks of two parts each, without a barrier between the parts of a rank. Part p of the sender carries
 * word p and raises arrive p; part p of the receiver awaits it and reads. The receiver's ready n may be said once all of
 * its parts have come to start n, and by the last of them. With ONE_UNIT nothing is sent to part 1: it runs ahead, and
 * waits only until all have come to the start before, so that no part is counted twice in a step.
 */
#define PLACES 2
#define CHAINS 2 /* an arrive each part */
#define ONE_WAY
#include "memory.pml"

#define PARTS 2

#ifdef ONE_UNIT
#define CARRIES(part) (part == 0)
#else
#define CARRIES(part) true
#endif

#ifdef BREAK_COUNTED_TWICE
#define MAY_COUNT true
#else
#define MAY_COUNT (posted + 1 >= n)
#endif

#ifdef BREAK_GUARD_LATE
#define MAY_SEND (ready[0] + 1 >= n)
#else
#define MAY_SEND (ready[0] >= n)
#endif

byte count, posted; /* of the receiver's parts */

inline come_to_start() {
#ifdef BREAK_FIRST_PART
  last = (part == 0);
#else
  MAY_COUNT;
  atomic { count = (count + 1) % PARTS; last = (count == 0) } /* one atomic instruction of the device */
#endif
  if
  :: last -> back[0]!READY,n; posted = n
  :: else
  fi
}

proctype Receiver(byte part) {
  byte n;
  bool last;
  for (n : 1 .. STEPS) {
    come_to_start();
    if
    :: CARRIES(part) ->
      arrive[OF(0, part)] >= n;
      assert(data[AT(0, part)] == TAG(0, n)); /* at once, and until its next start */
      assert(data[AT(0, part)] == TAG(0, n))
    :: else
    fi
  }
}

proctype Sender(byte part) {
  byte n;
  for (n : 1 .. STEPS) {
    if
    :: CARRIES(part) ->
      MAY_SEND;
#ifdef BREAK_ORDER
      atomic { forth[0]!ARRIVE + part,n; forth[0]!part,TAG(0, n) }
#else
      atomic { forth[0]!part,TAG(0, n); forth[0]!ARRIVE + part,n }
#endif
    :: else
    fi
  }
}

proctype Rank(byte me) {
  atomic {
    if
    :: SENDS(me) -> run Sender(0); run Sender(1)
    :: else -> run Receiver(0); run Receiver(1)
    fi
  }
}
