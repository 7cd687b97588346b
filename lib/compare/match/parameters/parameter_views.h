// ParameterValues: a sample of each parameter of a checkpoint, by which it is recognised: kPoints elements, whatever its
// size. 512 bytes a parameter, at most 32 MiB: samples that were not asked for lately are read again.
//
// value_distance(): the distance of two samples, relative to the smaller of their standard deviations. It is 0 for equal
// values, some 0.004 for a copy in bfloat16, 0.1 after training, and about 1.4 for other tensors.
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

  // Empty if it cannot be read or has no order. Valid until kMostKnown / 2 other tensors have been asked for.
  std::span<const double> of(RecordId tensor);
  // The first `most` points of a view. Empty also for a tensor that can only be read in order.
  std::vector<double> of(RecordId tensor, const TensorView& view, size_t most = kPoints);

  [[nodiscard]] ReadFailures& failures() { return failures_; }

 private:
  HostTensor* opened(RecordId tensor);
  std::vector<double> read(HostTensor& tensor, const TensorView* view, size_t most);

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  ReadFailures failures_;
  std::unordered_map<RecordId, std::vector<double>> known_,
      older_;  // by tensor; those in `older_` were asked for before the others
  std::optional<HostTensor> last_;
  RecordId last_tensor_;
};

// No value if the values prove nothing: too few, or both constant. Infinite if only one is constant.
[[nodiscard]] std::optional<double> value_distance(std::span<const double> a, std::span<const double> b);
// True up to kNear; few values must be much nearer.
[[nodiscard]] bool is_near(double distance, size_t values);
// True if both sides have one value throughout, the same one.
[[nodiscard]] bool is_same_constant(std::span<const double> a, std::span<const double> b);

// NamedView: how the elements of a parameter may lie in another checkpoint, as a view (dump/index/tensor_list.h) that makes
// its shape that of the other side. Dimensions of 1 are ignored.

struct NamedView {
  TensorView view;
  std::string text;  // "transposed", "axes 3, 2, 0, 1"
};

// The other orders of the axes of `from` that have the shape `to`, for 2 to 4 dimensions.
[[nodiscard]] std::vector<NamedView> permuted_views(const Shape& from, const Shape& to);

// The rows of `from`, or of its transposed matrix, in another order, if that gives the shape `to`. Queries, keys and values
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

struct ValuedTensor {
  ParameterValues& values;
  RecordId tensor;
};
struct NearestView {
  size_t place = 0;  // index of the view
  double distance = 0;
};

// No value if none of the views of `from` is near `to`.
[[nodiscard]] std::optional<NearestView> nearest_view(const ValuedTensor& from, const ValuedTensor& to,
                                                      const std::vector<NamedView>& views);

// value_distance() of a view. No value if its first points show that it is far.
[[nodiscard]] std::optional<double> distance_of_view(const ValuedTensor& from, const TensorView& view,
                                                     std::span<const double> to);

}  // namespace msdump
