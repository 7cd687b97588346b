#include "check/watch/memory_stomp.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "check/checked_dump.h"
#include "check/values/value_rules.h"
#include "check/watch/changed_bytes.h"
#include "dump/layouts/stored_tensor.h"
#include "graph/op_name.h"
#include "io/run_context.h"

namespace msdump::check {
namespace {

// Identifies the bytes of a changed range: a repeated pattern, or bytes of another tensor of the dump.

// A tensor of the dump, opened, with as many bytes as its elements need. The rest of the file is padding.
struct OpenedBytes {
  OpenedFile opened;
  uint64_t bytes = 0;

  static Result<OpenedBytes> open(const CheckedDump& dump, TensorId tensor);
  [[nodiscard]] const StoredTensor& stored() const { return opened.tensors.front(); }
  [[nodiscard]] StoredBytes view() const { return {opened.file, stored().offset, bytes}; }
};

class ByteOrigin {
 public:
  // Both must outlive it.
  ByteOrigin(const CheckedDump& dump, const std::vector<bool>& snapshots);

  // "zeros", "a repetition of 0000803f", "those of output 0 of mul, from byte 64 on"; empty: not found. Searches the
  // tensors of `op`, then `others`, at most kMostSearched. A tensor that cannot be read is skipped.
  [[nodiscard]] Result<std::string> of(const OpenedBytes& tensor, const ByteRange& range, TensorId number,
                                       std::string_view op, const std::vector<TensorId>& others,
                                       const CancelToken& cancel) const;

