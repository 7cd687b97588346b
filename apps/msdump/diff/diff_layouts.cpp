#include "diff/diff_layouts.h"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/placement/placement_file.h"
#include "io/atomic_file.h"

namespace msdump::cli {
namespace {

constexpr double kSure = 0.8;  // confidence

void add_found(std::vector<FoundLayout>& found, const CutSide& side, uint32_t tensor, const CutLayout& layout,
               bool of_reference, bool sure) {
  const NameFacts& name = side.tensors()[tensor].name;
  const std::vector<int64_t>& ranks = side.ranks(tensor);
  if (ranks.size() > 1) found.push_back({{name.op_name, name.io, name.slot, ranks, of_reference}, &layout, sure});
}

size_t count_ranks(const CutSide& side) {
  std::set<int64_t> ranks;
  for (uint32_t tensor = 0; tensor < side.size(); ++tensor)
    ranks.insert(side.ranks(tensor).begin(), side.ranks(tensor).end());
  return ranks.size();
}

}  // namespace

Status write_layouts(Session& session, const DiffResult& run, const std::string& path) {
  std::vector<FoundLayout> found;
  for (const uint32_t row : run.rows) {
    if (run.cuts.empty() || run.cuts[row].confidence == 0 || !run.cuts[row].problem.empty()) continue;
    const TensorPair& pair = run.pairing.tensors[row];
    const bool sure = run.cuts[row].confidence >= kSure;
    add_found(found, *run.cut_a, pair.a, run.cuts[row].a, false, sure);
    add_found(found, *run.cut_b, pair.b, run.cuts[row].b, true, sure);
  }
  if (found.empty()) session.messages.note("no layouts to write: no tensor lies on several ranks in parts");
  return write_named_file(path, layout_file_text(found));
}

std::string cuts_text(const DiffResult& run) {
  if (run.cuts.empty()) return {};
  size_t paired = 0, together = 0;
  for (const uint32_t row : run.rows) {
    const TensorPair& pair = run.pairing.tensors[row];
    if (pair.a == kNoTensor || pair.b == kNoTensor) continue;
    ++paired;
    if (run.cuts[row].confidence > 0 && run.cuts[row].problem.empty()) ++together;
  }
  return fmt::format("candidate: {}, reference: {}; {} of {} put together", plural(count_ranks(*run.cut_a), "rank"),
                     count_ranks(*run.cut_b), together, plural(paired, "tensor"));
}

}  // namespace msdump::cli
