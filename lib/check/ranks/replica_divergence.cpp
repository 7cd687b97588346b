#include "check/ranks/replica_divergence.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "check/ranks/collective_call.h"
#include "check/ranks/rank_values.h"
#include "ge/operators/operator_properties.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump::check {

ReplicaTable::ReplicaTable(const CheckedDump& dump, const FactsReader& facts) : row_of_(dump.tensors(), kNoId) {
  std::unordered_map<std::string, RowId> rows;
  std::string name;
  cells_.reserve(dump.tensors());
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    const TensorRecord& record = dump.record(tensor);
    const FolderIdentity place = place_of(dump.index(), record);
    const OperatorId op = dump.op_of(tensor);
    if (!place.rank || facts[tensor].digest == 0 || op == kNoId) continue;
    name =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", dump.operators()[op].name, dump.operators()[op].type,
                    name_of(record.name.io), record.name.slot, record.occurrence, place.graph.value_or(-1), place.dump);
    const RowId row = rows.try_emplace(name, rows.size()).first->second;
    cells_.push_back({row, known_first(place.step), *place.rank, tensor});
  }
  const auto place = [](const ReplicaCell& cell) { return std::tuple(cell.row, cell.step, cell.rank); };
  std::sort(cells_.begin(), cells_.end(), [&](const ReplicaCell& a, const ReplicaCell& b) {
    return std::pair(place(a), a.tensor) < std::pair(place(b), b.tensor);
  });
  const auto same = [&](const ReplicaCell& a, const ReplicaCell& b) { return place(a) == place(b); };
  cells_.erase(std::unique(cells_.begin(), cells_.end(), same), cells_.end());
  begin_.assign(rows.size() + 1, cells_.size());
  for (size_t i = cells_.size(); i-- > 0;) {
    begin_[cells_[i].row] = i;
    row_of_[cells_[i].tensor] = cells_[i].row;
  }
}

std::vector<ReplicaCells> ReplicaTable::steps_of(RowId row) const {
  std::vector<ReplicaCells> steps;
  const ReplicaCells all = cells_of(row);
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && all[end].step == all[begin].step) ++end;
    steps.push_back(all.subspan(begin, end - begin));
    begin = end;
  }
  return steps;
}

TensorId ReplicaTable::at(RowId row, const StepKey& step, int64_t rank) const {
  const ReplicaCells all = cells_of(row);
  const auto found = std::lower_bound(
      all.begin(), all.end(), std::pair(step, rank),
      [](const ReplicaCell& cell, const auto& place) { return std::pair(cell.step, cell.rank) < place; });
  return found != all.end() && found->step == step && found->rank == rank ? found->tensor : kNoId;
}

std::vector<std::vector<size_t>> equal_cells(ReplicaCells cells, const FactsReader& facts) {
  std::unordered_map<uint64_t, size_t> by_content;
  std::vector<std::vector<size_t>> classes;
  for (size_t i = 0; i < cells.size(); ++i) {
    const TensorFacts& one = facts[cells[i].tensor];
    const uint64_t key = mix_hash(mix_hash(one.digest, static_cast<uint64_t>(one.dtype)), one.rank);
    const auto [found, is_new] = by_content.try_emplace(key, classes.size());
    if (is_new) classes.emplace_back();
    classes[found->second].push_back(i);
  }
  return classes;
}

namespace {

using Ranks = std::vector<int64_t>;
using Votes = std::map<Ranks, std::set<uint64_t>>;  // contents, as many operators may read the same parameter

constexpr size_t kLeastVotes = 2;
constexpr size_t kMostLarger = 64;  // classes that a class is compared with

// True for a larger class without a few of its ranks. Shards split a class into equal ones; here the few have diverged.
bool is_remainder(const Ranks& ranks, const std::vector<const Ranks*>& larger) {
  return std::any_of(larger.begin(), larger.end(), [&](const Ranks* whole) {
    return whole->size() > ranks.size() && whole->size() < 2 * ranks.size() &&
           std::includes(whole->begin(), whole->end(), ranks.begin(), ranks.end());
  });
}

}  // namespace

