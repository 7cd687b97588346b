#include "support/check_run.h"

#include <fmt/format.h>

#include "graph/lines/source_lines.h"
#include "support/catch.h"

namespace msdump::test {

Checked::Checked(const std::filesystem::path& path, const check::RuleSet& rules, bool only_first)
    : dump_(list_dump({path}, Headers::kWhereNeeded, 2)), pool_(2) {
  load_ir();
  DumpWithGraph side{&dump_.index, &dump_.tensors(), joined_ ? &loaded_.graph : nullptr,
                     joined_ ? &joined_->join : nullptr, &dump_.list.arguments()};
  side.overflows = &dump_.list.overflows();
  run_ = std::make_unique<check::CheckRun>(side, rules);
  for (const Error& error : dump_.list.failures()) run_->listing_failures.push_back(&error);
  const RunContext context{pool_, cancel_};
  const Status done = only_first ? check::check_first(*run_, {}, context) : check::check_all(*run_, {}, context);
  REQUIRE(done);
}

void Checked::load_ir() {
  const auto search = find_ir(&dump_.index, {});
  REQUIRE(search);
  GraphRequest request;
  for (const TensorRecord& tensor : dump_.tensors())
    request.add_dumped(place_of(dump_.index, tensor).step, tensor.name.op_name);
  auto loaded = load_graph(search->files, request, {pool_, cancel_});
  REQUIRE(loaded);
  loaded_ = std::move(*loaded);
  if (loaded_.graph.size() == 0) return;
  auto joined = join_files(dump_.index, dump_.tensors(), loaded_.graph, {pool_, cancel_});
  REQUIRE(joined);
  joined_ = std::make_unique<Joined>(std::move(*joined));
  const FileJoin& join = joined_->join;
  const check::Watched watched{watched_outputs(dump_.index, dump_.tensors(), {})};
  const std::vector<bool> snapshots = watched.snapshots(dump_.tensors().size());
  const auto counts = [&](const TensorGroup& group) { return !snapshots[join.tensors_of(group).front()]; };
  if (join.matched_operators() == 0 || !join.explained(counts).mostly()) joined_.reset();
}

std::vector<const check::Finding*> Checked::of(std::string_view kind) const {
  std::vector<const check::Finding*> found;
  for (const check::Finding& finding : report().findings) {
    if (check::name_of(finding.rule) == kind) found.push_back(&finding);
  }
  return found;
}

check::Finding Checked::only(std::string_view kind) const {
  const auto found = of(kind);
  INFO(kind);
  REQUIRE(found.size() == 1);
  return *found.front();
}

std::vector<std::string> Checked::reported() const {
  std::vector<std::string> lines;
  for (const check::Finding& finding : report().findings) {
    std::string line = fmt::format("{} {}", check::name_of(finding.rule), name_of(finding.severity));
    if (finding.op != kNoId) line += " " + std::string(dump().operators()[finding.op].name);
    if (finding.tensor != kNoId) {
      const NameFacts& name = dump().record(finding.tensor).name;
      line += fmt::format(" {} {}", name_of(name.io), name.slot);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string Checked::first_op() const {
  return report().first ? std::string(dump().operators()[report().first->op].name) : std::string();
}

std::string Checked::first_line() const {
  if (!report().first || !joined_) return {};
  const OpId op = dump().operators()[report().first->op].op;
  const SourceFrame* const frame = op == kNoId ? nullptr : best_frame(*dump().graph(), op);
  return frame == nullptr ? std::string() : fmt::format("{}:{}", frame->file, frame->line);
}

}  // namespace msdump::test
