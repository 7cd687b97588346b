// NamedView: how the elements of a parameter may lie in another checkpoint, as a view (dump/index/tensor_list.h) that makes
// its shape that of the other side. Dimensions of 1 are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/sample/tensor_samples.h"
#include "dump/index/tensor_list.h"
#include "tensor/shape.h"

namespace msdump {

struct NamedView {
  TensorView view;
  std::string text;  // "transposed", "axes 3, 2, 0, 1"
};

// The other orders of the axes of `from` that have the shape `to`, for 2 to 4 dimensions.
[[nodiscard]] std::vector<NamedView> permuted_views(const Shape& from, const Shape& to);

// The rows of `from`, or rows or columns of its transposed matrix, in another order, if that gives the shape `to`. Queries, keys and values
// of heads may be kept head by head or not. The pairs of rotary embeddings may be neighbours or halves of a head.
[[nodiscard]] std::vector<NamedView> regrouped_views(const Shape& from, const Shape& to);

// A part of a joined tensor whose other parts are parameters of their own. It has `extent` indices of an axis, from `begin`
// on, in each of `groups` equal blocks.
struct JoinedPart {
  size_t axis = 0;  // of the joined tensor without dimensions of 1
  int64_t groups = 1, begin = 0, extent = 0;
  bool transposed = false;  // the part is transposed in the joined tensor
};
// The places that a parameter of the shape `part` can have in `whole` by the shapes alone, for all axes and orders. Each has
// one group, from 0 on.
[[nodiscard]] std::vector<JoinedPart> joined_places(const Shape& whole, const Shape& part);
// The view of a part, in the shape `part`, which must fit.
[[nodiscard]] TensorView joined_view(const Shape& whole, const JoinedPart& place, const Shape& part);

// `count` rows from `begin` on.
[[nodiscard]] TensorView first_rows(const Shape& shape, int64_t begin, int64_t count);

// nearest_view(): the view of a parameter that has the values of another one.

struct NearestView {
  size_t place = 0;  // index of the view
  double likeness = 0;
};

// No value if none of the views of `from` is alike `to`.
[[nodiscard]] std::optional<NearestView> nearest_view(const SampledTensor& from, const SampledTensor& to,
                                                      const std::vector<NamedView>& views);

// The likeness of a view and the sample `to` if it is at least kAlike, else 0. Only the first points are read if they show it.
[[nodiscard]] double likeness_of_view(const SampledTensor& from, const TensorView& view, std::span<const double> to);

}  // namespace msdump