bool is_kept_tensor(const CheckedDump& dump, TensorId tensor) {
  const NameFacts& name = dump.record(tensor).name;
  if (is_module_parameter(name)) return true;
  return dump.role(tensor) == TensorRole::kParameter && dump.is_kept_name(name.op_name);
}

std::vector<std::vector<int64_t>> sibling_ranks(const FactsReader& facts, const ReplicaTable& table,
                                                const std::function<bool(const ReplicaCell&)>& votes_for) {
  Votes votes;
  for (RowId row{0}; row < table.rows(); ++row) {
    const ReplicaCells first = table.steps_of(row).front();
    if (first.size() < 2 || !votes_for(first.front())) continue;
    for (const std::vector<size_t>& equal : equal_cells(first, facts)) {
      const TensorFacts& like = facts[first[equal.front()].tensor];
      if (equal.size() < 2 || !is_telling(like)) continue;
      Ranks ranks;
      for (const size_t cell : equal) ranks.push_back(first[cell].rank);
      votes[std::move(ranks)].insert(like.digest);
    }
  }
  std::erase_if(votes, [](const auto& one) { return one.second.size() < kLeastVotes; });
  std::vector<const Votes::value_type*> classes;
  for (const auto& one : votes) classes.push_back(&one);
  std::stable_sort(classes.begin(), classes.end(), [](const auto* a, const auto* b) {
    return std::pair(a->first.size(), b->second.size()) < std::pair(b->first.size(), a->second.size());
  });
  std::map<int64_t, std::vector<const Ranks*>> with_rank;  // the largest first
  for (auto one = classes.rbegin(); one != classes.rend(); ++one) {
    for (const int64_t rank : (*one)->first) {
      if (with_rank[rank].size() < kMostLarger) with_rank[rank].push_back(&(*one)->first);
    }
  }
  std::vector<Ranks> siblings;
  std::set<int64_t> taken;
  for (const Votes::value_type* const one : classes) {
    const Ranks& ranks = one->first;
    const bool free = std::none_of(ranks.begin(), ranks.end(), [&](int64_t rank) { return taken.count(rank) > 0; });
    if (!free || is_remainder(ranks, with_rank[ranks.front()])) continue;
    taken.insert(ranks.begin(), ranks.end());
    siblings.push_back(ranks);
  }
  std::sort(siblings.begin(), siblings.end());
  return siblings;
}

namespace {

uint64_t place_key(const StepKey& step, int64_t rank) {
  return mix_hash(mix_hash(static_cast<uint64_t>(step.second) + (step.first ? 1 : 0), static_cast<uint64_t>(rank)), 1);
}

// "Functional.linear.3.forward": a hash of the name without the number, and the number; no value for other names.
std::optional<std::pair<uint64_t, uint64_t>> counted_call(std::string_view name) {
  const auto entry = parse_msprobe_entry(name);
  if (!entry || entry->kind != MsprobeEntryKind::kCall) return std::nullopt;
  const size_t end = name.rfind('.'),
               begin = end == std::string_view::npos || end == 0 ? end : name.rfind('.', end - 1);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view number = name.substr(begin + 1, end - begin - 1);
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || stop != number.data() + number.size()) return std::nullopt;
  return std::pair(mix_hash(text_hash(name.substr(0, begin)), text_hash(name.substr(end))), value);
}

std::vector<int64_t> ranks_of(ReplicaCells cells, const std::vector<size_t>& members) {
  std::vector<int64_t> ranks;
  for (const size_t member : members) ranks.push_back(cells[member].rank);
  return ranks;
}

}  // namespace

