/*
 * Messages over MPI for memory that MPI does not reach: a stream gathers into host memory, the rank's carrier sends what is
 * there, lands what comes in host memory, and the stream scatters it. Nobody on the host sees when a step begins or ends; the two
 * meet in words that hold the number of a step:
 *   begun     the stream has come to step n
 *   gathered  a chunk of step n is in host memory         (stream to carrier)
 *   gone      all messages of step n are through          (carrier to stream, which may then gather the next step)
 *   come      a chunk of step n has landed                (carrier to stream)
 * A stream runs on as it likes: its host has put all steps on it at once. A message has two chunks of a word each. MPI reads what it
 * sends at any moment until the send is through, and lands what comes at any moment once its receive is posted.
 */
#ifdef ONE_WAY /* 0 sends to 1, which confirms every start, as in mpi.pml with a period of one */
#define SENDS(rank) (rank == 0)
#define RECEIVES(rank) (rank == 1)
#define CONFIRMED true
#else /* two ranks send to each other */
#define SENDS(rank) true
#define RECEIVES(rank) true
#define CONFIRMED false
#endif

#ifndef STEPS
#define STEPS 3
#endif
#define MOST_WAITING 6 /* chunks that wait at a receiver: those of three steps, one of which it has begun */
#define TAG(rank, step) ((rank) * 16 + (step))
#define JUNK 255
#define AT(rank, chunk) ((rank) * 2 + (chunk))
#define OTHER(rank) (1 - rank)

byte source[4], outbox[4];  /* an accelerator's memory and the host's, by sender */
byte inbox[4], ghost[4];    /* and by receiver */
byte begun[2], gone[2], gathered[4], come[4];
bool sending[4], posted[4]; /* by sender; by receiver */
chan wire[2] = [8] of { byte }; /* by sender: chunks that have left their memory, in their order */
chan told[2] = [8] of { byte }; /* by sender: starts of its receiver */

/* MPI from a rank to the other. Chunks of one tag are matched in their order. */
proctype Mpi(byte s) {
  byte value;
end:
  do
  :: atomic { sending[AT(s, 0)] -> wire[s]!outbox[AT(s, 0)]; sending[AT(s, 0)] = false }
  :: atomic { sending[AT(s, 1)] && !sending[AT(s, 0)] -> wire[s]!outbox[AT(s, 1)]; sending[AT(s, 1)] = false;
              assert(len(wire[s]) <= MOST_WAITING) }
  :: atomic { posted[AT(OTHER(s), 0)] && len(wire[s]) > 0 ->
              wire[s]?value; inbox[AT(OTHER(s), 0)] = value; posted[AT(OTHER(s), 0)] = false }
  :: atomic { posted[AT(OTHER(s), 1)] && !posted[AT(OTHER(s), 0)] && len(wire[s]) > 0 ->
              wire[s]?value; inbox[AT(OTHER(s), 1)] = value; posted[AT(OTHER(s), 1)] = false }
  od
}

#ifdef BREAK_POST_EARLY
#define MAY_CARRY(n) true
#else
#define MAY_CARRY(n) (begun[me] >= n)
#endif
#ifdef BREAK_SEND_EARLY
#define IS_GATHERED(c) true
#else
#define IS_GATHERED(c) (gathered[AT(me, c)] >= n)
#endif
#ifdef BREAK_GONE_EARLY
#define HAS_GONE true
#else
#define HAS_GONE (!SENDS(me) || (!sending[AT(me, 0)] && !sending[AT(me, 1)]))
#endif

/* The thread of a rank that carries its messages: what it waits for it looks at in turn, so that nothing keeps another back. */
proctype Carrier(byte me) {
  byte n, sent, landed, confirmed;
  for (n : 1 .. STEPS) {
    MAY_CARRY(n);
    sent = 0;
    landed = 0;
    if
    :: RECEIVES(me) -> atomic { posted[AT(me, 0)] = true; posted[AT(me, 1)] = true }
    :: else
    fi;
    if
    :: RECEIVES(me) && CONFIRMED -> told[OTHER(me)]!n
    :: else
    fi;
    do
    :: SENDS(me) && sent < 2 && IS_GATHERED(sent) -> sending[AT(me, sent)] = true; sent++
    :: RECEIVES(me) && landed < 2 && !posted[AT(me, landed)] -> come[AT(me, landed)] = n; landed++
    :: SENDS(me) && CONFIRMED && len(told[me]) > 0 -> told[me]?confirmed
    :: (!SENDS(me) || sent == 2) && (!RECEIVES(me) || landed == 2) && HAS_GONE &&
       (!SENDS(me) || !CONFIRMED || confirmed + 1 >= n) -> break
    od;
    gone[me] = n
  }
}

#ifdef BREAK_GATHER_EARLY
#define MAY_GATHER(n) true
#else
#define MAY_GATHER(n) (gone[me] >= n - 1)
#endif
#ifdef BREAK_SCATTER_EARLY
#define HAS_COME(c) true
#else
#define HAS_COME(c) (come[AT(me, c)] >= n)
#endif

proctype Stream(byte me) {
  byte n, c;
  for (n : 1 .. STEPS) {
    if
    :: SENDS(me) -> atomic { source[AT(me, 0)] = TAG(me, n); source[AT(me, 1)] = TAG(me, n) }
    :: else
    fi;

    /* start: the gather */
    begun[me] = n;
    if
    :: SENDS(me) ->
       MAY_GATHER(n);
       for (c : 0 .. 1) {
         outbox[AT(me, c)] = source[AT(me, c)];
         gathered[AT(me, c)] = n
       }
    :: else
    fi;

    /* wait: the scatter; the source is the rank's again */
    if
    :: SENDS(me) -> atomic { source[AT(me, 0)] = JUNK; source[AT(me, 1)] = JUNK }
    :: else
    fi;
    if
    :: RECEIVES(me) ->
       for (c : 0 .. 1) {
         HAS_COME(c);
         ghost[AT(me, c)] = inbox[AT(me, c)]
       }
       assert(ghost[AT(me, 0)] == TAG(OTHER(me), n));
       assert(ghost[AT(me, 1)] == TAG(OTHER(me), n))
    :: else
    fi
  }
}

init {
  byte i;
  atomic {
    for (i : 0 .. 1) {
      if
      :: SENDS(i) -> run Mpi(i)
      :: else
      fi
    }
    for (i : 0 .. 1) { run Carrier(i); run Stream(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
