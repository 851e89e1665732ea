/*
 * A large broadcast by packets, in place: the root sends each of its receivers, its relays, a packet, which that one
 * passes on to the others. Packets lie in two sets, for odd and even steps. A relay is through with a step once it has
 * all packets; it then acknowledges to the root, which waits for that before it uses the set again. Relays wait for
 * nothing before they pass on: in the step before they have got what the others pass on.
 */
#define RELAYS 2
#ifndef STEPS
#define STEPS 4
#endif

#ifdef BREAK_ONE_SET
#define SET 0
#else
#define SET (n % 2)
#endif
#if defined(BREAK_NO_ACK)
#define MAY_SEND true
#elif defined(BREAK_ACK_LATE)
#define MAY_SEND (ack[i] + 3 >= n)
#else
#define MAY_SEND (ack[i] + 2 >= n)
#endif

#ifdef BREAK_IDLE_RELAY /* the first relay passes everything on: nothing comes from the others */
#define RELAY_OF(packet) 0
#else
#define RELAY_OF(packet) (packet)
#endif

/* The place of a packet at a receiver. */
#define AT(at, set, packet) (((at) * 2 + (set)) * RELAYS + (packet))
#define PLACES 8

byte place[PLACES];                  /* the step whose packet is there */
chan wire[PLACES] = [2] of { byte }; /* on the way to a place */
byte ack[RELAYS];                    /* at the root */
chan said[RELAYS] = [4] of { byte };

#define LANDS(p) ::wire[p]?place[p]
#define FOUR_LAND(p) LANDS(p) LANDS(p + 1) LANDS(p + 2) LANDS(p + 3)

proctype Memory() {
end:
  do
  FOUR_LAND(0) FOUR_LAND(4)
  ::said[0]?ack[0]
  ::said[1]?ack[1]
  od
}

proctype Root() {
  byte n, i, p;
  for (n : 1 .. STEPS) {
    for (p : 0 .. RELAYS - 1) {
      i = RELAY_OF(p);
      MAY_SEND;
      wire[AT(i, SET, p)]!n
    }
  }
}

proctype Relay(byte me) {
  byte n, i, p;
  for (n : 1 .. STEPS) {
    for (p : 0 .. RELAYS - 1) {
      if
      :: RELAY_OF(p) == me ->
        place[AT(me, SET, p)] == n;
        atomic { for (i : 0 .. RELAYS - 1) { if :: i != me -> wire[AT(i, SET, p)]!n :: else fi } }
      :: else
      fi
    }
    for (p : 0 .. RELAYS - 1) { place[AT(me, SET, p)] == n }
    said[me]!n
  }
}

init {
  byte i;
  atomic {
    run Memory();
    run Root();
    for (i : 0 .. RELAYS - 1) { run Relay(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
