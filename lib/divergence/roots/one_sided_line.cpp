#include "divergence/roots/one_sided_line.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/dumps/one_sided_lines.h"
#include "divergence/model/constants.h"

namespace msdump {

void blame_one_sided_line(DiffResult& run) {
  if (!run.divergence.roots.empty() || run.divergence.flow == FlowKind::kIr) return;
  const std::vector<OneSidedLine> lines = one_sided_lines(run.pairing, run.a->lines, run.b->lines);
  const auto most = std::max_element(
      lines.begin(), lines.end(),
      [](const OneSidedLine& one, const OneSidedLine& other) { return one.operators.size() < other.operators.size(); });
  if (most == lines.end()) return;
  Divergence root;
  root.op = most->operators.front();
  std::optional<GradientCut>& cut = run.divergence.cut;
  const bool is_cut = cut && std::find(cut->operators.begin(), cut->operators.end(), root.op) != cut->operators.end();
  if (is_cut) {
    root.op = cut->at;
    root.cut = std::move(cut);
  }
  const OpPair& pair = run.pairing.operators[root.op];
  const SequencedOp& first = most->of_reference ? run.pairing.b[pair.b] : run.pairing.a[pair.a];
  root.place.rank = first.rank;
  root.place.step = first.step;
  root.kind = most->of_reference ? DivergenceKind::kMissing : DivergenceKind::kValue;
  root.confidence = kOneSidedLine;
  const size_t calls = most->operators.size();
  root.reason = "no operator stands out";
  if (!is_cut) {
    root.reason =
        fmt::format("{} of this line {} only in the {}; {}", plural(calls, "call"), calls == 1 ? "exists" : "exist",
                    most->of_reference ? "reference" : "candidate", root.reason);
  }
  run.divergence.roots.push_back(std::move(root));
}

}  // namespace msdump
