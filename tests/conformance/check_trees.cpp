// msdump check over real dumps: healthy ones say nothing above a note, planted faults name their operator. What every tree
// of the conformance data gives is printed.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "check/check.h"
#include "graph/load_graph.h"
#include "graph/numbering.h"
#include "graph/source_lines.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/statistics_run.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Summary {
  std::map<std::string_view, size_t> kinds[3];  // by severity
  std::string first, kind, reason, line;
  size_t tensors = 0;

  [[nodiscard]] bool quiet() const { return kinds[1].empty() && kinds[2].empty(); }
  [[nodiscard]] std::string text() const {
    std::string text = plural(tensors, "tensor");
    for (const auto severity : {check::Severity::kError, check::Severity::kWarning, check::Severity::kNote}) {
      for (const auto& [word, count] : kinds[static_cast<size_t>(severity)])
        text += fmt::format(", {} {} {}", count, word, check::name_of(severity));
    }
    return first.empty() ? text : fmt::format("{}; first {}: {} ({})", text, kind, first, line);
  }
};

class TreeCheck {
 public:
  explicit TreeCheck(const fs::path& tree) : dump_(list_dump({tree}, Headers::kWhereNeeded, 2)), pool_(2) {}

  [[nodiscard]] bool has_tensors() const { return !dump_.tensors().empty(); }

  Summary run() {
    load();
    const bool joined = joined_ && joined_->join.matched_operators() > 0;
    const CompareSide side{&dump_.index, &dump_.tensors(), joined ? &loaded_.graph : nullptr,
                           joined ? &joined_->join : nullptr};
    const check::OpRuns runs(side);
    const check::RuleSet rules = check::RuleSet::defaults();
    const Selection everything;
    const std::vector<bool> chosen(dump_.tensors().size(), true);
    const check::CheckInput input{runs, rules, everything, dump_.list.failures(), chosen};
    const check::ReadContext context{pool_, cancel_};
    check::FactsReader facts(dump_.index, dump_.tensors(), false), few(dump_.index, dump_.tensors(), false);
    const auto report = check::check_all(input, facts, context);
    const auto first = check::check_first(input, few, context);
    REQUIRE(report);
    REQUIRE(first);
    // Both ways name the same, and the search alone never reads more.
    REQUIRE(report->first.has_value() == first->first.has_value());
    if (report->first) CHECK(report->first->op == first->first->op);
    CHECK(few.count_read() <= facts.count_read());
    return summary(*report, runs, side);
  }

 private:
  void load() {
    const auto search = find_ir(&dump_.index, {});
    REQUIRE(search);
    GraphRequest request;
    for (const TensorRecord& tensor : dump_.tensors()) request.dumped_ops.insert(tensor.name.op_name);
    auto loaded = load_graph(search->files, request, {pool_, cancel_});
    REQUIRE(loaded);
    loaded_ = std::move(*loaded);
    if (loaded_.graph.size() == 0) return;
    auto joined = join_files(dump_.index, dump_.tensors(), loaded_.graph, {pool_, cancel_});
    REQUIRE(joined);
    joined_ = std::make_unique<Joined>(std::move(*joined));
  }

  Summary summary(const check::CheckReport& report, const check::OpRuns& runs, const CompareSide& side) const {
    Summary summary;
    summary.tensors = dump_.tensors().size();
    for (const check::Finding& finding : report.findings)
      ++summary.kinds[static_cast<size_t>(finding.severity)][finding.kind];
    if (!report.first) return summary;
    const SequencedOp& op = runs.operators()[report.first->op];
    summary.first = op.name;
    summary.kind = check::name_of(report.first->kind);
    summary.reason = report.first->reason;
    const SourceFrame* const frame = op.op == kNoIndex ? nullptr : best_frame(*side.graph, op.op);
    if (frame != nullptr) summary.line = fmt::format("{}:{}", frame->file, frame->line);
    return summary;
  }

  ListedDump dump_;
  WorkerPool pool_;
  CancelToken cancel_;
  LoadedGraph loaded_;
  std::unique_ptr<Joined> joined_;
};

std::vector<fs::path> folders_of(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::optional<Summary> checked(const fs::path& tree) {
  TreeCheck check(tree);
  if (!check.has_tensors()) return std::nullopt;
  const Summary summary = check.run();
  std::cout << tree.filename().string() << ": " << summary.text() << std::endl;
  return summary;
}

bool has_planted_nan(const std::string& name) { return name.ends_with("-nan"); }
// Processes that ended early; the zoo, which holds NaN and infinities on purpose.
bool is_faulty(const std::string& name) {
  return has_planted_nan(name) || name.ends_with("-killed") || name.find("-zoo-") != std::string::npos;
}

}  // namespace

TEST_CASE("check says nothing above a note about MindSpore's healthy dumps") {
  const auto real = corpus_or_skip("real");
  if (!real) return;
  size_t trees = 0;
  for (const fs::path& tree : folders_of(*real)) {
    const std::string name = tree.filename().string();
    if (name.find('-') == std::string::npos || name == "npy-headers") continue;
    const auto summary = checked(tree);
    if (!summary) continue;
    INFO(name);
    if (name.ends_with("-dtypes-all")) {
      CHECK(summary->first.find("Log-op") != std::string::npos);
      CHECK(summary->kind == "nan");
    } else {
      CHECK(summary->quiet());
      CHECK(summary->first.empty());
    }
    ++trees;
  }
  CHECK(trees >= 25);
}

TEST_CASE("check says nothing above a note about msprobe's healthy dumps, and names what makes NaN in the others") {
  const auto trees = corpus_or_skip("msprobe/trees");
  if (!trees) return;
  size_t healthy = 0, planted = 0;
  for (const fs::path& tree : folders_of(*trees)) {
    const std::string name = tree.filename().string();
    const auto summary = checked(tree);
    if (!summary) continue;
    INFO(name);
    if (!is_faulty(name)) {
      CHECK(summary->quiet());
      CHECK(summary->first.empty());
      ++healthy;
    } else if (has_planted_nan(name)) {
      CHECK(summary->kind == "nan");
      CHECK((summary->first == "Torch.softmax.0.forward" || summary->first == "Functional.softmax.0.forward"));
      CHECK((summary->line.ends_with("nets_pt.py:66") || summary->line.ends_with("nets_ms.py:65")));
      ++planted;
    } else if (name.ends_with("-killed")) {
      CHECK(summary->kinds[1].count("stopped") == 1);
    } else {
      CHECK_FALSE(summary->first.empty());
    }
  }
  CHECK(healthy >= 90);
  CHECK(planted == 4);
}