DivergenceFinder::DivergenceFinder(const RuleContext& context, const ReplicaTable& table)
    : dump_(context.dump), facts_(context.facts), table_(table), run_(context.run) {
  collect_steps();
  collect_contents();
  collect_counts();
  siblings_ = sibling_ranks(facts_, table, [&](const ReplicaCell& cell) { return is_external(cell); });
}

// True for a parameter, or an input that no operator of the dump computed: the network is given both.
bool DivergenceFinder::is_external(const ReplicaCell& cell) const {
  if (is_kept_tensor(dump_, cell.tensor)) return true;
  const OperatorId op = dump_.op_of(cell.tensor);
  return dump_.role(cell.tensor) == TensorRole::kInput && !is_computed_in_dump(cell) &&
         !is_communication(dump_.operators()[op].type);
}

// Counts the calls of each API. Names number the calls of a step, so equal numbers are the same call only if both steps have
// equally many.
void DivergenceFinder::collect_counts() {
  for (RowId row{0}; row < table_.rows(); ++row) {
    for (const ReplicaCell& cell : table_.cells_of(row)) {
      const auto counted = counted_call(dump_.operators()[dump_.op_of(cell.tensor)].name);
      if (!counted) continue;
      uint64_t& count = counts_[mix_hash(place_key(cell.step, cell.rank), counted->first)];
      count = std::max(count, counted->second + 1);
    }
  }
}

bool DivergenceFinder::is_same_call(const ReplicaCell& now, const ReplicaCell& first) const {
  const TensorFacts &a = facts_[now.tensor], &b = facts_[first.tensor];
  if (a.elements != b.elements || a.dtype != b.dtype || a.rank != b.rank) return false;
  const auto counted = counted_call(dump_.operators()[dump_.op_of(now.tensor)].name);
  if (!counted) return true;
  const auto count = [&](const ReplicaCell& cell) {
    const auto found = counts_.find(mix_hash(place_key(cell.step, cell.rank), counted->first));
    return found == counts_.end() ? 0 : found->second;
  };
  return count(now) == count(first);
}

void DivergenceFinder::collect_steps() {
  for (ExecutionId run{0}; run < dump_.runs().size(); ++run) {
    const RunPlace& place = dump_.runs()[run].place;
    if (!place.rank) continue;
    const StepKey step = known_first(place.step);
    if (first_runs_.try_emplace(place_key(step, *place.rank), run).second) ++ranks_of_step_[step];
  }
  const KnownRanks known = known_ranks(dump_);
  ranks_ = known.there.size() + known.holes.size() + known.named.size();
}

void DivergenceFinder::collect_contents() {
  for (RowId row{0}; row < table_.rows(); ++row) {
    const ReplicaCells cells = table_.cells_of(row);
    const bool kept = is_kept_tensor(dump_, cells.front().tensor);
    // A broadcast hands out parameters.
    const bool is_broadcast = to_lower(dump_.operators()[dump_.op_of(cells.front().tensor)].type) == "broadcast";
    for (const ReplicaCell& cell : cells) {
      if (kept) parameters_.try_emplace(content_key(cell), cell.tensor);
      if (dump_.role(cell.tensor) == TensorRole::kOutput && !is_broadcast) outputs_.insert(content_key(cell));
    }
  }
}

uint64_t DivergenceFinder::content_key(const ReplicaCell& cell) const {
  return mix_hash(place_key(cell.step, cell.rank), facts_[cell.tensor].digest);
}

uint64_t DivergenceFinder::execution_of(const ReplicaCell& cell) const {
  const ExecutionId run = dump_.run_of(cell.tensor);
  const auto first = first_runs_.find(place_key(cell.step, cell.rank));
  return run == kNoId || first == first_runs_.end() ? UINT64_MAX : run - first->second;
}

