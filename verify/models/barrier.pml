/*
 * The barrier of a grid. Blocks add up to a word whose top bit turns with the last arrival of a step. A block looks at
 * the word, adds its arrival without learning what was there, and waits until the top bit is another than it saw.
 */
#define BLOCKS 3
#ifndef STEPS
#define STEPS 4
#endif

#define TOP 8 /* the top bit of a word of four */

#ifdef BREAK_FIRST_TURNS /* the first block turns the bit by itself */
#define FIRST TOP
#else
#define FIRST (TOP - (BLOCKS - 1))
#endif

byte word;
byte arrived; /* of all blocks in all steps */

inline look() { before = word / TOP }

proctype Block(byte me) {
  byte n, before;
  for (n : 1 .. STEPS) {
#ifndef BREAK_LOOK_LATE
    look();
#endif
    atomic {
      word = (word + (me == 0 -> FIRST : 1)) % (2 * TOP);
      arrived++
    }
#ifdef BREAK_LOOK_LATE
    look();
#endif
    word / TOP != before;
    assert(arrived >= n * BLOCKS)
  }
}

init {
  byte b;
  atomic { for (b : 0 .. BLOCKS - 1) { run Block(b) } }
}
