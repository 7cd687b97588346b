#include "compare/dumps/one_sided_lines.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace msdump {
namespace {

class LineGrouper {
 public:
  LineGrouper(const Pairing& pairing, const OperatorLines& a, const OperatorLines& b)
      : pairing_(pairing), a_(a), b_(b), expected_(alone_for_known_reason(pairing)) {}

  std::vector<OneSidedLine> run() {
    for (uint32_t i = 0; i < pairing_.operators.size(); ++i) {
      const OpPair& pair = pairing_.operators[i];
      const bool alone = (pair.a == kNoOperator) != (pair.b == kNoOperator);
      if (alone && !expected_[i] && in_shared_step(pair)) add(i, pair.a == kNoOperator);
    }
    if (!lines_.empty()) count_shared();
    return std::move(lines_);
  }

 private:
  // Of an operator of one side.
  [[nodiscard]] bool in_shared_step(const OpPair& pair) const {
    const bool of_reference = pair.a == kNoOperator;
    const auto& step = of_reference ? pairing_.b[pair.b].step : pairing_.a[pair.a].step;
    const std::vector<int64_t>& alone = of_reference ? pairing_.steps_of_b_alone : pairing_.steps_of_a_alone;
    return !step || !std::binary_search(alone.begin(), alone.end(), *step);
  }

  [[nodiscard]] const SourceFrame* frame(uint32_t op, bool of_reference) const {
    const OpPair& pair = pairing_.operators[op];
    const SequencedOp& one = of_reference ? pairing_.b[pair.b] : pairing_.a[pair.a];
    if (one.op == kNoIndex || one.tensors.empty()) return nullptr;
    return (of_reference ? b_ : a_).of(one.op).frame;
  }

  using Key = std::tuple<bool, std::string_view, uint32_t>;
  static Key key(bool of_reference, const SourceFrame& frame) { return {of_reference, frame.file, frame.line}; }

  void add(uint32_t op, bool of_reference) {
    const SourceFrame* const found = frame(op, of_reference);
    if (found == nullptr) return;
    const auto [place, added] = places_.try_emplace(key(of_reference, *found), lines_.size());
    if (added) lines_.push_back({of_reference, found, {}, 0});
    lines_[place->second].operators.push_back(op);
  }

  void count_shared() {
    for (uint32_t i = 0; i < pairing_.operators.size(); ++i) {
      const OpPair& pair = pairing_.operators[i];
      if (pair.a == kNoOperator || pair.b == kNoOperator) continue;
      for (const bool of_reference : {false, true}) {
        const SourceFrame* const found = frame(i, of_reference);
        const auto place = found == nullptr ? places_.end() : places_.find(key(of_reference, *found));
        if (place != places_.end()) ++lines_[place->second].shared;
      }
    }
  }

  const Pairing& pairing_;
  const OperatorLines &a_, &b_;
  const std::vector<bool> expected_;
  std::map<Key, size_t> places_;  // in lines_
  std::vector<OneSidedLine> lines_;
};

}  // namespace

std::vector<OneSidedLine> one_sided_lines(const Pairing& pairing, const OperatorLines& a, const OperatorLines& b) {
  if (pairing.other_framework) return {};
  return LineGrouper(pairing, a, b).run();
}

}  // namespace msdump