std::vector<ReplicaDivergence> DivergenceFinder::find_divergences() const {
  std::vector<ReplicaDivergence> found;
  for (RowId row{0}; row < table_.rows(); ++row) {
    const std::vector<ReplicaCells> steps = table_.steps_of(row);
    if (steps.front().size() < 2) continue;
    add_first_step(steps.front(), found);
    add_later(steps, found);
  }
  std::stable_sort(found.begin(), found.end(), [](const ReplicaDivergence& a, const ReplicaDivergence& b) {
    return std::tie(a.step, a.execution) < std::tie(b.step, b.execution);
  });
  return found;
}

// ---- the first step

void DivergenceFinder::add_first_step(ReplicaCells cells, std::vector<ReplicaDivergence>& found) const {
  const std::vector<std::vector<size_t>> classes = equal_cells(cells, facts_);
  if (classes.size() < 2) return;
  if (is_external(cells.front())) {
    add_unlike_siblings(cells, classes, found);
  } else if (cells.size() > 2 && dump_.role(cells.front().tensor) == TensorRole::kOutput) {
    add_diverged_outputs(cells, classes, found);
  }
}

// Adds a parameter if some siblings have another value.
void DivergenceFinder::add_unlike_siblings(ReplicaCells cells, const std::vector<std::vector<size_t>>& classes,
                                           std::vector<ReplicaDivergence>& found) const {
  std::vector<size_t> class_of(cells.size());
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const size_t cell : classes[i]) class_of[cell] = i;
  }
  const auto size_of = [&](size_t cell) { return classes[class_of[cell]].size(); };
  for (const std::vector<int64_t>& siblings : siblings_) {
    std::vector<size_t> members;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (std::binary_search(siblings.begin(), siblings.end(), cells[i].rank)) members.push_back(i);
    }
    const bool equal = std::all_of(members.begin(), members.end(),
                                   [&](size_t cell) { return class_of[cell] == class_of[members.front()]; });
    if (members.size() < 2 || equal) continue;
    const size_t usual =
        *std::max_element(members.begin(), members.end(), [&](size_t a, size_t b) { return size_of(a) < size_of(b); });
    Split parts;
    for (const size_t cell : members)
      (class_of[cell] == class_of[usual] ? parts.usual : parts.diverged).push_back(cell);
    parts.has_majority = std::all_of(parts.diverged.begin(), parts.diverged.end(),
                                     [&](size_t cell) { return size_of(cell) < size_of(usual); });
    if (!is_telling(facts_[cells[usual].tensor]) || parts.diverged.size() > parts.usual.size()) continue;
    // Shards split a group into equal parts, so one rank alone is no shard, unless the others were not dumped.
    const bool alone =
        parts.has_majority && parts.diverged.size() == 1 && parts.usual.size() > 1 && !lacks_ranks(cells.front().step);
    const bool kept = is_kept_tensor(dump_, cells[usual].tensor);
    // Inputs may be positions or data, which correlate without being copies.
    const auto likeness =
        alone ? Likeness::kFewDiffer : likeness_of(cells[parts.diverged.front()].tensor, cells[usual].tensor);
    if (likeness == Likeness::kOther || (likeness == Likeness::kCorrelated && !kept)) continue;
    ReplicaDivergence one = make_divergence(cells, parts);
    one.since_first_step = true;
    found.push_back(std::move(one));
  }
}

bool DivergenceFinder::lacks_ranks(const StepKey& step) const {
  const auto found = ranks_of_step_.find(step);
  return found == ranks_of_step_.end() || found->second < ranks_;
}

