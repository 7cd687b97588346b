#include "dump/index/tensor_view.h"

namespace msdump {

int64_t TensorView::count() const {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

int64_t TensorView::last() const {
  int64_t last = first;
  for (const Axis& axis : axes) last += (axis.extent - 1) * axis.stride;
  return last;
}

bool TensorView::is_run() const {
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].extent == 1) continue;
    if (axes[i].stride != stride) return false;
    stride *= axes[i].extent;
  }
  return true;
}

int64_t TensorView::element(int64_t index) const {
  int64_t element = first;
  for (size_t i = axes.size(); i-- > 0;) {
    element += index % axes[i].extent * axes[i].stride;
    index /= axes[i].extent;
  }
  return element;
}

TensorView view_of(const Shape& shape) {
  TensorView view;
  view.shape = shape;
  view.axes.resize(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    view.axes[i] = {shape[i], stride};
    stride *= shape[i];
  }
  return view;
}

}  // namespace msdump