 private:
  const CheckedDump& dump_;
  std::map<std::string, std::vector<TensorId>, std::less<>> by_name_;  // normalised; without snapshots
};
constexpr size_t kMostSearched = 16;

std::string pattern_text(std::string_view pattern) {
  if (pattern == std::string_view("\0", 1)) return "zeros";
  std::string text = "a repetition of ";
  for (const char byte : pattern) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

bool may_be_same(const std::optional<int64_t>& a, const std::optional<int64_t>& b) { return !a || !b || a == b; }

Result<OpenedBytes> OpenedBytes::open(const CheckedDump& dump, TensorId tensor) {
  const TensorRecord& record = dump.record(tensor);
  const IndexedFile& file = dump.index().files()[record.file];
  MSDUMP_TRY(OpenedFile opened, dump.index().open_tensor(file, record.item));
  const StoredTensor& stored = opened.tensors.front();
  if (stored.problem)
    return fail(Error(*stored.problem).with_path(dump.index().path_of(file)).with_tensor(stored.label()));
  uint64_t bytes = stored.bytes;
  if (stored.request.dtype && stored.request.shape) {
    const auto count = element_count(*stored.request.shape);
    const auto needed = count ? bytes_of(*stored.request.dtype, *count) : std::nullopt;
    if (needed) bytes = std::min(bytes, *needed);
  }
  return OpenedBytes{std::move(opened), bytes};
}

ByteOrigin::ByteOrigin(const CheckedDump& dump, const std::vector<bool>& snapshots) : dump_(dump) {
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    const TensorRecord& record = dump.record(tensor);
    if (!snapshots[tensor] && record.has_elements && !record.broken)
      by_name_[normalised_op_name(record.name.op_name)].push_back(tensor);
  }
}

Result<std::string> ByteOrigin::of(const OpenedBytes& tensor, const ByteRange& range, TensorId number,
                                   std::string_view op, const std::vector<TensorId>& others,
                                   const CancelToken& cancel) const {
  MSDUMP_TRY(const auto pattern, repeated_bytes(tensor.view(), range, cancel));
  if (pattern) return pattern_text(*pattern);
  std::vector<TensorId> searched;
  const Identity here = dump_.identity(number);
  if (const auto found = by_name_.find(normalised_op_name(op)); found != by_name_.end()) {
    for (const TensorId one : found->second) {
      const Identity there = dump_.identity(one);
      if (may_be_same(there.rank, here.rank) && may_be_same(there.step, here.step)) searched.push_back(one);
    }
  }
  searched.insert(searched.end(), others.begin(), others.end());
  for (size_t i = 0; i < std::min(searched.size(), kMostSearched); ++i) {
    const auto other = OpenedBytes::open(dump_, searched[i]);
    if (!other) continue;
    MSDUMP_TRY(const auto place, find_bytes(tensor.view(), range, other->view(), cancel));
    if (!place) continue;
    const NameFacts& name = dump_.record(searched[i]).name;
    return fmt::format("those of {} {} of {}{}", name_of(name.io), name.slot, name.op_name,
                       *place == 0 ? "" : fmt::format(", from byte {} on", *place));
  }
  return std::string();
}

// A snapshot, compared with the one before.
struct SnapshotPair {
  uint32_t output = 0;
  uint32_t snapshot = 0;  // index in `snapshots`, from 1
};

struct PairResult {
  std::optional<ChangedBytes> changed;  // no value: not compared
  std::optional<Error> failure;
  uint64_t bytes = 0, element = 1, rows = 0;  // of the tensor; rows 0: not counted
};

// Number of rows, the ranges of the first dimension; 0 if a row is not one piece of memory.
uint64_t rows_of(const StoredTensor& stored) {
  const auto packed = unpack_format(stored.request.format_number, stored.request.sub_format);
  const bool plain = packed && info(packed->format).support == Support::kHost;
  if (!plain || stored.fortran_order || !stored.request.shape || stored.request.shape->size() < 2) return 0;
  const int64_t rows = stored.request.shape->front();
  return rows > 1 ? static_cast<uint64_t>(rows) : 0;
}

PairResult compare_pair(const CheckedDump& dump, TensorId before, TensorId after, const CancelToken& cancel) {
  PairResult result;
  const auto compare = [&]() -> Status {
    MSDUMP_TRY(const OpenedBytes old, OpenedBytes::open(dump, before));
    MSDUMP_TRY(const OpenedBytes now, OpenedBytes::open(dump, after));
    if (old.bytes != now.bytes) return {};
    const auto dtype = now.stored().request.dtype;
    result.bytes = now.bytes;
    result.element = dtype ? std::max<uint64_t>(1, static_cast<uint64_t>(info(*dtype).bits) / 8) : 1;
    result.rows = rows_of(now.stored());
    if (result.rows > 0 && now.bytes % result.rows != 0) result.rows = 0;
    const ChangeUnits units{result.element, result.rows > 0 ? now.bytes / result.rows : 0};
    MSDUMP_TRY(result.changed, changed_bytes(old.view(), now.view(), units, cancel));
    MSDUMP_CHECK_OK(old.opened.file.check_unchanged());
    return now.opened.file.check_unchanged();
  };
  if (Status done = compare(); !done) result.failure = std::move(done).error();
  return result;
}

// "16-31", "16-31, 64-79 and 5 more"
std::string ranges_text(const std::vector<ByteRange>& ranges, bool more) {
  std::string text;
  for (const ByteRange& range : ranges) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", range.begin);
    if (range.size() > 1) text += fmt::format("-{}", range.end - 1);
  }
  return more ? text + ", .." : text;
}

std::string extent_text(const PairResult& pair) {
  const ChangedBytes& changed = *pair.changed;
  const uint64_t elements = (pair.bytes + pair.element - 1) / pair.element;
  std::string text = fmt::format("{} of {}, bytes {} of {}", changed.elements, plural(elements, "element"),
                                 ranges_text(changed.first, changed.ranges > changed.first.size()), pair.bytes);
  if (pair.rows == 0) return text;
  uint64_t shown = 0;
  for (const ByteRange& rows : changed.in_rows) shown += rows.size();
  return text + fmt::format(", rows {} of {}", ranges_text(changed.in_rows, changed.rows > shown), pair.rows);
}

class StompJudge {
 public:
  StompJudge(RuleContext& context, const Watched& watched)
      : context_(context),
        dump_(context.dump),
        watched_(watched),
        is_snapshot_(watched.snapshots(dump_.tensors())),
        origin_(dump_, is_snapshot_) {}

