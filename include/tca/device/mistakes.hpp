// Mistakes that kernels make with the puts of a chain, and how the host learns of them.
#pragma once

#include "tca/device/memory.hpp"

namespace tca::device {

// The first mistake that a kernel has made with the puts of a chain, as the host finds it.
struct Mistake {
  enum Kind : Word {
    none,
    // With an element of a produced put.
    twice,
    out_of_range,
    not_written,
    not_come,
    // With the length of a counted put, which is `element`; `elements` is the most it can be, or what it must be a
    // multiple of.
    too_long,
    uneven
  };

  Word chain = 0;  // its number; written last
  Word kind = none;
  Word put = 0;      // its number among the sender's puts
  Word link = 0;     // the partner's index among the chain's partners
  Word sending = 0;  // 1 at the sender
  Word element = 0, elements = 0;
  Word step = 0;
};

// What a chain keeps for each end of a put with which kernels may make mistakes: of produced puts if it
// checks their elements, and of counted ones.
struct ElementCheck {
  Word* written =
      nullptr;  // at the sender of a produced put, one an element: the last step in which it was written
  Word* mistakes = nullptr;  // counts them, in device memory
  Mistake* told = nullptr;   // in pinned host memory
  Word* over = nullptr;      // see WaitLimits
  Word chain = 0;
  Word put = 0;
  Word sending = 0;
};

struct ElementChecks {
  // Tells the host of a mistake, if it is the first of this rank's kernels, and ends its waits. Out of line, and
  // its arguments by value: see Refuse in device/puts.hpp.
  static TCA_DEVICE_APART void tell(const ElementCheck* check, Word kind, Word element, Word elements,
                                    Word link, Word step) {
    if (count_up(check->mistakes, ~Word{0}) == 0) {
      Mistake& told = *check->told;
      told.kind = kind;
      told.put = check->put;
      told.link = link;
      told.sending = check->sending;
      told.element = element;
      told.elements = elements;
      told.step = step;
      // Release: pairs with the acquire of the host, which then reads the rest.
      store_release(&told.chain, check->chain);
    }
    store_relaxed(check->over, 1);
  }

  // Notes that an element is written in a step.
  static TCA_DEVICE_APART void note(const ElementCheck* check, Word i, Word elements, Word link, Word step) {
    if (i >= elements) return tell(check, Mistake::out_of_range, i, elements, link, step);
    if (exchange(check->written + i, step) == step) tell(check, Mistake::twice, i, elements, link, step);
  }

 private:
  static TCA_DEVICE Word exchange(Word* at, Word value) {
#ifdef __CUDA_ARCH__
    return atomicExch(at, value);
#else
    return std::atomic_ref(*at).exchange(value, std::memory_order_relaxed);
#endif
  }
};

}  // namespace tca::device
