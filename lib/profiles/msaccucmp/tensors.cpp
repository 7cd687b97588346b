#include "profiles/msaccucmp/tensors.h"

#include <algorithm>

#include <fmt/format.h>

#include "dump/index/dump_index.h"

namespace msdump {
namespace {

struct OpenedTensor {
  HostTensor tensor;
  uint64_t address = 0;
};

Result<OpenedTensor> open_tensor(const MsaccucmpSide& side, const TensorRecord& record) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(*side.side.index, record, {}));
  OpenedTensor opened{std::move(tensor), 0};
  const IndexedFile& file = side.side.index->files()[record.file];
  if (file.kind != FileKind::kDumpFile) return opened;
  MSDUMP_TRY(const OpenedFile holder, side.side.index->open_tensor(file, record.item));
  opened.address = holder.tensors.front().address;
  return opened;
}

std::string dtype_text(const HostTensor& tensor) { return std::string(numpy_name(info(tensor.dtype()).npy_dtype)); }

class TensorComparison {
 public:
  TensorComparison(const MsaccucmpSide& a, const MsaccucmpSide& b, const Pairing& pairing, const CancelToken& cancel)
      : a_(a), b_(b), pairing_(pairing), cancel_(cancel) {}

  Result<MsaccucmpOpRows> run(const std::vector<uint32_t>& tensors) {
    for (const uint32_t tensor : tensors) {
      const TensorPair& pair = pairing_.tensors[tensor];
      const OpPair& op = pairing_.operators[pair.op];
      if (pair.a == kNoTensor && op.a != kNoOperator) {
        ++result_.counts.left_out;  // the tool looks only at the candidate's tensors
        continue;
      }
      MsaccucmpRow row = op_row(op);
      if (pair.a == kNoTensor) {
        add_reference_only(std::move(row));
        break;
      }
      MSDUMP_CHECK_OK(add(pair, std::move(row)));
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] MsaccucmpRow op_row(const OpPair& op) const {
    MsaccucmpRow row;
    if (op.a != kNoOperator) {
      row.npu_dump = pairing_.a[op.a].name;
      if (!pairing_.a[op.a].type.empty()) row.op_type = pairing_.a[op.a].type;
    }
    if (op.b != kNoOperator) row.ground_truth = pairing_.b[op.b].name;
    return row;
  }

  void add_reference_only(MsaccucmpRow row) {
    std::string reason = fmt::format("[{0}] There is no the my output dump file for the op \"{0}\".", row.ground_truth);
    result_.add_unmatched(std::move(row), std::move(reason));
  }

  Status add(const TensorPair& pair, MsaccucmpRow row) {
    const TensorRecord& of_a = (*a_.side.tensors)[pair.a];
    row.tensor_index = fmt::format("{}:{}:{}", row.npu_dump, name_of(of_a.name.io), of_a.name.slot);
    if (of_a.shape != nullptr) row.shape = msaccucmp_shape(*of_a.shape);
    if (pair.b == kNoTensor) {
      std::string reason =
          fmt::format("[{}] There is no the ground truth dump file for {}.", row.npu_dump, row.tensor_index);
      result_.add_unmatched(std::move(row), std::move(reason));
      return {};
    }
    auto metrics = metrics_of(of_a, (*b_.side.tensors)[pair.b], row);
    return result_.add(std::move(row), std::move(metrics));
  }

  // Fills in the facts that only open tensors have.
  [[nodiscard]] Result<MsaccucmpMetrics> metrics_of(const TensorRecord& of_a, const TensorRecord& of_b,
                                                    MsaccucmpRow& row) const {
    MSDUMP_TRY(OpenedTensor a, open_tensor(a_, of_a));
    MSDUMP_TRY(OpenedTensor b, open_tensor(b_, of_b));
    row.address_a = msaccucmp_address(a.address);
    row.dtype_a = dtype_text(a.tensor);
    row.dtype_b = dtype_text(b.tensor);
    row.shape = msaccucmp_shape(a.tensor.shape());
    if (a.tensor.plan().policy == PlanPolicy::kRaw || b.tensor.plan().policy == PlanPolicy::kRaw)
      return fail(ErrorCode::kUnsupportedDtype, "[{}] {} is bytes without a dtype.", row.npu_dump, row.tensor_index);
    if (a.tensor.count() != b.tensor.count()) {
      return fail(
          ErrorCode::kShapeMismatch,
          "[{}] Due to the different shapes on the left and right,the left dump data({}) can not be compared to "
          "the right dump data({}). Please check the batch of the dump data or the shape may be changed due to "
          "optimization.",
          row.npu_dump, a.tensor.count(), b.tensor.count());
    }
    return msaccucmp_metrics({a.tensor, b.tensor, msaccucmp_path(a.tensor.path()), msaccucmp_path(b.tensor.path()),
                              is_msaccucmp_scalar(a.tensor.shape()), true},
                             cancel_);
  }

  const MsaccucmpSide &a_, &b_;
  const Pairing& pairing_;
  const CancelToken& cancel_;
  MsaccucmpOpRows result_;
};

}  // namespace

MsaccucmpTensorPairs pair_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b) {
  MsaccucmpTensorPairs result;
  const bool single = a.side.tensors->size() == 1 && b.side.tensors->size() == 1;
  result.pairing = single ? pair_single(a.side, b.side) : pair_sides(a.side, b.side);
  const auto& operators = result.pairing.operators;
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < operators.size(); ++i) order.push_back(i);
  // Those of the reference alone come last, and keep its order.
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t left, uint32_t right) { return operators[left].a < operators[right].a; });
  std::vector<uint32_t> place(operators.size());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  result.operators.resize(operators.size());
  for (uint32_t i = 0; i < result.pairing.tensors.size(); ++i)
    result.operators[place[result.pairing.tensors[i].op]].push_back(i);
  std::erase_if(result.operators, [](const std::vector<uint32_t>& tensors) { return tensors.empty(); });
  return result;
}

Result<MsaccucmpOpRows> compare_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                        const MsaccucmpTensorPairs& pairs, const std::vector<uint32_t>& tensors,
                                        const CancelToken& cancel) {
  return TensorComparison(a, b, pairs.pairing, cancel).run(tensors);
}

}  // namespace msdump