  Result<WatchedCounts> run(const std::vector<bool>& chosen) {
    for (uint32_t output = 0; output < watched_.outputs.size(); ++output) {
      plan(output, chosen);
      in_folder_[folder_of(output)].push_back(output);
    }
    changes_.assign(watched_.outputs.size(), 0);
    last_.assign(watched_.outputs.size(), {});
    if (context_.run.progress != nullptr) context_.run.progress->start(pairs_.size(), 0);
    Status status;
    context_.run.pool.ordered_for(
        static_cast<int64_t>(pairs_.size()),
        [&](int64_t i) {
          const SnapshotPair& pair = pairs_[static_cast<size_t>(i)];
          const auto& snapshots = watched_.outputs[pair.output].snapshots;
          return compare_pair(dump_, tensor_of(snapshots[pair.snapshot - 1].tensor),
                              tensor_of(snapshots[pair.snapshot].tensor), context_.run.cancel);
        },
        [&](int64_t i, PairResult&& result) {
          if (status) status = collect(pairs_[static_cast<size_t>(i)], std::move(result));
        },
        kWindow);
    MSDUMP_CHECK_OK(context_.run.cancel.check());
    MSDUMP_CHECK_OK(status);
    for (uint32_t output = 0; output < changes_.size(); ++output) report_rest(output);
    return counts_;
  }

 private:
  static constexpr int64_t kWindow = 64;

  // Plans the comparisons of one output. They start at the operator's own dump, and again at each execution.
  void plan(uint32_t output, const std::vector<bool>& chosen) {
    const WatchedOutput& one = watched_.outputs[output];
    const auto is_chosen = [&](const WatchedOutput::Snapshot& snapshot) { return chosen[snapshot.tensor]; };
    if (std::none_of(one.snapshots.begin(), one.snapshots.end(), is_chosen)) return;
    ++counts_.outputs;
    const bool any_own = std::any_of(one.snapshots.begin(), one.snapshots.end(),
                                     [](const WatchedOutput::Snapshot& snapshot) { return snapshot.after.empty(); });
    bool written = watched_.by_name && !any_own;
    for (uint32_t i = written ? 1 : 0; i < one.snapshots.size(); ++i) {
      const bool own = one.snapshots[i].after.empty();
      if (!own && !written) ++counts_.before;
      if (!own && written) pairs_.push_back({output, i});
      written = written || own;
    }
  }

  Status collect(const SnapshotPair& pair, PairResult&& result) {
    const auto& snapshot = watched_.outputs[pair.output].snapshots[pair.snapshot];
    if (context_.run.progress != nullptr) context_.run.progress->unit_done(snapshot.after);
    if (result.failure) {
      return context_.keep_failure(std::move(*result.failure));
    }
    if (!result.changed) {
      ++counts_.not_compared;
      return {};
    }
    ++counts_.compared;
    if (result.changed->elements == 0) return {};
    if (changes_[pair.output]++ == 0) ++counts_.changed;
    last_[pair.output] = pair;
    return changes_[pair.output] > kChangesReported ? Status() : report_change(pair, result);
  }

  Status report_change(const SnapshotPair& pair, const PairResult& result) {
    const WatchedOutput& output = watched_.outputs[pair.output];
    const WatchedOutput::Snapshot &now = output.snapshots[pair.snapshot], &before = output.snapshots[pair.snapshot - 1];
    std::string message = fmt::format("output {} of {} {} after {}", output.slot, output.op_name,
                                      changes_[pair.output] == 1 ? "changed" : "changed again", now.after);
    if (!before.after.empty()) message += fmt::format(" (not yet after {})", before.after);
    message += ": " + extent_text(result);
    MSDUMP_TRY(const std::string origin, origin_text(pair, result));
    message += origin;
    add_readers(pair, context_.report(RuleId::kMemoryStomp, tensor_of(now.tensor), result.changed->elements, message));
    return {};
  }

  Result<std::string> origin_text(const SnapshotPair& pair, const PairResult& result) const {
    const WatchedOutput& output = watched_.outputs[pair.output];
    const WatchedOutput::Snapshot& now = output.snapshots[pair.snapshot];
    const auto opened = OpenedBytes::open(dump_, tensor_of(now.tensor));
    if (!opened) return std::string();
    const ByteRange& range = result.changed->largest;
    auto origin = origin_.of(*opened, range, tensor_of(now.tensor), now.after, neighbours(pair), context_.run.cancel);
    if (!origin && origin.error().code == ErrorCode::kCancelled) return fail(std::move(origin).error());
    if (!origin || origin->empty()) return std::string();
    const std::string where = result.changed->ranges == 1 ? "" : fmt::format(" at {}", ranges_text({range}, false));
    return fmt::format("; the new bytes{} are {}", where, *origin);
  }

