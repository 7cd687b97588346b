// How the elements of a parameter may lie in another checkpoint: the views (dump/index/tensor_view.h) that make the one of
// the shape of the other. Dimensions of 1 count on neither side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dump/index/tensor_view.h"
#include "tensor/shape.h"

namespace msdump {

struct NamedView {
  TensorView view;
  std::string text;  // "transposed", "axes 3, 2, 0, 1"
};

// All other orders of the axes of `from` that are of the shape `to`; of at most 4 dimensions.
[[nodiscard]] std::vector<NamedView> permuted_views(const Shape& from, const Shape& to);

// The rows of `from`, or of its transposed matrix, in another order, where that gives the shape `to`: as queries, keys
// and values of heads that are kept head by head or not, as the pairs of rotary embeddings, which are neighbours or
// halves of a head.
[[nodiscard]] std::vector<NamedView> regrouped_views(const Shape& from, const Shape& to);

// A part of a tensor whose other parts are parameters of their own: on an axis, of each of `groups` equal blocks
// `extent` indices from `begin` on.
struct JoinedPart {
  size_t axis = 0;  // of the whole without dimensions of 1
  int64_t groups = 1, begin = 0, extent = 0;
  bool transposed = false;  // the part lies transposed in the whole
};
// Where a parameter of the shape `part` can lie in `whole` by its shape alone, for axes and orders: with one group from 0
// on.
[[nodiscard]] std::vector<JoinedPart> joined_places(const Shape& whole, const Shape& part);
// Of the shape `part`, which fits.
[[nodiscard]] TensorView joined_view(const Shape& whole, const JoinedPart& place, const Shape& part);

// The first rows.
[[nodiscard]] TensorView first_rows(const Shape& shape, int64_t begin, int64_t count);

}  // namespace msdump
