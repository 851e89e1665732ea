/*
 * Hubs on a ring, or on two rings with rungs between them, as rtl/tca_router.sv has them: a packet leaves a buffer when
 * the next one has room for a whole packet, and enters a ring only where it leaves room for one more. Nothing may stop
 * before it has arrived: once nobody sends any more, all buffers become empty.
 *
 * The other direction of a ring has links and buffers of its own, and hosts take what comes: both are left out. A packet
 * moves at once, since one that has begun to move has all its room.
 */
#ifndef HUBS
#define HUBS 3 /* of a ring */
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef NEAREST
#define NEAREST 1 /* hops of a packet */
#endif
#ifdef DOUBLE
#define RINGS 2
#define RUNGS (RINGS * HUBS)
#define CROSSES 1
#else
#define RINGS 1
#define RUNGS 1
#define CROSSES 0
#endif

#ifdef BREAK_BEATS /* room counted in beats: short packets leave rooms that hold no long one */
#define LONGEST 2
#define ROOM (SLOTS * LONGEST)
#define CAPACITY ROOM
byte beats[RINGS * HUBS];
#define FREE(b) (ROOM - beats[b])
#define TAKES(b, size) beats[b] = beats[b] + size
#define GIVES(b, size) beats[b] = beats[b] - size
#else
#define LONGEST 1
#define CAPACITY SLOTS
#define FREE(b) (SLOTS - len(ring[b]))
#define TAKES(b, size) skip
#define GIVES(b, size) skip
#endif

#ifdef BREAK_NO_BUBBLE
#define ROOM_TO_ENTER LONGEST
#else
#define ROOM_TO_ENTER (2 * LONGEST)
#endif

/* What waits at a hub: from the hub before it, and from its counterpart on the other ring. */
chan ring[RINGS * HUBS] = [CAPACITY] of { byte, bit, byte }; /* hops to go, crosses then, beats */
chan rung[RUNGS] = [1] of { byte };                          /* hops to go behind the rung */
bit stopped;
byte under_way;

#define NEXT(me) ((me) / HUBS * HUBS + ((me) + 1) % HUBS)
#define COUNTERPART(me) (((me) + HUBS) % (RINGS * HUBS))

inline enter(hops, crosses, size) {
  TAKES(NEXT(me), size);
  ring[NEXT(me)]!hops - 1,crosses,size
}

inline send(size) {
  select(far : NEAREST .. HUBS - 1);
  enter(far, CROSSES, size);
  under_way++
}

proctype Hub(byte me) {
  byte far, hops, size;
  do
  :: atomic { !stopped && FREE(NEXT(me)) >= ROOM_TO_ENTER -> send(LONGEST); far = 0 }
#ifdef BREAK_BEATS
  :: atomic { !stopped && FREE(NEXT(me)) >= ROOM_TO_ENTER -> send(1); far = 0 }
#endif
  :: atomic { ring[me]?[0,0,_] -> ring[me]?_,_,size; GIVES(me, size); under_way--; size = 0 }
  :: atomic {
       len(ring[me]) > 0 && !ring[me]?[0,_,_] && FREE(NEXT(me)) >= LONGEST ->
       ring[me]?hops,far,size;
       GIVES(me, size);
       enter(hops, far, size);
       hops = 0;
       far = 0;
       size = 0
     }
#ifdef DOUBLE
#ifdef BREAK_RUNG_BETWEEN /* a rung that leads into a ring closes a circle of rings and rungs */
#define BEHIND 1
#else
#define BEHIND 0
#endif
  :: atomic {
       ring[me]?[0,1,_] && nfull(rung[COUNTERPART(me)]) ->
       ring[me]?_,_,size;
       rung[COUNTERPART(me)]!BEHIND;
       size = 0
     }
  :: atomic { rung[me]?[0] -> rung[me]?_; under_way-- }
  :: atomic { rung[me]?[1] && FREE(NEXT(me)) >= ROOM_TO_ENTER -> rung[me]?_; enter(1, 0, LONGEST) }
#endif
  :: stopped && under_way == 0 -> break
  od
}

init {
  atomic {
    byte h;
    for (h : 0 .. RINGS * HUBS - 1) { run Hub(h) }
  }
  stopped = 1
}
