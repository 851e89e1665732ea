// Misuse: adding up structs. Their numbers can be, by their type.
#include "tca/tca.hpp"

struct Cell {
  double charge, current;
};

void fold_of_structs(tca::Fold& fold, const tca::Window<Cell>& cells) {
#ifdef TCA_MISUSE
  fold.add(cells);
#endif
  fold.add(cells.untyped(), tca::DataType::float64);
}
