/*
 * The resident engine's leaving and coming back. The host posts command after command, up to two ahead of those that are
 * done; a kernel posts to a ring of its own, one at a time. The engine consumes each ring in order and may find that it has
 * been idle for too long at any moment. Then it says that it leaves (the host) and is not awake (kernels), looks at both rings
 * a last time, and stays or ends. The host, once it has posted, looks whether it is still there, and launches it again when it
 * is not and has not consumed the command before it went. The kernel cannot launch it: it calls, and a relauncher does.
 * Every command is consumed once, and there are never two engines.
 *
 * Stores go through a buffer on each side, in order: that the engine sleeps and that the kernel calls are releases, whose readers
 * acquire. A sequentially consistent fence waits until it is empty.
 */
#define COMMANDS 3
#define KERNEL_COMMANDS 2
#define AHEAD 2

mtype = {ended, leaving, running, asleep, awake};

byte tail;            /* the last command posted, in the host's memory like the state */
byte kernel_tail;
mtype state = ended;
mtype listens = asleep;
bool call;
chan host_stores = [AHEAD] of {byte};
chan kernel_stores = [1] of {byte};
byte last, kernel_last; /* that the engine had consumed when it ended */
chan engine_stores = [4] of {mtype, byte, byte};
byte consumed, kernel_consumed;
byte engines;
bool launching; /* a lock */

active proctype HostBuffer() {
end:
  do
  :: atomic { host_stores ? tail }
  od
}

active proctype KernelBuffer() {
end:
  do
  :: atomic { kernel_stores ? kernel_tail }
  od
}

active proctype EngineBuffer() {
  mtype what;
  byte h, k;
end:
  do
  :: atomic {
       engine_stores ? what, h, k;
       if
       :: what == asleep || what == awake -> listens = what
       :: else ->
         state = what;
         if
         :: what == ended -> last = h; kernel_last = k
         :: else
         fi
       fi
     }
  od
}

proctype Engine(byte seen, kernel_seen) {
  bool more;
  engine_stores ! awake, 0, 0;
  do
  :: tail > seen ->
    seen++;
    assert(consumed == seen - 1);
    consumed = seen
  :: kernel_tail > kernel_seen ->
    kernel_seen++;
    assert(kernel_consumed == kernel_seen - 1);
    kernel_consumed = kernel_seen
  :: true -> /* idle for too long */
    engine_stores ! leaving, 0, 0;
    engine_stores ! asleep, 0, 0;
#ifndef BREAK_ENGINE_FENCE
    empty(engine_stores);
#endif
#ifdef BREAK_LAST_LOOK
    more = false;
#else
#ifdef BREAK_KERNELS_LOOK
    more = tail > seen;
#else
    more = tail > seen || kernel_tail > kernel_seen;
#endif
#endif
    if
    :: more ->
      engine_stores ! awake, 0, 0;
      engine_stores ! running, 0, 0
    :: else -> break
    fi
  od;
  engines--;
  engine_stores ! ended, seen, kernel_seen
}

/* By who holds the lock. */
inline launch() {
  assert(engines == 0 && consumed == last && kernel_consumed == kernel_last);
  state = running;
  engines++;
  run Engine(last, kernel_last)
}

active proctype Host() {
  byte n;
  mtype found;
  for (n : 1 .. COMMANDS) {
    consumed + AHEAD >= n;
    host_stores ! n;
#ifndef BREAK_HOST_FENCE
    empty(host_stores);
#endif
    atomic { !launching -> launching = true };
#ifdef BREAK_WAIT
    found = state;
#else
    atomic { state != leaving -> found = state };
#endif
    if
#ifdef BREAK_LAST
    :: found == ended ->
#else
    :: found == ended && last != n ->
#endif
      assert(consumed == n - 1);
      launch()
    :: else
    fi;
    launching = false
  }
  consumed == COMMANDS
}

active proctype Kernel() {
  byte n;
  for (n : 1 .. KERNEL_COMMANDS) {
    kernel_stores ! n;
#ifndef BREAK_KERNEL_FENCE
    empty(kernel_stores);
#endif
    if
    :: listens == asleep -> call = true
    :: else
    fi;
    kernel_consumed == n
  }
}

active proctype Caretaker() {
  mtype found;
end:
  do
  :: call ->
#ifndef BREAK_CALL
    call = false;
#endif
    atomic { !launching -> launching = true };
    atomic { state != leaving -> found = state };
    if
    :: found == ended -> launch()
    :: else
    fi;
    launching = false;
#ifdef BREAK_CALL
    call = false
#endif
  od
}