// Adds an operator that computed the same output from the same inputs on most ranks, but not on all.
void DivergenceFinder::add_diverged_outputs(ReplicaCells cells, const std::vector<std::vector<size_t>>& classes,
                                            std::vector<ReplicaDivergence>& found) const {
  const auto usual = std::max_element(classes.begin(), classes.end(),
                                      [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const ReplicaCell& like = cells[usual->front()];
  if (usual->size() < 2 || !is_telling(facts_[like.tensor]) || !may_judge_output(like.tensor)) return;
  Split parts;
  parts.usual = *usual;
  parts.has_majority = true;
  for (const std::vector<size_t>& others : classes) {
    if (&others == &*usual) continue;
    for (const size_t cell : others) {
      if (has_same_inputs(cells[cell], like)) parts.diverged.push_back(cell);
    }
  }
  if (parts.diverged.empty() || parts.diverged.size() >= parts.usual.size()) return;
  ReplicaDivergence one = make_divergence(cells, parts);
  one.since_first_step = true;
  found.push_back(std::move(one));
}

// ---- later steps

void DivergenceFinder::add_later(const std::vector<ReplicaCells>& steps, std::vector<ReplicaDivergence>& found) const {
  const ReplicaCells first = steps.front();
  for (const std::vector<size_t>& equal : equal_cells(first, facts_)) {
    if (equal.size() < 2 || !is_telling(facts_[first[equal.front()].tensor])) continue;
    const std::vector<int64_t> ranks = ranks_of(first, equal);
    const ReplicaCell& like = first[equal.front()];
    for (size_t step = 1; step < steps.size(); ++step) {
      std::vector<size_t> members;
      for (size_t i = 0; i < steps[step].size(); ++i) {
        if (std::binary_search(ranks.begin(), ranks.end(), steps[step][i].rank)) members.push_back(i);
      }
      const bool comparable = std::all_of(members.begin(), members.end(), [&](size_t cell) {
        return is_same_call(steps[step][cell], {like.row, like.step, steps[step][cell].rank, like.tensor});
      });
      if (!comparable) continue;
      const Split parts = split(steps[step], members);
      if (parts.diverged.empty()) continue;
      found.push_back(make_divergence(steps[step], parts));
      break;
    }
  }
}

// Splits cells into the most frequent value and the others. Nothing diverged if all are equal, or if that is undetermined.
DivergenceFinder::Split DivergenceFinder::split(ReplicaCells cells, const std::vector<size_t>& members) const {
  Split parts;
  if (members.size() < 2) return parts;
  std::unordered_map<uint64_t, size_t> counts;
  for (const size_t cell : members) ++counts[facts_[cells[cell].tensor].digest];
  if (counts.size() == 1) return parts;
  size_t usual = members.front();
  for (const size_t cell : members) {
    if (counts[facts_[cells[cell].tensor].digest] > counts[facts_[cells[usual].tensor].digest]) usual = cell;
  }
  for (const size_t cell : members) {
    const auto equal = are_equal(facts_[cells[cell].tensor], facts_[cells[usual].tensor]);
    if (!equal) return {};
    (*equal ? parts.usual : parts.diverged).push_back(cell);
  }
  parts.has_majority = parts.diverged.size() < parts.usual.size();
  return parts;
}

ReplicaDivergence DivergenceFinder::make_divergence(ReplicaCells cells, const Split& split) const {
  const ReplicaCell& cell = cells[split.diverged.front()];
  ReplicaDivergence one;
  one.step = cell.step;
  one.execution = execution_of(cell);
  one.row = cell.row;
  one.tensor = cell.tensor;
  one.sibling = cells[split.usual.front()].tensor;
  if (split.has_majority) one.diverged = ranks_of(cells, split.diverged);
  one.group = ranks_of(cells, split.usual);
  for (const int64_t rank : ranks_of(cells, split.diverged)) one.group.push_back(rank);
  std::sort(one.group.begin(), one.group.end());
  return one;
}

// ---- root causes

bool DivergenceFinder::may_judge_output(TensorId tensor) const {
  const OperatorId op = dump_.op_of(tensor);
  if (op == kNoId || dump_.run_of(tensor) == kNoId) return false;
  const SequencedOp& known = dump_.operators()[op];
  // A backward call also reads values that its forward call saved, which are not among its inputs.
  const bool hidden = forward_entry_of(known.name).has_value();
  return !hidden && !ge::has_property(known.type, ge::OperatorProperty::kTakesPart) && !is_communication(known.type);
}

// True if all inputs of both executions are known to be equal.
bool DivergenceFinder::has_same_inputs(const ReplicaCell& a, const ReplicaCell& b) const {
  const ExecutionId run = dump_.run_of(a.tensor), other = dump_.run_of(b.tensor);
  if (run == kNoId || other == kNoId) return false;
  const std::vector<RunInput>& inputs = dump_.runs()[run].inputs;
  if (inputs.empty() || inputs.size() != dump_.runs()[other].inputs.size()) return false;
  return std::all_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
    const TensorId tensor = tensor_of(input);
    const RowId row = tensor == kNoId ? kNoId : table_.row_of(tensor);
    const TensorId there = row == kNoId ? kNoId : table_.at(row, b.step, b.rank);
    return there != kNoId && are_equal(facts_[tensor], facts_[there]) == true;
  });
}

