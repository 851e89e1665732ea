#include "cg/matrix.hpp"

#include <cmath>
#include <span>

#include "cg/random.hpp"

namespace tca::cg {

namespace {

constexpr std::int64_t between_ticks = 1024;

// The random vectors, `width` places each: the elements that are drawn, and the one on the diagonal, which
// may be among them. The last place is empty then.
class Drawn {
 public:
  Drawn(const Problem& problem, const Progress& progress)
      : width_(static_cast<std::size_t>(problem.nonzeros) + 1),
        row_(static_cast<std::size_t>(problem.n) * width_, nowhere),
        value_(row_.size()) {
    random_.next();  // the reference draws one before it begins
    while ((std::int64_t{1} << bits_) < problem.n) ++bits_;
    double weight = 1;
    const double ratio = std::pow(condition, 1.0 / static_cast<double>(problem.n));
    for (std::int64_t i = 0; i < problem.n; ++i, weight *= ratio) {
      weight_.push_back(weight);
      draw(problem, i);
      if (progress && i % between_ticks == 0) progress("drawing vectors", i, problem.n);
    }
  }

  static constexpr std::int32_t nowhere = -1;

  std::size_t width() const { return width_; }
  std::size_t places() const { return row_.size(); }
  std::int32_t row(std::size_t place) const { return row_[place]; }
  double value(std::size_t place) const { return value_[place]; }
  double weight(std::size_t vector) const { return weight_[vector]; }

 private:
  // Draws pairs, of a value and of the row that it is for. Those of rows that do not exist, or have a value
  // already, are dropped.
  void draw(const Problem& problem, std::int64_t i) {
    const std::size_t first = static_cast<std::size_t>(i) * width_;
    std::size_t end = first;
    while (end < first + width_ - 1) {
      const double value = random_.fraction();
      const auto row = static_cast<std::int64_t>(random_.next() >> (Random::bits - bits_));
      if (row >= problem.n || find(first, end, row) != end) continue;
      row_[end] = static_cast<std::int32_t>(row);
      value_[end++] = value;
    }
    const std::size_t diagonal = find(first, end, i);
    row_[diagonal] = static_cast<std::int32_t>(i);
    value_[diagonal] = 0.5;
  }

  std::size_t find(std::size_t first, std::size_t end, std::int64_t row) const {
    while (first < end && row_[first] != row) ++first;
    return first;
  }

  Random random_;
  int bits_ = 1;
  std::size_t width_;
  std::vector<std::int32_t> row_;
  std::vector<double> value_;
  std::vector<double> weight_;
};

// Returns about how many elements a block has, before those of the same row and column are added up: 16 %
// more than afterwards in class S, and fewer in larger ones.
double elements_of(const Problem& problem, const Range& rows, const Range& columns) {
  const double n = static_cast<double>(problem.n), width = problem.nonzeros + 1;
  return width * width * static_cast<double>(rows.size) * (static_cast<double>(columns.size) / n);
}

// For each row of a block the places in the vectors that hold a value for it, in their order.
class Places {
 public:
  Places(const Drawn& vectors, const Range& rows)
      : begin_(static_cast<std::size_t>(rows.size) + 1), place_() {
    const auto for_each = [&](const auto& act) {
      for (std::size_t place = 0; place < vectors.places(); ++place) {
        const std::int64_t row = vectors.row(place) - rows.begin;
        if (vectors.row(place) != Drawn::nowhere && row >= 0 && row < rows.size)
          act(static_cast<std::size_t>(row), place);
      }
    };
    for_each([&](std::size_t row, std::size_t) { ++begin_[row + 1]; });
    for (std::size_t row = 1; row < begin_.size(); ++row) begin_[row] += begin_[row - 1];
    place_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for_each(
        [&](std::size_t row, std::size_t place) { place_[next[row]++] = static_cast<std::uint32_t>(place); });
  }

  std::span<const std::uint32_t> of(std::int64_t row) const {
    const auto r = static_cast<std::size_t>(row);
    return std::span(place_).subspan(begin_[r], begin_[r + 1] - begin_[r]);
  }

 private:
  // Class D has 33 million places.
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> place_;
};

// Adds up one row after the other.
class Rows {
 public:
  Rows(const Problem& problem, const Drawn& vectors, const Range& columns)
      : problem_(problem),
        vectors_(vectors),
        columns_(columns),
        sum_(static_cast<std::size_t>(columns.size)),
        is_listed_(sum_.size()) {}

  void append(std::int64_t row, std::span<const std::uint32_t> places, Matrix& matrix) {
    for (const std::uint32_t place : places) {
      const std::size_t vector = place / vectors_.width(), first = vector * vectors_.width();
      for (std::size_t other = first; other < first + vectors_.width(); ++other) {
        if (vectors_.row(other) == Drawn::nowhere) break;
        // Multiplied in the reference's order.
        add(vectors_.row(other), vectors_.value(place) * (vectors_.weight(vector) * vectors_.value(other)));
      }
    }
    add(row, condition - problem_.shift);
    for (const std::int32_t column : listed_) {
      double& sum = sum_[static_cast<std::size_t>(column)];
      if (sum != 0) {
        matrix.column.push_back(column);
        matrix.value.push_back(sum);
      }
      sum = 0;
      is_listed_[static_cast<std::size_t>(column)] = false;
    }
    listed_.clear();
    matrix.row_begin.push_back(static_cast<std::int64_t>(matrix.value.size()));
  }

 private:
  void add(std::int64_t column, double value) {
    const std::int64_t local = column - columns_.begin;
    if (local < 0 || local >= columns_.size) return;
    const auto at = static_cast<std::size_t>(local);
    sum_[at] += value;
    if (is_listed_[at] || sum_[at] == 0) return;
    is_listed_[at] = true;
    listed_.push_back(static_cast<std::int32_t>(local));
  }

  const Problem& problem_;
  const Drawn& vectors_;
  Range columns_;
  std::vector<double> sum_;
  std::vector<char> is_listed_;
  std::vector<std::int32_t>
      listed_;  // the columns of the present row, in the order in which they got a value
};

}  // namespace

Matrix make_matrix(const Problem& problem, const Range& rows, const Range& columns,
                   const Progress& progress) {
  const Drawn vectors(problem, progress);
  const Places places(vectors, rows);
  Rows adding(problem, vectors, columns);
  Matrix matrix{.row_begin = {0}, .column = {}, .value = {}};
  matrix.row_begin.reserve(static_cast<std::size_t>(rows.size) + 1);
  const auto elements = static_cast<std::size_t>(elements_of(problem, rows, columns));
  matrix.column.reserve(elements);
  matrix.value.reserve(elements);
  for (std::int64_t row = 0; row < rows.size; ++row) {
    adding.append(rows.begin + row, places.of(row), matrix);
    if (progress && row % between_ticks == 0) progress("generating the matrix", row, rows.size);
  }
  return matrix;
}

double bytes_to_make(const Problem& problem, const Range& rows, const Range& columns) {
  constexpr double element = sizeof(double) + sizeof(std::int32_t);
  const double n = static_cast<double>(problem.n), width = problem.nonzeros + 1;
  const double vectors = n * (width * element + sizeof(double));
  const double places = static_cast<double>(rows.size) * width * sizeof(std::uint32_t);
  const double sums = static_cast<double>(columns.size) * (sizeof(double) + sizeof(char));
  return vectors + places + sums + elements_of(problem, rows, columns) * element;
}

}  // namespace tca::cg
