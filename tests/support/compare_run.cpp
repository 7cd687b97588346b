#include "support/compare_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "compare/pair/precision.h"
#include "compare/statistics/statistic_diff.h"
#include "msprobe/names.h"
#include "support/must.h"

namespace msdump::test {
namespace {

std::string_view name_of_pair(const Pairing& pairing, const OpPair& pair) {
  return pair.b != kNoId ? pairing.b[pair.b].name : pairing.a[pair.a].name;
}

}  // namespace

CompareSide side_of(const JoinedDump& dump, const CodeLines* code) {
  CompareSide side;
  side.index = &dump.dump.index;
  side.tensors = &dump.dump.tensors();
  side.arguments = &dump.dump.list.arguments();
  if (dump.join().matched_operators() > 0) {
    side.graph = &dump.graph();
    side.join = &dump.join();
    side.code = code;
  }
  return side;
}

ComparedDumps::ComparedDumps(const std::filesystem::path& candidate, const std::filesystem::path& reference,
                             const NameMap* map)
    : dump_a_(join_dump(candidate, Headers::kAll)),
      dump_b_(join_dump(reference, Headers::kAll)),
      code_a_(dump_a_.graph()),
      code_b_(dump_b_.graph()),
      a_(side_of(dump_a_, &code_a_)),
      b_(side_of(dump_b_, &code_b_)),
      pairing_(pair_sides(a_, b_, map)) {
  compare_pairs();
  report_ = find_divergences(a_, b_, pairing_, diffs_, ModuleTree::of(*b_.index, *a_.index));
}

void ComparedDumps::compare_pairs() {
  StatisticTables tables_a(*a_.index), tables_b(*b_.index);
  WorkerPool pool(1);
  const CancelToken never;
  Tolerance tolerance;
  tolerance.coarsest = coarser_throughout(a_, b_, pairing_);
  for (const TensorPair& pair : pairing_.tensors) {
    TensorDiff& diff = diffs_.emplace_back();
    diff.verdict = Verdict::kUnmatched;
    if (!pair.is_paired()) continue;
    const TensorRecord &left = (*a_.tensors)[pair.a], &right = (*b_.tensors)[pair.b];
    PairOptions more;
    more.any_shape = right.name.io == Io::kInput && !parse_msprobe_entry(right.name.op_name) && b_.graph != nullptr;
    diff =
        must(diff_records({*a_.index, tables_a}, left, {*b_.index, tables_b}, right, tolerance, {pool, never}, more));
  }
}

std::vector<std::string> ComparedDumps::roots() const {
  std::vector<std::string> roots;
  for (const Divergence& root : report_.roots) {
    const std::string_view name =
        root.parameter.empty() ? name_of_pair(pairing_, pairing_.operators[root.op]) : root.parameter;
    roots.push_back(fmt::format("{} {}", msdump::name_of(root.kind), name));
  }
  return roots;
}

const OpPair& ComparedDumps::pair_of(std::string_view reference) const {
  const auto found = std::find_if(pairing_.operators.begin(), pairing_.operators.end(), [&](const OpPair& pair) {
    return pair.b != kNoId && pairing_.b[pair.b].name == reference;
  });
  if (found == pairing_.operators.end()) fail(fmt::format("the reference has no operator {}", reference));
  return *found;
}

std::string ComparedDumps::partner_of(std::string_view reference) const {
  const OpPair& pair = pair_of(reference);
  return pair.a == kNoId ? std::string() : std::string(pairing_.a[pair.a].name);
}

Verdict ComparedDumps::verdict(std::string_view op_name, std::string_view tensor) const {
  for (size_t i = 0; i < diffs_.size(); ++i) {
    const TensorPair& pair = pairing_.tensors[i];
    if (name_of_pair(pairing_, pairing_.operators[pair.op]) != op_name) continue;
    const NameFacts& name = pair.b != kNoId ? (*b_.tensors)[pair.b].name : (*a_.tensors)[pair.a].name;
    if (fmt::format("{}:{}", msdump::name_of(name.io), name.slot) == tensor) return diffs_[i].verdict;
  }
  fail(fmt::format("no tensor {} of {}", tensor, op_name));
}

size_t ComparedDumps::count(Verdict verdict) const {
  return static_cast<size_t>(
      std::count_if(diffs_.begin(), diffs_.end(), [&](const TensorDiff& diff) { return diff.verdict == verdict; }));
}

RunView view_of(const ComparedDumps& compared) {
  return {compared.a(), compared.b(), compared.pairing(), compared.diffs(),
          ModuleTree::of(*compared.b().index, *compared.a().index)};
}

}  // namespace msdump::test
