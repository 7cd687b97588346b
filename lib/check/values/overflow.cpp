#include "check/values/overflow.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "check/values/value_rules.h"
#include "dump/names/file_name.h"
#include "info/file_facts.h"
#include "info/tree_facts.h"

namespace msdump::check {
namespace {

constexpr uint64_t kNoContext = 65535;
constexpr size_t kMostBits = 8;
constexpr std::string_view kNanCheck = "nan_check";

// Numbers and "0x.." texts alike.
std::optional<uint64_t> number_of(const report::Value& value) {
  if (const auto* const number = value.get<int64_t>()) return static_cast<uint64_t>(*number);
  if (const auto* const number = value.get<uint64_t>()) return *number;
  const auto* const text = value.get<std::string>();
  if (text == nullptr || !text->starts_with("0x")) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data() + 2, text->data() + text->size(), number, 16);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> field(const report::Object& section, std::string_view name) {
  const report::Value* const value = section.find(name);
  return value == nullptr ? std::nullopt : number_of(*value);
}

std::vector<uint64_t> status_of(const report::Object& section) {
  std::vector<uint64_t> words;
  if (const auto* const list = section.get<report::List>("status")) {
    for (const report::Value& word : *list) words.push_back(number_of(word).value_or(0));
  } else if (const auto word = field(section, "status")) {
    words.push_back(*word);
  }
  return words;
}

bool is_hit(const std::vector<uint64_t>& status) {
  return std::any_of(status.begin(), status.end(), [](uint64_t word) { return word != 0; });
}

std::string details_of(const report::Object& section) {
  struct Word {
    std::string_view field, text;
  };
  constexpr std::array kPlain = {Word{"model_id", "model"},     Word{"context_id", "context"},
                                 Word{"thread_id", "thread"},   Word{"core_id", "core"},
                                 Word{"block_id", "block"},     Word{"block_idx", "block"},
                                 Word{"channel_id", "channel"}, Word{"cpu_id", "AI CPU"}};
  constexpr std::array kAddresses = {Word{"kernel_code", "kernel"}, Word{"pc_start", "program"},
                                     Word{"src_addr", "from"}, Word{"dst_addr", "to"}};
  std::string text;
  for (const Word& word : kPlain) {
    const auto value = field(section, word.field);
    if (!value || *value == kNoContext) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word.text, *value);
  }
  for (const Word& word : kAddresses) {
    const auto value = field(section, word.field);
    if (value.value_or(0) != 0) text += fmt::format("{}{} at {:#x}", text.empty() ? "" : ", ", word.text, *value);
  }
  return text;
}

// The sections of a record, of either generation.
class Sections {
 public:
  explicit Sections(const report::Value& record) {
    const auto* const object = record.get<report::Object>();
    if (object == nullptr) return;
    if (const report::Value* const list = object->find("acc_list")) {
      add_new(*list);
      return;
    }
    for (const report::Member& member : object->members()) {
      if (const auto* const section = member.value.get<report::Object>()) sections.emplace_back(member.key, section);
    }
  }

  std::vector<std::pair<std::string, const report::Object*>> sections;

 private:
  // Adds the sections of one object, or of a list of objects.
  void add_new(const report::Value& value) {
    if (const auto* const list = value.get<report::List>()) {
      for (const report::Value& item : *list) {
        if (item.get<report::Object>() != nullptr) add_new(item);
      }
      return;
    }
    const auto* const object = value.get<report::Object>();
    if (object == nullptr) return;
    const auto* const name = object->get<std::string>("acc_type");
    const auto* const section = object->get<report::Object>("data");
    if (section != nullptr) sections.emplace_back(name == nullptr ? "accelerator" : *name, section);
  }
};

// The facts in the name of a record, with or without the ".output.0.json" of the JSON form.
using RecordName = DumpFileName;
RecordName name_of_record(std::string_view name) {
  if (const size_t end = name.rfind(".output."); end != std::string_view::npos) name = name.substr(0, end);
  return parse_dump_file_name(name).value_or(RecordName{});
}

class OperatorFinder {
 public:
  explicit OperatorFinder(const CheckedDump& dump) : dump_(dump) {
    for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
      const NameFacts& name = dump.record(tensor).name;
      if (name.task_id && name.stream_id)
        by_task_.emplace_back(Task(name.task_id.plain(), name.stream_id.plain()), tensor);
    }
    std::sort(by_task_.begin(), by_task_.end());
  }

