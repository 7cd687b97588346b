#include "diff/diff_weights.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/diff_result.h"
#include "diff/diff_text.h"
#include "shared/opened_graph.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostVersions = 64, kGroupsShown = 12;

// The versions of a reference: its steps, if there are several of parameters and none is chosen.
Status add_versions(const Session& session, const DiffOptions& options, const std::string& path,
                    std::vector<WeightVersion>& versions) {
  std::set<int64_t> steps;
  if (options.step_b.empty() && options.selection.step.empty()) {
    MSDUMP_TRY(const std::unique_ptr<DiffSide> side, open_reference(session.context, options, path));
    for (const TensorRecord& tensor : *side->dump.tensors) {
      if (const auto step = place_of(*side->dump.index, tensor).step) steps.insert(*step);
    }
  }
  if (steps.size() < 2) steps.clear();
  if (steps.empty()) versions.push_back({path, std::nullopt});
  for (const int64_t step : steps) versions.push_back({path, step});
  return {};
}

DiffOptions with_version(const DiffOptions& options, const WeightVersion& version) {
  DiffOptions one = options;
  one.paths.back() = version.path;
  if (version.step) one.step_b = std::to_string(*version.step);
  return one;
}

std::vector<ComparedParameter> compared_parameters(const DiffResult& run) {
  std::vector<ComparedParameter> compared;
  for (const TensorId row : run.rows) {
    const Verdict verdict = run.diffs[row].verdict;
    if (!run.pairing.tensors[row].is_paired() || verdict == Verdict::kSkipped) continue;
    const TensorKey key = run.key(row);
    ComparedParameter one{.name = key.op_name, .agrees = verdict == Verdict::kSame || verdict == Verdict::kClose};
    if (key.slot != "0") one.name += ":" + key.slot;  // of a call that has several
    if (key.rank) one.name += fmt::format(" (rank {})", *key.rank);
    if (verdict == Verdict::kSame) {
      one.error = 0;
    } else if (const auto error = judged_error(run, row)) {
      one.error = *error;
    }
    compared.push_back(std::move(one));
  }
  return compared;
}

std::string text_of(const WeightVersion& version) {
  const std::string path = escape_for_terminal(version.path);
  return version.step ? fmt::format("{}, step {}", path, *version.step) : path;
}

const report::ObjectType& version_type() {
  static const report::ObjectType type{
      "WeightVersion",
      "A version of the reference.",
      {{.key = "path", .type = "string", .text = "where it is"},
       {.key = "step", .type = "integer|null", .text = "its number, if the path has several"},
       {.key = "parameters", .type = "integer", .text = "parameters of the candidate that are of it"}}};
  return type;
}

const report::ObjectType& group_type() {
  static const report::ObjectType type{
      "WeightGroup",
      "Parameters that are not of the version that most are of.",
      {{.key = "names", .type = "string", .text = "a name, or a beginning with *, if all with it are in the group"},
       {.key = "parameters", .type = "integer", .text = "how many"},
       {.key = "version", .type = "integer|null", .text = "place in versions; null: they agree with none"},
       {.key = "equal", .type = "boolean", .text = "they are equal to it, and not only nearest to it"}}};
  return type;
}

}  // namespace

Result<DiffResult> compute_diff_of_versions(Session& session, DiffOptions& options, DiffRules& rules,
                                            WeightVersions& versions) {
  if (!options.weights) return compute_diff(session, options, rules);
  std::vector<WeightVersion>& all = versions.versions;
  if (options.versions.empty()) MSDUMP_CHECK_OK(add_versions(session, options, options.paths.back(), all));
  for (const std::string& path : options.versions) MSDUMP_CHECK_OK(add_versions(session, options, path, all));
  if (all.size() > kMostVersions) {
    return fail(make_error(ErrorCode::kUsage, "the reference has {} versions; at most {} are compared", all.size(),
                           kMostVersions)
                    .with_hint("--b-step, or several REFERENCEs, choose some"));
  }
  struct Compared {
    size_t version;
    DiffRules rules;
    DiffResult run;
  };
  const auto compare = [&](size_t version) -> Result<Compared> {
    DiffRules own = rules;
    MSDUMP_TRY(DiffResult run, compute_diff(session, with_version(options, all[version]), own));
    return Compared{version, std::move(own), std::move(run)};
  };
  std::optional<Compared> kept;
  for (size_t version = 0; version < all.size(); ++version) {
    MSDUMP_TRY(Compared now, compare(version));
    versions.found.add(compared_parameters(now.run));
    if (!kept || versions.found.most() == version) kept = std::move(now);
  }
  if (kept->version != versions.found.most()) {
    MSDUMP_TRY(kept, compare(versions.found.most()));
  }
  options = with_version(options, all[kept->version]);
  rules = std::move(kept->rules);
  return std::move(kept->run);
}

std::string weights_text(const WeightVersions& versions) {
  if (!versions.several()) return {};
  const size_t most = versions.found.most();
  std::string text;
  add_line(text, "weights: {} of {} are those of {}", versions.found.counts()[most],
           plural(versions.found.parameters(), "parameter"), text_of(versions.versions[most]));
  const std::vector<ParameterVersions::Group> groups = versions.found.others();
  for (size_t i = 0; i < groups.size() && i < kGroupsShown; ++i) {
    const ParameterVersions::Group& one = groups[i];
    const std::string version = !one.version ? "of none of the versions"
                                             : fmt::format("{} {}", one.equal ? "those of" : "nearest to",
                                                           text_of(versions.versions[*one.version]));
    add_line(text, "  {}{}: {}", escape_for_terminal(one.names),
             one.parameters > 1 ? fmt::format(" ({})", one.parameters) : "", version);
  }
  if (groups.size() > kGroupsShown) add_line(text, "  and {} more; --json has all", groups.size() - kGroupsShown);
  return text + "\n";
}

report::Value weights_value(const WeightVersions& versions) {
  if (!versions.several()) return {};
  const std::vector<uint64_t> counts = versions.found.counts();
  report::List all;
  for (size_t i = 0; i < counts.size(); ++i) {
    const WeightVersion& one = versions.versions[i];
    report::Object object;
    object.add("path", one.path).add("step", report::Value(one.step)).add("parameters", counts[i]);
    all.emplace_back(std::move(object));
  }
  report::Object object;
  object.add("compared", uint64_t{versions.found.most()}).add("versions", std::move(all));
  return std::move(object.add("others", list_of(versions.found.others(), [](const ParameterVersions::Group& one) {
                                report::Object group;
                                group.add("names", one.names).add("parameters", one.parameters);
                                group.add("version",
                                          one.version ? report::Value(uint64_t{*one.version}) : report::Value());
                                return std::move(group.add("equal", one.equal));
                              })));
}

const report::ObjectType& weights_type() {
  static const report::ObjectType type{
      "Weights",
      "Of which version of the reference the parameters of the candidate are.",
      {{.key = "compared",
        .type = "integer",
        .text = "place in versions of the one that most are of, and that all rows compare with"},
       {.key = "versions", .type = "object[]", .text = "in the order of paths and steps", .of = version_type},
       {.key = "others", .type = "object[]", .text = "in the order of names", .of = group_type}}};
  return type;
}

}  // namespace msdump::cli
