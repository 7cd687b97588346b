#include "diff/diff_baseline.h"

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/diff_text.h"
#include "dump/index/dump_index.h"
#include "frame/cli.h"
#include "graph/op_name.h"
#include "kernels/digest/digest.h"
#include "shared/catalogue.h"

namespace msdump::cli {
namespace {

std::string writer_of(const DumpIndex& index) {
  const FrameworkFacts facts = framework_of(index);
  std::string text = facts.framework + (facts.framework.empty() || facts.text.empty() ? "" : " ") + facts.text;
  if (is_device_dump(index)) text = "Ascend" + (text.empty() ? "" : ", " + text);
  return text;
}

// A selection shows a part of the operators, of which nothing can be said.
void add_graph(const DiffSide& side, BaselineSide& origin) {
  if (!side.catalogue().selection.everything()) return;
  std::set<std::string> names, all;
  for (const TensorRecord& tensor : side.catalogue().list.tensors()) {
    const std::string name = normalised_op_name(tensor.name.op_name);
    const std::optional<NumberedName> numbered = split_number(name);
    names.insert(numbered ? std::string(numbered->prefix) : name);
    all.insert(name);
  }
  origin.operators = static_cast<int64_t>(all.size());
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  if (!names.empty()) origin.graph = kernels::hex(kernels::sha1(std::as_bytes(std::span(text.data(), text.size()))));
}

BaselineOrigin origin_of(const DiffResult& run, const DiffOptions& options) {
  BaselineOrigin origin;
  origin.version = version_number();
  const Sides<SideFacts> facts = facts_of_sides(run, options);
  for (const Side side : kBothSides) {
    const DiffSide& dump = side == Side::kCandidate ? *run.a : *run.b;
    BaselineSide& one = origin.sides[side];
    one.writer = writer_of(dump.catalogue().index);
    bool any_elements = false;
    for (const TensorRecord& tensor : dump.catalogue().list.tensors())
      any_elements = any_elements || tensor.has_elements;
    one.content = any_elements ? "tensors" : "statistics";
    if (!facts[side].dtype.empty()) one.content += fmt::format(", {}", facts[side].dtype);
    std::set<int64_t> ranks;
    for (const auto& folder : dump.catalogue().index.folders()) {
      if (folder.identity.rank) ranks.insert(*folder.identity.rank);
    }
    one.ranks = static_cast<int64_t>(ranks.size());
    add_graph(dump, one);
  }
  return origin;
}

}  // namespace

Status write_baseline(Session& session, const DiffOptions& options, const DiffResult& run) {
  if (!run.failures.empty()) {
    session.messages.warning(fmt::format("{} is not written: {} could not be read", options.new_baseline,
                                         plural(run.failures.size(), "input")));
    return {};
  }
  Baseline baseline;
  baseline.set_origin(origin_of(run, options));
  for (const TensorId row : run.rows) baseline.add(run.key(row), run.diffs[row]);
  for (const ArgumentDiff& one : run.arguments) baseline.add(run.key(one), difference_of(one, run.pairing));
  return baseline.write(options.new_baseline);
}

Status check_baseline(Session& session, const DiffOptions& options, const DiffResult& run, const DiffRules& rules) {
  if (!rules.baseline || !rules.baseline->origin()) return {};
  const std::string why = why_stale(*rules.baseline->origin(), origin_of(run, options));
  if (why.empty()) return {};
  if (options.use_stale) {
    session.messages.warning(fmt::format("{} is of other dumps: {}", options.baseline, why),
                             "differences that are as they were are accepted");
    return {};
  }
  return fail(make_error(ErrorCode::kUsage, "the baseline is of other dumps: {}", why)
                  .with_path(options.baseline)
                  .with_hint("look at the differences and write it again (--write-baseline), or --baseline-stale use"));
}

}  // namespace msdump::cli
