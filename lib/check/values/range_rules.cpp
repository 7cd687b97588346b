#include "check/values/range_rules.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "check/values/value_rules.h"
#include "dump/elements/host_tensor.h"
#include "kernels/reduce/count_range.h"
#include "parts/fact_store.h"

namespace msdump::check {
namespace {

constexpr int64_t kSlab = int64_t{1} << 16;  // elements

struct InRange {
  uint64_t inside = 0, elements = 0;
};
void fields(auto& visit, FieldsOf<InRange> auto& value) { MSDUMP_FIELDS(inside, elements); }

// Elements from `first` to `last`, both included. kUnsupportedDtype for those that are not real numbers.
Result<uint64_t> count_in_range(HostTensor& tensor, double first, double last, const CancelToken& cancel) {
  std::vector<std::byte> slab(static_cast<size_t>(std::min(kSlab, tensor.count())) * tensor.element_bytes());
  uint64_t found = 0;
  for (int64_t begin = 0; begin < tensor.count(); begin += kSlab) {
    MSDUMP_CHECK_OK(cancel.check());
    const int64_t count = std::min(kSlab, tensor.count() - begin);
    MSDUMP_CHECK_OK(tensor.read(begin, count, slab.data()));
    const auto some = kernels::count_range(tensor.dtype(), slab.data(), count, first, last);
    if (!some) return fail(ErrorCode::kUnsupportedDtype, "a range of {} is not known", name_of(tensor.dtype()));
    found += *some;
  }
  return found;
}

class RangeJudge {
 public:
  RangeJudge(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, RuleId id)
      : dump_(dump), facts_(facts), rules_(rules), id_(id) {}

  [[nodiscard]] bool takes(uint32_t tensor) const {
    if (!rules_.on(id_) || !facts_[tensor].known() || dump_.op_of(tensor) == kNone) return false;
    if (dump_.role(tensor) == TensorRole::kOther || dump_.role(tensor) == TensorRole::kUnwritten) return false;
    if (id_ == RuleId::kActivationRange && !is_activation(dump_, tensor)) return false;
    return rules_[id_].takes(dump_.operators()[dump_.op_of(tensor)].name);
  }

  // An empty text: no message.
  struct Judgement {
    double value = 0;
    std::string message;
  };
  Result<Judgement> judge(uint32_t tensor, const RunContext& context) const {
    double value = 0;
    const TensorFacts& facts = facts_[tensor];
    if (facts.max && facts.min) {
      value = *facts.max - *facts.min;
      const double least = parameter("max_min_lt"), most = parameter("max_min_gt");
      if (value < least) return Judgement{value, fmt::format("max - min {:g} < {:g}", value, least)};
      if (value > most) return Judgement{value, fmt::format("max - min {:g} > {:g}", value, most)};
    }
    const double least = parameter("range_percentage_lt"), most = parameter("range_percentage_gt");
    if ((std::isnan(least) && std::isnan(most)) || facts.from != TensorFacts::From::kElements) return Judgement();
    const auto bound = [&](std::string_view name, double standard) {
      return std::isnan(parameter(name)) ? standard : parameter(name);
    };
    const double first = bound("range_start_inclusive", -HUGE_VAL), last = bound("range_end_inclusive", HUGE_VAL);
    MSDUMP_TRY(const InRange counted,
               recorded<InRange>(context.facts, {FactKind::kInRange, static_cast<uint32_t>(id_), tensor},
                                 [&] { return count(tensor, first, last, context.cancel); }));
    if (counted.elements == 0) return Judgement();
    value = 100.0 * static_cast<double>(counted.inside) / static_cast<double>(counted.elements);
    const std::string share = fmt::format("{:.3g} % of the elements in [{:g}, {:g}]", value, first, last);
    if (value < least) return Judgement{value, fmt::format("{} < {:g} %", share, least)};
    if (value > most) return Judgement{value, fmt::format("{} > {:g} %", share, most)};
    return Judgement();
  }

  [[nodiscard]] Finding finding(uint32_t tensor, Judgement&& judgement) const {
    Finding finding = finding_of(dump_, rules_, id_, tensor);
    finding.value = judgement.value;
    finding.message = std::move(judgement.message);
    return finding;
  }

 private:
  [[nodiscard]] double parameter(std::string_view name) const { return rules_.value(id_, name); }

  Result<InRange> count(uint32_t tensor, double first, double last, const CancelToken& cancel) const {
    MSDUMP_TRY(HostTensor host, HostTensor::open(dump_.index(), dump_.record(tensor), {}));
    if (host.count() == 0) return InRange();
    MSDUMP_TRY(const uint64_t inside, count_in_range(host, first, last, cancel));
    MSDUMP_CHECK_OK(host.check_unchanged());
    return InRange{inside, static_cast<uint64_t>(host.count())};
  }

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const RuleSet& rules_;
  const RuleId id_;
};

}  // namespace

Status judge_ranges(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, const RunContext& context,
                    std::vector<Finding>& findings, std::vector<Error>& failures) {
  for (const RuleId id : {RuleId::kTensorRange, RuleId::kActivationRange}) {
    if (!rules.on(id)) continue;
    const RangeJudge judge(dump, facts, rules, id);
    std::vector<uint32_t> tensors;
    for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) {
      if (judge.takes(tensor)) tensors.push_back(tensor);
    }
    using Judged = Result<RangeJudge::Judgement>;
    context.pool.ordered_for(
        static_cast<int64_t>(tensors.size()),
        [&](int64_t i) { return judge.judge(tensors[static_cast<size_t>(i)], context); },
        [&](int64_t i, Judged&& judged) {
          if (judged && !judged->message.empty())
            findings.push_back(judge.finding(tensors[static_cast<size_t>(i)], std::move(*judged)));
          const bool reported = judged || judged.error().code == ErrorCode::kUnsupportedDtype;
          if (!reported && judged.error().code != ErrorCode::kCancelled) failures.push_back(std::move(judged).error());
        });
  }
  return context.cancel.check();
}

}  // namespace msdump::check