  // The other watched outputs of the folder: snapshots after the same operator, and the outputs as they were written.
  [[nodiscard]] std::vector<TensorId> neighbours(const SnapshotPair& pair) const {
    const WatchedOutput::Snapshot& now = watched_.outputs[pair.output].snapshots[pair.snapshot];
    std::vector<TensorId> found;
    for (const uint32_t other : in_folder_.at(folder_of(pair.output))) {
      if (other == pair.output) continue;
      for (const WatchedOutput::Snapshot& one : watched_.outputs[other].snapshots) {
        if (one.after.empty() || one.after == now.after) found.push_back(tensor_of(one.tensor));
      }
      if (found.size() >= kMostSearched) break;
    }
    // An output as its operator wrote it says more than a snapshot.
    std::stable_partition(found.begin(), found.end(), [&](TensorId tensor) { return !is_snapshot_[tensor]; });
    return found;
  }

  [[nodiscard]] uint32_t folder_of(uint32_t output) const {
    const RecordId first = watched_.outputs[output].snapshots.front().tensor;
    return dump_.index().files()[dump_.record(tensor_of(first)).file].folder;
  }

  // Sets the severity by the readers of the output: an error if one runs later, a note if all have run.
  void add_readers(const SnapshotPair& pair, Finding& finding) const {
    const auto& snapshots = watched_.outputs[pair.output].snapshots;
    std::set<std::string> later, past;
    const OperatorId own = own_operator(pair);
    if (own == kNoId || !dump_.has_flow()) return;
    for (uint32_t i = 0; i < snapshots.size(); ++i)
      (i > pair.snapshot ? later : past).insert(normalised_op_name(snapshots[i].after));
    bool all_past = true;
    for (const OperatorId reader : dump_.readers_of_op(own)) {
      const std::string name = normalised_op_name(dump_.operators()[reader].name);
      all_past = all_past && past.count(name) > 0;
      if (later.count(name) == 0) continue;
      finding.raise_severity(Severity::kError);
      finding.message += fmt::format("; {} reads it after that", dump_.operators()[reader].name);
      return;
    }
    if (all_past && !dump_.readers_of_op(own).empty())
      finding.downgrade_reason = "; all operators that read it have run, its memory may be another output's by then";
  }

  // In CheckedDump::operators(), of the graph.
  [[nodiscard]] OperatorId own_operator(const SnapshotPair& pair) const {
    for (const WatchedOutput::Snapshot& one : watched_.outputs[pair.output].snapshots) {
      if (one.after.empty()) return dump_.op_of(tensor_of(one.tensor));
    }
    return kNoId;
  }

  void report_rest(uint32_t output) {
    if (changes_[output] <= kChangesReported) return;
    const WatchedOutput& one = watched_.outputs[output];
    const WatchedOutput::Snapshot& last = one.snapshots[last_[output].snapshot];
    const size_t more = changes_[output] - kChangesReported;
    context_
        .report(RuleId::kMemoryStomp, tensor_of(last.tensor), more,
                fmt::format("output {} of {}: {}, the last after {}", one.slot, one.op_name,
                            plural(more, "more change"), last.after))
        .hint.clear();
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const Watched& watched_;
  std::vector<bool> is_snapshot_;  // by tensor
  ByteOrigin origin_;
  std::vector<SnapshotPair> pairs_;
  std::map<uint32_t, std::vector<uint32_t>> in_folder_;  // outputs
  std::vector<size_t> changes_;                          // by output: changes so far
  std::vector<SnapshotPair> last_;                       // by output: the last change
  WatchedCounts counts_;
};

}  // namespace

std::vector<bool> Watched::snapshots(size_t tensors) const {
  std::vector<bool> found(tensors, false);
  for (const WatchedOutput& output : outputs) {
    for (const WatchedOutput::Snapshot& one : output.snapshots) found[one.tensor] = !one.after.empty();
  }
  return found;
}

Result<WatchedCounts> judge_watched(RuleContext& context, const Watched& watched, const std::vector<bool>& chosen) {
  if (watched.outputs.empty() || !context.judges(RuleId::kMemoryStomp)) return WatchedCounts();
  return StompJudge(context, watched).run(chosen);
}

}  // namespace msdump::check
