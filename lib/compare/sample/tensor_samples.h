// Samples: a few elements of each tensor, by which values are recognised without reading the whole of it.
//
//   sample_positions()  which elements: the same ones of all tensors of one size
//   TensorSamples       the samples of the tensors of a dump
//   likeness()          how alike two samples are
//   content_digest()    when a sample is not enough: a hash of all elements
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "compare/sample/read_failures.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"

namespace msdump {

// The elements of a sample, and of a first look at them.
inline constexpr size_t kSamplePoints = 192, kFirstPoints = 32;

// Up to `most` positions in a tensor; all of one that has no more elements. They are irregular, so that they do not align
// with rows, and the first ones are spread over the tensor, too.
[[nodiscard]] std::vector<int64_t> sample_positions(int64_t count, size_t most = kSamplePoints);

// True if doubles can hold the elements, and they have an order.
[[nodiscard]] bool can_sample(DType dtype);
// Reads single elements as doubles. A tensor that can_sample().
Status read_elements(HostTensor& tensor, std::span<const int64_t> positions, double* into);

// The sample of a tensor, and all its elements. Empty if the tensor cannot be read, or is none that can_sample().
[[nodiscard]] std::vector<double> sample_of(const DumpIndex& index, const TensorRecord& record);
[[nodiscard]] std::vector<double> elements_of(const DumpIndex& index, const TensorRecord& record,
                                              const CancelToken& cancel);

// Keeps samples, at most 32 MiB of them: those that were not asked for lately are read again.
class TensorSamples {
 public:
  // The arguments must outlive this.
  TensorSamples(const DumpIndex& index, const std::vector<TensorRecord>& tensors) : index_(index), tensors_(tensors) {}

  struct Sample {
    int64_t count = 0;           // elements of the tensor
    std::vector<double> values;  // empty if it cannot be read or has no order
  };
  // Valid until kMostKnown / 2 other tensors have been asked for.
  const Sample& of(RecordId tensor);
  // The first `most` points of a view. Empty also for a tensor that can only be read in order.
  std::vector<double> of(RecordId tensor, const TensorView& view, size_t most = kSamplePoints);

  [[nodiscard]] const TensorRecord& record(RecordId tensor) const { return tensors_[tensor]; }
  [[nodiscard]] ReadFailures& failures() { return failures_; }

 private:
  static constexpr size_t kMostKnown = size_t{1} << 14;

  HostTensor* opened(RecordId tensor);
  std::vector<double> read(HostTensor& tensor, std::span<const int64_t> positions);

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  ReadFailures failures_;
  std::unordered_map<RecordId, Sample> known_, older_;  // those in `older_` were asked for before the others
  std::optional<HostTensor> last_;
  RecordId last_tensor_;
};

// Fewer values agree, or correlate, by chance.
inline constexpr size_t kFewValues = 16;
// The relative tolerance of a scalar, such as the loss or an argument.
inline constexpr double kSameNumber = 1e-3;
// From this likeness on two samples are of one tensor; below the other, of two.
inline constexpr double kAlike = 0.85, kUnlike = 0.7;

// How alike two samples are, from 0 (nothing in common) to 1: their correlation, which neither a factor changes, such as a
// loss scale, nor another precision. Of few elements, which correlate by chance, a factor counts. Of constants it is 1 less
// the relative error. No value if they prove nothing: nothing is finite, one is constant, or both are 0.
[[nodiscard]] std::optional<double> likeness(std::span<const double> a, std::span<const double> b);
struct SampledTensor {
  TensorSamples& samples;
  RecordId tensor;
};
// Also 0 if the tensors have different numbers of elements, and no value if the elements of one are not known.
[[nodiscard]] std::optional<double> likeness(const SampledTensor& a, const SampledTensor& b);

// True if all are equal. Many tensors are all zeros or ones, so that two are equal proves nothing. NaN differs from itself.
[[nodiscard]] bool is_constant(std::span<const double> values);

// A hash of all elements. An error if interrupted.
Result<uint64_t> content_digest(HostTensor& tensor, const CancelToken& cancel);

}  // namespace msdump