bool DivergenceFinder::is_computed_in_dump(const ReplicaCell& cell) const {
  return outputs_.count(content_key(cell)) > 0;
}

DivergenceFinder::Likeness DivergenceFinder::likeness_of(TensorId a, TensorId b) const {
  constexpr double kCorrelated = 0.9;
  const TensorFacts& facts = facts_[a];
  if (facts.from != TensorFacts::From::kElements || facts_[b].from != facts.from) return Likeness::kOther;
  const auto metrics = compare_elements(dump_, a, b, run_.cancel);
  if (!metrics || metrics->count == 0 || !metrics->std_a || !metrics->std_b || !metrics->rmse) return Likeness::kOther;
  const bool sparse = facts.zero.value_or(0) * 4 > metrics->count;
  if (metrics->equal * 4 >= metrics->count * 3 && !sparse) return Likeness::kFewDiffer;
  const double spread = *metrics->std_a * *metrics->std_b, shift = *metrics->mean_a - *metrics->mean_b;
  if (!(spread > 0)) return Likeness::kOther;
  const double squares = *metrics->std_a * *metrics->std_a + *metrics->std_b * *metrics->std_b;
  const double correlation = (squares + shift * shift - *metrics->rmse * *metrics->rmse) / (2 * spread);
  return correlation > kCorrelated ? Likeness::kCorrelated : Likeness::kOther;
}

ReplicaCell DivergenceFinder::cell_of(const ReplicaDivergence& divergence, TensorId tensor) const {
  return {divergence.row, divergence.step, dump_.identity(tensor).rank.value_or(0), tensor};
}

bool DivergenceFinder::is_root_cause(ReplicaDivergence& divergence) const {
  const ReplicaCell cell = cell_of(divergence, divergence.tensor), sibling = cell_of(divergence, divergence.sibling);
  const bool nearly_needed = divergence.diverged.empty();
  if (is_kept_tensor(dump_, divergence.tensor)) {
    divergence.kind = FirstDivergence::Kind::kParameter;
    if (is_module_parameter(dump_.record(divergence.tensor).name) || divergence.since_first_step) return true;
    return !nearly_needed || likeness_of(divergence.tensor, divergence.sibling) != Likeness::kOther;
  }
  const TensorRole role = dump_.role(divergence.tensor);
  if (role == TensorRole::kOutput) {
    if (divergence.since_first_step) return true;
    return may_judge_output(divergence.tensor) && has_same_inputs(cell, sibling);
  }
  if (role != TensorRole::kInput || is_computed_in_dump(cell) || is_computed_in_dump(sibling)) return false;
  divergence.kind = FirstDivergence::Kind::kInput;
  const auto parameter = parameters_.find(content_key(cell)), other = parameters_.find(content_key(sibling));
  if (parameter != parameters_.end() && other != parameters_.end()) {
    divergence.kind = FirstDivergence::Kind::kParameter;
    divergence.tensor = parameter->second;
    divergence.sibling = other->second;
    return true;
  }
  return divergence.since_first_step || !nearly_needed ||
         likeness_of(divergence.tensor, divergence.sibling) != Likeness::kOther;
}

