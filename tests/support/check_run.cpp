#include "support/check_run.h"

#include <fmt/format.h>

#include "graph/lines/source_lines.h"
#include "support/catch.h"

namespace msdump::test {

Checked::Checked(const std::filesystem::path& path, const check::RuleSet& rules, bool only_first)
    : dump_(list_dump({path}, Headers::kWhereNeeded, 2)), pool_(2) {
  load_ir();
  const CompareSide side{&dump_.index, &dump_.tensors(), joined_ ? &loaded_.graph : nullptr,
                         joined_ ? &joined_->join : nullptr};
  runs_ = std::make_unique<check::OpRuns>(side);
  facts_ = std::make_unique<check::FactsReader>(dump_.index, dump_.tensors(), rules.any_given("abs_mean_gt"));
  const Selection everything;
  const std::vector<bool> chosen(dump_.tensors().size(), true);
  const check::CheckInput input{*runs_, rules, everything, dump_.list.failures(), chosen};
  const check::ReadContext context{pool_, cancel_};
  auto report = only_first ? check::check_first(input, *facts_, context) : check::check_all(input, *facts_, context);
  REQUIRE(report);
  report_ = std::move(*report);
}

void Checked::load_ir() {
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
  const FileJoin& join = joined_->join;
  if (join.matched_operators() == 0 || !join.explained([](const TensorGroup&) { return true; }).mostly())
    joined_.reset();
}

std::vector<const check::Finding*> Checked::of(std::string_view kind) const {
  std::vector<const check::Finding*> found;
  for (const check::Finding& finding : report_.findings) {
    if (finding.kind == kind) found.push_back(&finding);
  }
  return found;
}

check::Finding Checked::only(std::string_view kind) const {
  const auto found = of(kind);
  INFO(kind);
  REQUIRE(found.size() == 1);
  return *found.front();
}

std::vector<std::string> Checked::told() const {
  std::vector<std::string> lines;
  for (const check::Finding& finding : report_.findings) {
    std::string line = fmt::format("{} {}", finding.kind, check::name_of(finding.severity));
    if (finding.op != check::kNone) line += " " + runs_->operators()[finding.op].name;
    if (finding.tensor != check::kNone) {
      const NameFacts& name = runs_->record(finding.tensor).name;
      line += fmt::format(" {} {}", name_of(name.io), name.slot);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string Checked::first_op() const {
  return report_.first ? runs_->operators()[report_.first->op].name : std::string();
}

std::string Checked::first_line() const {
  if (!report_.first || !joined_) return {};
  const OpId op = runs_->operators()[report_.first->op].op;
  const SourceFrame* const frame = op == kNoIndex ? nullptr : best_frame(*runs_->side().graph, op);
  return frame == nullptr ? std::string() : fmt::format("{}:{}", frame->file, frame->line);
}

}  // namespace msdump::test
