#include "next/next_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "msprobe/names.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

std::string_view name_of(DumpExtent extent) {
  switch (extent) {
    case DumpExtent::kAll: return "all";
    case DumpExtent::kRange: return "range";
    case DumpExtent::kList: return "list";
  }
  return "";
}

std::string_view name_of(Suspect::Open open) {
  using Open = Suspect::Open;
  switch (open) {
    case Open::kPinned: return "pinned";
    case Open::kHiddenCalls: return "hidden_calls";
    case Open::kNotDumped: return "not_dumped";
    case Open::kStatistics: return "statistics";
    case Open::kBefore: return "before";
    case Open::kStepsBefore: return "steps_before";
  }
  return "";
}

std::string_view name_of(PlanState state) {
  switch (state) {
    case PlanState::kNothing: return "nothing";
    case PlanState::kPinned: return "pinned";
    case PlanState::kAsked: return "asked";
  }
  return "";
}

size_t calls_before(size_t rounds) {
  constexpr size_t kFirst = 6, kMostDoublings = 10;
  return kFirst << std::min(2 * (rounds - 1), kMostDoublings);
}

std::vector<int64_t> steps_before(int64_t end) {
  constexpr int64_t kMost = 16;
  std::vector<int64_t> steps;
  for (int64_t step = std::max<int64_t>(0, end - kMost); step < end; ++step) steps.push_back(step);
  return steps;
}

uint64_t bytes_of_elements(const TensorRecord& record) {
  if (record.shape == nullptr) return record.bytes.value_or(0);
  const auto count = element_count(*record.shape);
  return count ? bytes_of(record.name.dtype, *count).value_or(0) : 0;
}

std::string name_to_ask(const DumpRequest& request, const SequencedOp& op, const std::string& name) {
  constexpr Version kPatterns{2, 3, 0};
  if (request.kind == ConfigKind::kMsprobe) return backward_entry_of(name).value_or(name);
  const bool patterns = request.target.version.value_or(kPatterns) >= kPatterns;
  if (request.kind != ConfigKind::kDataDump || op.op != kNoIndex || !patterns) return name;
  std::string pattern;
  for (const char c : name) pattern += c == '_' ? "[_/]" : std::string(1, c);
  return fmt::format("name-regex({})", pattern);
}

}  // namespace msdump
