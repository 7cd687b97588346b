#include "checked.h"

#include "graph/numbering.h"

namespace msdump::check {

std::string floats(const std::vector<float>& elements) { return npy_of("<f4", elements); }
std::string halves(const std::vector<uint16_t>& codes) { return npy_of("<f2", codes); }

std::string tensor_path(std::string_view op, int64_t time, std::string_view io_slot, int64_t step, int64_t rank) {
  const size_t slash = op.rfind('/');
  const std::string_view leaf = slash == std::string_view::npos ? op : op.substr(slash + 1);
  const std::string_view type = leaf.substr(0, leaf.find("-op"));
  std::string name(op);
  for (char& c : name) c = c == '/' ? '_' : c;
  return fmt::format("rank_{}/Net/0/{}/{}.{}.0.0.{}.{}.DefaultFormat.npy", rank, step, type, name,
                     1700000000000000 + time, io_slot);
}

Checked::Checked(const std::filesystem::path& path, const RuleSet& rules, bool only_first)
    : dump_(test::list_dump({path}, Headers::kWhereNeeded, 2)), pool_(2) {
  load_ir();
  const CompareSide side{&dump_.index, &dump_.tensors(), joined_ ? &loaded_.graph : nullptr,
                         joined_ ? &joined_->join : nullptr};
  runs_ = std::make_unique<OpRuns>(side);
  facts_ = std::make_unique<FactsReader>(dump_.index, dump_.tensors(), rules.any_given("abs_mean_gt"));
  const Selection everything;
  const std::vector<bool> chosen(dump_.tensors().size(), true);
  const CheckInput input{*runs_, rules, everything, dump_.list.failures(), chosen};
  const ReadContext context{pool_, cancel_};
  auto report = only_first ? check_first(input, *facts_, context) : check_all(input, *facts_, context);
  REQUIRE(report);
  report_ = std::move(*report);
}

void Checked::load_ir() {
  const auto search = find_ir(&dump_.index, {});
  REQUIRE(search);
  auto loaded = load_graph(search->files, {}, {pool_, cancel_});
  REQUIRE(loaded);
  loaded_ = std::move(*loaded);
  if (loaded_.graph.size() == 0) return;
  auto joined = join_files(dump_.index, dump_.tensors(), loaded_.graph, {pool_, cancel_});
  REQUIRE(joined);
  joined_ = std::make_unique<Joined>(std::move(*joined));
  if (joined_->join.matched_operators() == 0) joined_.reset();
}

std::vector<const Finding*> Checked::of(std::string_view kind) const {
  std::vector<const Finding*> found;
  for (const Finding& finding : report_.findings) {
    if (finding.kind == kind) found.push_back(&finding);
  }
  return found;
}

Finding Checked::only(std::string_view kind) const {
  const auto found = of(kind);
  INFO(kind);
  REQUIRE(found.size() == 1);
  return *found.front();
}

std::vector<std::string> Checked::told() const {
  std::vector<std::string> lines;
  for (const Finding& finding : report_.findings) {
    std::string line = fmt::format("{} {}", finding.kind, name_of(finding.severity));
    if (finding.op != kNone) line += " " + runs_->operators()[finding.op].name;
    if (finding.tensor != kNone) {
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

}  // namespace msdump::check
