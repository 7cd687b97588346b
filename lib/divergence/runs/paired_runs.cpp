#include "divergence/runs/paired_runs.h"

#include <bit>
#include <cmath>
#include <optional>

namespace msdump {
namespace {

// The contents of a tensor of the reference as one number; 0 for contents that many tensors share.
uint64_t contents_of(const TensorDiff& diff) {
  const kernels::PairMetrics& metrics = diff.metrics;
  if (diff.checksum_b != 0) return diff.checksum_b;
  // An extreme that is infinite, as of masked values, is not known: the other one tells tensors apart unless it is whole.
  const auto& known = metrics.max_b ? metrics.max_b : metrics.min_b;
  if (!known || metrics.max_b == metrics.min_b) return 0;
  if ((!metrics.max_b || !metrics.min_b) && *known == std::round(*known)) return 0;
  uint64_t key = 0x9E37'79B9'7F4A'7C15;
  for (const auto& value : {metrics.max_b, metrics.min_b, metrics.mean_b, metrics.std_b, std::optional(diff.scale)}) {
    key = (key ^ std::bit_cast<uint64_t>(value.value_or(0))) * 0xFF51'AFD7'ED55'8CCD;
    key ^= key >> 32;
  }
  return key;
}

// Files of the type Parameter count as outputs; values at the end of a step and variables of the script are in no run.
TensorRole role_in_comparison(const NameFacts& name) {
  if (name.io == Io::kOutput) return TensorRole::kOutput;
  const TensorRole role = role_of(name);
  return name.io == Io::kDebug || role == TensorRole::kParameter ? TensorRole::kOther : role;
}

}  // namespace

RunGraph paired_runs(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                     const std::vector<TensorDiff>& diffs, const CutEvidence* cuts) {
  RunSource source;
  source.known_types = true;
  const bool of_b = has_flow(b);
  if (of_b || has_flow(a)) source.graph = of_b ? b.graph : a.graph;
  source.operators.reserve(pairing.operators.size());
  for (const OpPair& pair : pairing.operators) {
    const SequencedOp& op = pair.b != kNoOperator ? pairing.b[pair.b] : pairing.a[pair.a];
    RunSource::Operator& known = source.operators.emplace_back();
    known.type = op.type;
    const uint32_t in_flow = of_b ? pair.b : pair.a;
    if (source.graph != nullptr && in_flow != kNoOperator) known.op = (of_b ? pairing.b : pairing.a)[in_flow].op;
  }
  source.tensors = pairing.tensors.size();
  source.tensor = [&](uint32_t index) {
    const TensorPair& pair = pairing.tensors[index];
    const CompareSide& side = pair.b != kNoTensor ? b : a;
    const TensorRecord& record = (*side.tensors)[pair.b != kNoTensor ? pair.b : pair.a];
    const FolderIdentity folder = place_of(*side.index, record);
    RunTensor tensor;
    tensor.op = pair.op;
    tensor.place = {folder.rank, folder.step, record.occurrence};
    tensor.graph = folder.graph;
    tensor.role = role_in_comparison(record.name);
    tensor.is_parameter = is_module_parameter(record.name);
    tensor.op_name = record.name.op_name;
    tensor.slot = record.name.slot;
    return tensor;
  };
  source.contents.reserve(diffs.size());
  for (size_t i = 0; i < diffs.size(); ++i) {
    const uint64_t of_pieces = cuts == nullptr ? 0 : cuts->contents_b[i];
    source.contents.push_back(of_pieces != 0 ? of_pieces : contents_of(diffs[i]));
  }
  if (cuts != nullptr) source.other_contents = cuts->contents_a;
  return RunGraph(std::move(source));
}

}  // namespace msdump