bool DivergenceFinder::reads_parameter(const ReplicaCell& cell) const {
  const std::vector<RunInput>& inputs = dump_.runs()[dump_.run_of(cell.tensor)].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
    const TensorId tensor = tensor_of(input);
    if (tensor == kNoId || table_.row_of(tensor) == kNoId || !is_telling(facts_[tensor])) return false;
    return is_external({table_.row_of(tensor), cell.step, cell.rank, tensor});
  });
}

std::optional<std::pair<ReplicaCell, ReplicaCell>> DivergenceFinder::first_before(const ReplicaDivergence& divergence,
                                                                                  const IsCause& is_cause) const {
  const int64_t rank = dump_.identity(divergence.tensor).rank.value_or(0);
  const int64_t other = dump_.identity(divergence.sibling).rank.value_or(0);
  std::optional<std::pair<ReplicaCell, ReplicaCell>> first;
  std::pair<StepKey, uint64_t> place_of_first;
  for (RowId row{0}; row < table_.rows(); ++row) {
    if (dump_.role(table_.cells_of(row).front().tensor) != TensorRole::kOutput) continue;
    for (const auto& [step, ranks] : ranks_of_step_) {
      if (!(step < divergence.step)) break;
      const ReplicaCell cell{row, step, rank, table_.at(row, step, rank)};
      const ReplicaCell sibling{row, step, other, table_.at(row, step, other)};
      if (cell.tensor == kNoId || sibling.tensor == kNoId) continue;
      const std::pair place(step, execution_of(cell));
      if ((first && !(place < place_of_first)) || !is_cause(cell, sibling)) continue;
      first = {cell, sibling};
      place_of_first = place;
    }
  }
  return first;
}

std::optional<ReplicaDivergence> DivergenceFinder::find_cause(const ReplicaDivergence& divergence) const {
  if (divergence.since_first_step || divergence.kind == FirstDivergence::Kind::kOperator) return std::nullopt;
  const auto made = first_before(divergence, [&](const ReplicaCell& cell, const ReplicaCell& sibling) {
    return are_equal(facts_[cell.tensor], facts_[sibling.tensor]) == false && may_judge_output(cell.tensor) &&
           has_same_inputs(cell, sibling) && reads_parameter(cell);
  });
  if (!made) return std::nullopt;
  ReplicaDivergence cause = divergence;
  cause.kind = FirstDivergence::Kind::kOperator;
  cause.step = made->first.step;
  cause.execution = execution_of(made->first);
  cause.row = made->first.row;
  cause.tensor = made->first.tensor;
  cause.sibling = made->second.tensor;
  return cause;
}

std::optional<TensorId> DivergenceFinder::find_producer(const ReplicaDivergence& divergence) const {
  const TensorFacts &read = facts_[divergence.tensor], &read_there = facts_[divergence.sibling];
  if (divergence.since_first_step || !is_telling(read) || !is_telling(read_there)) return std::nullopt;
  const auto writer = first_before(divergence, [&](const ReplicaCell& cell, const ReplicaCell& sibling) {
    return are_equal(facts_[cell.tensor], read) == true && are_equal(facts_[sibling.tensor], read_there) == true;
  });
  return writer ? std::optional(writer->first.tensor) : std::nullopt;
}

std::vector<int64_t> DivergenceFinder::unchanged_ranks(const ReplicaDivergence& divergence) const {
  std::vector<int64_t> unchanged;
  const StepKey first = table_.cells_of(divergence.row).front().step;
  if (divergence.since_first_step || divergence.step == first) return unchanged;
  for (const int64_t rank : divergence.group) {
    const TensorId then = table_.at(divergence.row, first, rank),
                   now = table_.at(divergence.row, divergence.step, rank);
    if (then != kNoId && now != kNoId && are_equal(facts_[then], facts_[now]) == true) unchanged.push_back(rank);
  }
  return unchanged;
}

}  // namespace msdump::check