  void join(OverflowHit& hit, const IndexedFile& file, const RecordName& name) const {
    hit.tensor = find({hit.task_id, hit.stream_id}, hit, file);
    if (hit.tensor == kNoId) {
      hit.tensor = find({name.task_id, name.stream_id}, hit, file);
      hit.by_file_name = hit.tensor != kNoId;
    }
    if (hit.tensor != kNoId) hit.op = dump_.op_of(hit.tensor);
  }

 private:
  using Task = std::pair<std::optional<uint64_t>, std::optional<uint64_t>>;  // and its stream; by_task_ has whole ones

  // The nearest tensor with these numbers: in the same folder, else of the same step and rank.
  [[nodiscard]] TensorId find(const Task& task, const OverflowHit& hit, const IndexedFile& file) const {
    TensorId best;
    int best_rank = 0;
    const std::pair first{task, TensorId(0)};
    for (auto at = std::lower_bound(by_task_.begin(), by_task_.end(), first); at != by_task_.end(); ++at) {
      if (at->first != task) break;
      const TensorId tensor = at->second;
      const IndexedFile& other = dump_.index().files()[dump_.record(tensor).file];
      const FolderIdentity& folder = dump_.index().folders()[other.folder].identity;
      const bool same_rank = !folder.rank || !hit.rank || folder.rank == hit.rank;
      const bool same_step = !folder.step || !hit.step || folder.step == hit.step;
      const bool same_dump = folder.dump == dump_.index().folders()[file.folder].identity.dump;
      const int rank = other.folder == file.folder ? 2 : same_dump && same_rank && same_step ? 1 : 0;
      if (rank > best_rank) {
        best = tensor;
        best_rank = rank;
      }
    }
    return best;
  }

  const CheckedDump& dump_;
  std::vector<std::pair<Task, TensorId>> by_task_;
};

// Adds calls in which msprobe's nan_check saw an overflow. The operator is that of a tensor which the same dump.json
// has for the call.
void add_overflowed_calls(const CheckedDump& dump, const Selection& selection, std::vector<OverflowHit>& hits) {
  const auto* const calls = dump.dump().overflows;
  if (calls == nullptr || calls->empty()) return;
  std::map<std::pair<FileId, std::string_view>, TensorId> tensors;  // by table and call
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    const TensorRecord& record = dump.record(tensor);
    if (record.table != kNoId) tensors.try_emplace({record.table, record.name.op_name}, tensor);
  }
  for (const CallOverflow& call : *calls) {
    const IndexedFile& file = dump.index().files()[call.table];
    const Identity place = dump.index().identity_of(file);
    if (call.status.value_or(0) == 0 || !selection.matches_folder(place)) continue;
    OverflowHit hit;
    hit.file = call.table;
    hit.section = kNanCheck;
    hit.rank = place.rank;
    hit.graph = place.graph;
    hit.step = place.step;
    hit.order = call.order;
    hit.op_name = call.op_name;
    hit.status = {*call.status};
    const auto tensor = tensors.find({call.table, call.op_name});
    if (tensor != tensors.end()) {
      hit.tensor = tensor->second;
      hit.op = dump.op_of(hit.tensor);
    }
    hits.push_back(std::move(hit));
  }
}

std::string section_text(const std::string& section) {
  if (section == "AIC") return "cube core (AIC)";
  if (section == "AIV") return "vector core (AIV)";
  if (section == "AICPU") return "AI CPU";
  if (section == "SDMA") return "data mover (SDMA)";
  return section;
}

std::string bits_of(uint64_t word) {
  std::string text;
  size_t count = 0;
  for (int bit = 0; bit < 64; ++bit) {
    if ((word >> bit & 1) == 0) continue;
    if (++count > kMostBits) return "";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", bit);
  }
  return fmt::format(" ({} {})", count == 1 ? "bit" : "bits", text);
}

}  // namespace

