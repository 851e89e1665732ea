#include "arrays/geometry.hpp"

#include <algorithm>
#include <numeric>

#include "tca/error.hpp"

namespace opentca_python {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw tca::Error(tca::Errc::invalid_argument, "Chain.put: " + why);
}

// An axis that has more than one element, on both sides of a put.
struct Axis {
  std::size_t number;  // in the array, for messages
  std::int64_t count, pitch;
};

std::vector<Axis> axes_of(const Geometry& array, const char* side) {
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
    const std::int64_t pitch = array.strides[axis];
    if (array.shape[axis] == 1) continue;
    if (pitch <= 0) {
      refuse(std::string(side) + ": axis " + std::to_string(axis) +
             (pitch < 0 ? " runs backwards (step " + std::to_string(pitch) +
                              " elements). A layout ascends: turn the array round where it is used"
                        : " repeats one element, which a layout cannot"));
    }
    axes.push_back({axis, array.shape[axis], pitch});
  }
  return axes;
}

// Joins axes that lie together: whole rows below each other are one run.
void join(std::vector<Axis>& axes) {
  for (std::size_t i = axes.size(); i-- > 1;) {
    if (axes[i - 1].pitch != axes[i].count * axes[i].pitch) continue;
    axes[i - 1].count *= axes[i].count;
    axes[i - 1].pitch = axes[i].pitch;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

tca::Layout layout_of(const std::vector<Axis>& axes, const char* side) {
  std::int64_t run = 1;
  std::vector<tca::Layout::Loop> loops;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (axis == axes.rbegin() && axis->pitch == 1)
      run = axis->count;
    else
      loops.push_back({axis->count, axis->pitch});
  }
  if (loops.size() > tca::Layout::max_loops) {
    refuse(std::string(side) + ": axis " + std::to_string(axes.front().number) +
           " would be a fourth loop around the contiguous elements, and a layout has three. Put it slice by "
           "slice");
  }
  for (std::size_t i = axes.size(); i-- > 1;) {
    const Axis& inner = axes[i];
    const Axis& outer = axes[i - 1];
    if (outer.pitch <= (inner.count - 1) * inner.pitch) {
      refuse(std::string(side) + ": axis " + std::to_string(outer.number) + " (" +
             std::to_string(outer.pitch) + " elements from one to the next) runs within axis " +
             std::to_string(inner.number) + ", which a layout cannot, unless the other array does the same");
    }
  }
  return tca::nested(run, loops);
}

}  // namespace

std::int64_t Geometry::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
}

Geometry whole(std::vector<std::int64_t> shape) {
  Geometry array{0, std::move(shape), {}};
  array.strides.resize(array.shape.size());
  std::int64_t next = 1;
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    array.strides[axis] = next;
    next *= std::max<std::int64_t>(array.shape[axis], 1);
  }
  return array;
}

Geometry indexed(const Geometry& array, nb::handle index) {
  const nb::tuple items =
      nb::isinstance<nb::tuple>(index) ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index);
  const std::size_t axes = array.shape.size();
  std::size_t named = 0;
  for (nb::handle item : items)
    if (item.ptr() != Py_Ellipsis) ++named;
  if (named > axes || items.size() > named + 1) {
    PyErr_Format(PyExc_IndexError, "%zu indices for an array of %zu dimensions", named, axes);
    throw nb::python_error();
  }

  Geometry part{array.offset, {}, {}};
  std::size_t axis = 0;
  const auto keep = [&](std::size_t until) {
    for (; axis < until; ++axis) {
      part.shape.push_back(array.shape[axis]);
      part.strides.push_back(array.strides[axis]);
    }
  };
  for (nb::handle item : items) {
    if (item.ptr() == Py_Ellipsis) {
      keep(axis + (axes - named));
    } else if (PySlice_Check(item.ptr())) {
      Py_ssize_t start = 0, stop = 0, step = 0;
      if (PySlice_Unpack(item.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
      const Py_ssize_t count = PySlice_AdjustIndices(array.shape[axis], &start, &stop, step);
      if (count > 0) part.offset += start * array.strides[axis];
      part.shape.push_back(count);
      part.strides.push_back(step * array.strides[axis]);
      ++axis;
    } else {
      const Py_ssize_t given = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
      if (given == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
      const Py_ssize_t at = given < 0 ? given + array.shape[axis] : given;
      if (at < 0 || at >= array.shape[axis]) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %zu with size %zd", given, axis,
                     static_cast<Py_ssize_t>(array.shape[axis]));
        throw nb::python_error();
      }
      part.offset += at * array.strides[axis];
      ++axis;
    }
  }
  keep(axes);
  return part;
}

std::pair<tca::Layout, tca::Layout> layouts(const Geometry& to, const Geometry& from) {
  const auto squeezed = [](const Geometry& array) {
    std::vector<std::int64_t> shape = array.shape;
    std::erase(shape, 1);
    return shape;
  };
  if (squeezed(to) != squeezed(from)) {
    refuse("the target has the shape " + describe(to.shape) + " and the source " + describe(from.shape) +
           "; they must be the same");
  }
  if (to.elements() == 0) return {tca::block(0), tca::block(0)};

  const std::vector<Axis> target = axes_of(to, "target");
  const std::vector<Axis> source = axes_of(from, "source");
  // Which element goes where counts, not which goes first: arrays that are transposed alike are put as they lie.
  std::vector<std::size_t> order(source.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return source[a].pitch > source[b].pitch; });
  std::vector<Axis> sorted_target, sorted_source;
  for (const std::size_t axis : order) {
    sorted_target.push_back(target[axis]);
    sorted_source.push_back(source[axis]);
  }
  join(sorted_target);
  join(sorted_source);
  return {layout_of(sorted_target, "target"), layout_of(sorted_source, "source")};
}

std::string describe(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace opentca_python
