// ParameterValues: some values of each parameter of a checkpoint, to recognise it by: at kPoints places spread over it,
// whatever its size. 512 bytes a parameter, at most 32 MiB: those that were not asked for lately are read again.
//
// value_distance: how far two lists of values are from each other, in standard deviations of the second: 0 for equal
// ones, some 0.004 for a copy in bfloat16, 0.1 after training, about 1.4 for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/match/read_failures.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "tensor/shape.h"

namespace msdump {

inline constexpr size_t kPoints = 64, kFirstPoints = 16;
inline constexpr size_t kMostKnown = size_t{1} << 16;  // parameters whose values are kept
// Up to this distance two tensors are the same parameter.
inline constexpr double kNear = 0.5;

class ParameterValues {
 public:
  ParameterValues(const DumpIndex& index, const std::vector<TensorRecord>& tensors)
      : index_(index), tensors_(tensors) {}

  // Empty if it cannot be read, or has no order. Valid until at least kMostKnown / 2 other tensors have been asked for.
  std::span<const double> of(uint32_t tensor);
  // The same points of a view of it; `most` of them. Empty also for a tensor whose elements change places.
  std::vector<double> of(uint32_t tensor, const TensorView& view, size_t most = kPoints);

  // Files that could not be read.
  [[nodiscard]] ReadFailures& failures() { return failures_; }

 private:
  HostTensor* opened(uint32_t tensor);
  std::vector<double> read(HostTensor& tensor, const TensorView* view, size_t most);

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  ReadFailures failures_;
  std::unordered_map<uint32_t, std::vector<double>> known_,
      older_;  // by tensor; the latter were asked for before the former
  std::optional<HostTensor> last_;
  uint32_t last_tensor_ = UINT32_MAX;
};

// Nothing where values prove nothing: too few, or both constant. Infinite where one is constant.
[[nodiscard]] std::optional<double> value_distance(std::span<const double> a, std::span<const double> b);
// value_distance up to kNear; for few values much nearer.
[[nodiscard]] bool is_near(double distance, size_t values);
// One value throughout, on both sides the same.
[[nodiscard]] bool is_same_constant(std::span<const double> a, std::span<const double> b);

// How the elements of a parameter may lie in another checkpoint: the views (dump/index/tensor_list.h) that make the one of
// the shape of the other. Dimensions of 1 count on neither side.

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

// Which view of a parameter has the values of another one.

struct ValuedTensor {
  ParameterValues& values;
  uint32_t tensor = 0;
};
struct NearestView {
  size_t place = 0;  // in the views
  double distance = 0;
};

// Nothing if none of the views of `from` is near `to`.
[[nodiscard]] std::optional<NearestView> nearest_view(const ValuedTensor& from, const ValuedTensor& to,
                                                      const std::vector<NamedView>& views);

// value_distance of a view; nothing for one whose first points show that it is far.
[[nodiscard]] std::optional<double> distance_of_view(const ValuedTensor& from, const TensorView& view,
                                                     std::span<const double> to);

}  // namespace msdump