std::vector<OverflowHit> read_overflows(RuleContext& context, const Selection& selection) {
  const CheckedDump& dump = context.dump;
  const DumpIndex& index = dump.index();
  const CancelToken& cancel = context.run.cancel;
  std::vector<OverflowHit> hits;
  std::optional<OperatorFinder> finder;
  for (FileId i{0}; i < index.files().size() && !cancel.cancelled(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (kind_in_tree(file) != FileKind::kOpdebug || !selection.matches_folder(index.identity_of(file))) continue;
    if (!finder) finder.emplace(dump);
    const FileFacts facts = read_file_facts(index, file, cancel);
    for (const Error& problem : facts.problems) {
      context.failures.push_back(problem);
      if (problem.path.empty()) context.failures.back().path = index.path_of(file);
    }
    const report::Value* const record = facts.detail.find("record");
    if (record == nullptr) continue;
    const Sections sections(*record);
    const RecordName name = name_of_record(file.shown_name());
    for (const auto& [title, section] : sections.sections) {
      OverflowHit hit;
      hit.status = status_of(*section);
      if (!is_hit(hit.status)) continue;
      const Identity identity = index.identity_of(file);
      hit.file = i;
      hit.section = title;
      hit.rank = identity.rank;
      hit.graph = identity.graph;
      hit.step = identity.step;
      hit.timestamp = name.timestamp;
      hit.task_id = field(*section, "task_id");
      hit.stream_id = field(*section, "stream_id");
      hit.details = details_of(*section);
      finder->join(hit, file, name);
      hits.push_back(std::move(hit));
    }
  }
  add_overflowed_calls(dump, selection, hits);
  const auto time = [](const OverflowHit& hit) {
    return std::tuple(known_first(hit.step), parse_u64(hit.timestamp).value_or(UINT64_MAX), hit.order);
  };
  std::stable_sort(hits.begin(), hits.end(),
                   [&](const OverflowHit& a, const OverflowHit& b) { return time(a) < time(b); });
  return hits;
}

std::string describe(const OverflowHit& hit) {
  std::string status;
  for (const uint64_t word : hit.status) status += fmt::format("{}{:#x}", status.empty() ? "" : " ", word);
  const std::string bits = hit.status.size() == 1 ? bits_of(hit.status.front()) : "";
  if (hit.section == kNanCheck)
    return fmt::format("msprobe's nan_check: overflow register {}{} after the call, cleared before", status, bits);
  const auto number = [](const std::optional<uint64_t>& id) { return id ? std::to_string(*id) : "unknown"; };
  return fmt::format("{}: status {}{}, task {}, stream {}{}{}", section_text(hit.section), status, bits,
                     number(hit.task_id), number(hit.stream_id), hit.details.empty() ? "" : ", ", hit.details);
}

void judge_overflows(RuleContext& context, const std::vector<OverflowHit>& hits) {
  constexpr RuleId kRule = RuleId::kOperatorOverflow;
  const DumpIndex& index = context.dump.index();
  std::set<std::tuple<std::string_view, std::optional<int64_t>, std::optional<int64_t>>> seen;  // dump, rank, step
  for (const OverflowHit& hit : hits) {
    const IndexedFile& file = index.files()[hit.file];
    const std::string_view dump = index.identity_of(file).dump;
    const bool first = seen.emplace(dump, hit.rank, hit.step).second;
    const std::string_view op_name =
        hit.op == kNoId ? hit.op_name : std::string_view(context.dump.operators()[hit.op].name);
    if (op_name.empty() ? !context.judges(kRule) : !context.judges(kRule, op_name)) continue;
    Finding& finding = context.report_place(
        kRule, {hit.rank, hit.graph, hit.step, index.relative_path_of(file), std::string(dump)},
        *std::find_if(hit.status.begin(), hit.status.end(), [](uint64_t word) { return word != 0; }), describe(hit));
    finding.op = hit.op;
    if (hit.op == kNoId) finding.op_name = hit.op_name;
    if (first && hits.size() > 1) finding.message += "; the first of this step";
    if (hit.by_file_name) finding.message += "; the operator is that of the task in the record's file name";
    if (hit.op == kNoId && hit.op_name.empty()) {
      finding.message += "; no dumped file has this task and stream id";
      finding.hint = "dump all operators of the step (dump_mode 0) beside op_debug_mode to see which one it is";
    }
  }
}

void judge_debug_trees(RuleContext& context, const DumpSettings& settings) {
  const CheckedDump& dump = context.dump;
  const DumpIndex& index = dump.index();
  std::set<std::pair<std::optional<int64_t>, std::optional<int64_t>>> seen;  // rank, step
  for (const OpRun& run : dump.runs()) {
    const TensorId tensor = dump.any_tensor_of(run);
    if (tensor == kNoId) continue;
    const FolderIdentity& folder = index.folders()[index.files()[dump.record(tensor).file].folder].identity;
    const bool failed = settings.of_exceptions() || folder.layout == Layout::kException;
    if (!failed && !settings.of_overflows()) continue;
    const RuleId id = failed ? RuleId::kException : RuleId::kOperatorOverflow;
    if (!context.judges(id, dump.operators()[run.op].name)) continue;
    const bool first = seen.emplace(run.place.rank, run.place.step).second;
    std::string message =
        failed ? "it was dumped because it failed" : "it was dumped because it overflowed (op_debug_mode 3)";
    if (!failed && first) message += "; the first of this step";
    context.report(id, tensor, {}, std::move(message));
  }
}

}  // namespace msdump::check
