/*
 * Exchanges among some of the ranks, which use one mailbox a rank for all groups: a rank lays its piece out, says how
 * many have to read it and stores its name; whoever looks for that name reads the piece and counts down; the rank goes
 * on when nobody has to read any more. Here ranks 0, 1 and 2 are one group and 0 and 1 another, and 2 may run ahead.
 * A name is the `arrive` of a rank's edges, which its readers see independently of each other. The count is one word
 * that all change in place.
 */
#define ALL
#define RANKS 3
#define STEPS 2
#define PLACES 2
#include "memory.pml"

#define EDGE(writer, reader) ((writer) * (RANKS - 1) + (reader > writer -> reader - 1 : reader))
#ifdef BREAK_ONE_NAME /* the name does not say which exchange it is of */
#define NAME 1
#else
#define NAME (4 * group + k)
#endif
#define CONTENT (4 * group + k)

byte unread[RANKS];

inline lay_out() {
#ifndef BREAK_COUNT_LATE
    unread[me] = members - 1;
#endif
    for (q : 0 .. members - 1) {
      if
      :: q != me ->
        forth[EDGE(me, q)]!0,TAG(me, CONTENT);
        forth[EDGE(me, q)]!1,TAG(me, CONTENT);
        forth[EDGE(me, q)]!ARRIVE,NAME
      :: else
      fi
    }
}

inline read(q) {
  assert(data[AT(EDGE(q, me), 0)] == TAG(q, CONTENT));
  assert(data[AT(EDGE(q, me), 1)] == TAG(q, CONTENT))
}

inline exchange(which, count) {
  group = which;
  members = count;
  atomic { lay_out() }
#ifdef BREAK_COUNT_LATE /* readers may have counted down by then */
  unread[me] = members - 1;
#endif
  for (p : 0 .. members - 1) {
    if
    :: p != me ->
#ifdef BREAK_READ_EARLY /* without acquire, the piece may be read before its name */
      read(p);
#endif
      arrive[EDGE(p, me)] == NAME;
#ifdef BREAK_READ_LATE /* without release, the count may go down before the piece is read */
      unread[p]--;
#endif
      read(p);
#ifndef BREAK_READ_LATE
      unread[p]--
#endif
    :: else
    fi
  }
#ifndef BREAK_NO_WAIT
  unread[me] == 0
#endif
}

proctype Rank(byte me) {
  byte k, p, q, group, members;
  for (k : 1 .. STEPS) {
    exchange(0, 3);
    if
    :: me < 2 -> exchange(1, 2)
    :: else
    fi
  }
}
