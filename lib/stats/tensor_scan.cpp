#include "stats/tensor_scan.h"

#include <vector>

#include "kernels/reduce/reduce.h"
#include "stats/stream.h"

namespace msdump::stats {
namespace {

// Complete chunks of the newest dialect, as many as go abreast.
constexpr int64_t kScannedElements = 8 * 20480;

}  // namespace

struct TensorScan::State {
  State(HostTensor& of, const TensorRecord& record, const ComputeOptions& with)
      : options(with_dialect_in_use(with)),
        tensor(of),
        statistics(start_tensor(of, {&record}, options)),
        stream(of, statistics, 0, statistics.analysis.chunks.count, options.wanted, buffer) {}

  const ComputeOptions options;
  HostTensor& tensor;
  TensorState statistics;
  std::vector<std::byte> buffer;
  Stream stream;
  std::vector<kernels::ReduceLane> lanes, magnitudes;
};

TensorScan::TensorScan(HostTensor& tensor, const TensorRecord& record, const ComputeOptions& options)
    : state_(std::make_unique<State>(tensor, record, options)) {}
TensorScan::~TensorScan() = default;

Result<std::span<const std::byte>> TensorScan::elements(int64_t first) {
  Stream& stream = state_->stream;
  if (first == stream.next() && !stream.done()) {
    MSDUMP_CHECK_OK(stream.read(kScannedElements * static_cast<int64_t>(state_->tensor.element_bytes())));
    state_->lanes.clear();
    state_->magnitudes.clear();
    stream.add_lanes(state_->lanes);
    stream.add_mean_abs_lanes(state_->magnitudes);
    kernels::reduce(state_->lanes, reduce_rule_of(state_->options));
    kernels::reduce(state_->magnitudes, mean_abs_rule());
  }
  return stream.elements_from(first);
}

bool TensorScan::is_complete() const { return state_->stream.done(); }

Result<TensorNumbers> TensorScan::finish() {
  return finish_tensor(state_->tensor, state_->statistics, state_->options);
}

}  // namespace msdump::stats
