// Two dumps compared as msdump diff does it with its default options: paired, each pair compared, the roots looked for.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/rename/name_map.h"
#include "divergence/divergence.h"
#include "divergence/runs/run_view.h"
#include "graph/lines/code_lines.h"
#include "support/graph_run.h"

namespace msdump::test {

[[nodiscard]] CompareSide side_of(const JoinedDump& dump, const CodeLines* code = nullptr);

class ComparedDumps {
 public:
  ComparedDumps(const std::filesystem::path& candidate, const std::filesystem::path& reference,
                const NameMap* map = nullptr);
  ComparedDumps(const ComparedDumps&) = delete;
  ComparedDumps& operator=(const ComparedDumps&) = delete;

  [[nodiscard]] const CompareSide& a() const { return a_; }
  [[nodiscard]] const CompareSide& b() const { return b_; }
  [[nodiscard]] const Pairing& pairing() const { return pairing_; }
  [[nodiscard]] const std::vector<TensorDiff>& diffs() const { return diffs_; }
  [[nodiscard]] const DivergenceReport& report() const { return report_; }

  // "value Default/Mul-op0", "parameter w"; of an operator its name in the reference, where it has one.
  [[nodiscard]] std::vector<std::string> roots() const;
  // Of operators, by their names in the reference and in the candidate; nothing where it has no partner.
  [[nodiscard]] const OpPair& pair_of(std::string_view reference) const;
  [[nodiscard]] std::string partner_of(std::string_view reference) const;
  // Of a tensor of the operator of that name: "input:0". Fails the test when there is none.
  [[nodiscard]] Verdict verdict(std::string_view op_name, std::string_view tensor) const;
  [[nodiscard]] size_t count(Verdict verdict) const;

 private:
  void compare_pairs();

  const JoinedDump dump_a_, dump_b_;
  CodeLines code_a_, code_b_;
  CompareSide a_, b_;
  Pairing pairing_;
  std::vector<TensorDiff> diffs_;
  DivergenceReport report_;
};

// Their executions, of dumps that are not sharded.
[[nodiscard]] RunView view_of(const ComparedDumps& compared);

}  // namespace msdump::test
