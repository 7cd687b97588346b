#include "diff/diff_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/accept/baseline.h"
#include "diff/diff_text.h"
#include "dump/index/dump_index.h"
#include "frame/cli.h"
#include "graph/op_name.h"
#include "io/dir_walk.h"
#include "io/json.h"
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

std::string digest_of(const std::string& text) {
  return kernels::hex(kernels::sha1(std::as_bytes(std::span(text.data(), text.size()))));
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
  if (!names.empty()) origin.graph = digest_of(text);
}

// Appends the settings of a dump in the order of their keys, but not where it was written to.
void append_settings(const JsonValue& value, std::string& text) {
  text += static_cast<char>('0' + static_cast<int>(value.kind));
  if (value.is(JsonKind::kBool)) text += value.boolean ? "true" : "false";
  text += value.text + ';';
  for (const JsonValue& item : value.items) append_settings(item, text);
  std::vector<const JsonMember*> members;
  for (const JsonMember& member : value.members) {
    if (member.key != "path" && member.key != "dump_path") members.push_back(&member);
  }
  std::sort(members.begin(), members.end(), [](const JsonMember* a, const JsonMember* b) { return a->key < b->key; });
  for (const JsonMember* const member : members) {
    text += member->key + ':';
    append_settings(member->value, text);
  }
  text += '.';
}

// The data_dump.json of MindSpore or the config.json of msprobe in the dump, else beside its files or beside the dump itself.
std::string configuration_of(const DumpIndex& index) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 20;
  constexpr std::array<std::string_view, 2> kNames = {"data_dump.json", "config.json"};
  const auto described = [&](const std::string& path, std::string_view name) -> std::string {
    const Result<JsonValue> json = read_json(path, kMostBytes);
    // Other programs call their configuration config.json, too.
    if (!json || (json->find("common_dump_settings") == nullptr && json->find("task") == nullptr)) return {};
    std::string settings;
    append_settings(*json, settings);
    return fmt::format("{} {}", name, digest_of(settings));
  };
  for (const IndexedFile& file : index.files()) {
    if (std::find(kNames.begin(), kNames.end(), file.name) == kNames.end()) continue;
    if (std::string found = described(index.path_of(file), file.name); !found.empty()) return found;
  }
  for (const std::string& path : index.paths()) {
    for (const std::string_view name : kNames) {
      if (std::string found = described(join_path(join_path(path, ".."), name), name); !found.empty()) return found;
    }
  }
  return {};
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
    if (!facts[side].dtype_name().empty()) one.content += fmt::format(", {}", facts[side].dtype_name());
    std::set<int64_t> ranks;
    for (const auto& folder : dump.catalogue().index.folders()) {
      if (folder.identity.rank) ranks.insert(*folder.identity.rank);
    }
    one.ranks = static_cast<int64_t>(ranks.size());
    add_graph(dump, one);
    one.configuration = configuration_of(dump.catalogue().index);
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
