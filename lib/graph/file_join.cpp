#include "graph/file_join.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "graph/name_table.h"
#include "graph/op_name.h"
#include "ir/attributes.h"

namespace msdump {
namespace {

constexpr double kWholeName = 1.0, kLastPart = 0.95, kByType = 0.6, kGuess = 0.3, kSeveralFused = 0.85,
                 kWithSuffix = 0.75, kCutOff = 0.5;
constexpr size_t kShortestCutName = 60;

uint64_t hash_of(std::string_view name) { return NameHash().add(name).value(); }

bool same_name(std::string_view a, std::string_view b) {
  const auto normal = [](char c) { return c == '/' || c == '\\' || c == '.' || c == ' ' ? '_' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return normal(x) == normal(y); });
}

bool same_type(std::string_view a, std::string_view b) { return a == b || to_lower(a) == to_lower(b); }

bool agree(const std::optional<int64_t>& a, const std::optional<int64_t>& b) { return !a || !b || *a == *b; }

// "data-12" of constants/, "cst3" (1.3 to 1.5): values that the graph has instead of computing them.
bool is_constant_name(std::string_view name) {
  for (const std::string_view start : {std::string_view("data-"), std::string_view("cst")}) {
    if (name.starts_with(start) && is_digits(name.substr(start.size()))) return true;
  }
  return false;
}

// "(Default/a/Add-op1, Default/b/Mul-op2)", also with brackets or quotes: normalised names.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : std::string(list) + ",") {
    if (c == ',' || c == '(' || c == ')' || c == '[' || c == ']' || c == '"') {
      while (!name.empty() && name.front() == ' ') name.erase(0, 1);
      if (!name.empty()) names.push_back(normalised_op_name(std::exchange(name, {})));
    } else {
      name += c;
    }
  }
  return names;
}

}  // namespace

// Fills a FileJoin, rule by rule; what a surer rule has matched is left alone by the others.
class FileJoiner {
 public:
  FileJoiner(FileJoin& join, const DumpIndex& index, const std::vector<TensorRecord>& tensors)
      : join_(join), graph_(*join.graph_), index_(index), tensors_(tensors) {
    for (const Origin& origin : graph_.origins()) by_step_ = by_step_ || origin.step.has_value();
  }

  void run() {
    make_groups();
    by_full_name();
    by_last_component();
    leftovers();
    finish();
  }

 private:
  [[nodiscard]] FileName file_name(OpId op) const {
    return file_name_of(graph_, op, join_.naming_.renumbered ? join_.naming_.numbers[op] : kNoIndex);
  }

  // Does it matter whether operators have new numbers?
  [[nodiscard]] bool depends_on_numbering(OpId op) const {
    const auto& numbers = join_.naming_.numbers;
    if (numbers.empty() || numbers[op] == kNoIndex) return false;
    const auto own = split_number(graph_.leaf(op));
    return own && own->number != numbers[op];
  }

  void make_groups() {
    std::unordered_map<uint64_t, std::vector<uint32_t>> by_hash;
    by_hash.reserve(tensors_.size() / 3);
    std::vector<uint32_t> group_of(tensors_.size());
    for (uint32_t i = 0; i < tensors_.size(); ++i) {
      const TensorRecord& tensor = tensors_[i];
      const FolderIdentity& folder = index_.folders()[index_.files()[tensor.file].folder].identity;
      auto& candidates = by_hash[hash_of(tensor.name.op_name)];
      const bool parameter = tensor.name.op_type == "Parameter";
      const std::optional<int64_t> step = by_step_ ? folder.step : std::nullopt;
      const auto same = std::find_if(candidates.begin(), candidates.end(), [&](uint32_t candidate) {
        const TensorGroup& group = join_.groups_[candidate];
        return group.rank == folder.rank && group.graph == folder.graph && group.step == step &&
               group.parameter == parameter && group.op_name == tensor.name.op_name;
      });
      if (same != candidates.end()) {
        group_of[i] = *same;
      } else {
        group_of[i] = static_cast<uint32_t>(join_.groups_.size());
        candidates.push_back(group_of[i]);
        TensorGroup group;
        group.rank = folder.rank;
        group.graph = folder.graph;
        group.step = step;
        group.op_type = tensor.name.op_type;
        group.op_name = tensor.name.op_name;
        group.parameter = parameter;
        join_.groups_.push_back(group);
      }
      ++join_.groups_[group_of[i]].count;
    }
    uint32_t first = 0;
    for (TensorGroup& group : join_.groups_) {
      group.first = first;
      first += std::exchange(group.count, 0);
    }
    join_.order_.resize(tensors_.size());
    for (uint32_t i = 0; i < tensors_.size(); ++i) {
      TensorGroup& group = join_.groups_[group_of[i]];
      join_.order_[group.first + group.count++] = i;
    }
    groups_by_name_.reserve(join_.groups_.size());
    for (uint32_t i = 0; i < join_.groups_.size(); ++i) groups_by_name_.add(hash_of(join_.groups_[i].op_name), i);
    groups_by_name_.close();
  }

  [[nodiscard]] static bool same_place(const Origin& origin, const TensorGroup& group) {
    return agree(origin.rank, group.rank) && agree(origin.graph_id, group.graph) && agree(origin.step, group.step);
  }

  void pair(OpId op, uint32_t group, JoinRule rule, double confidence) {
    if (depends_on_numbering(op)) confidence = std::min(confidence, join_.naming_.confidence);
    join_.pairs_.push_back({op, group, rule, confidence});
    TensorGroup& of = join_.groups_[group];
    if (of.rule == JoinRule::kUnmatched || rule < of.rule) of.rule = rule;
  }

  template <class Visit>
  void for_each_kernel(const Visit& visit) const {
    for (const Origin& origin : graph_.origins()) {
      for (uint32_t i = 0; i < origin.graph.nodes.size(); ++i) {
        const IrNode& node = origin.graph.nodes[i];
        if (node.kind == IrNodeKind::kKernel && node.leaf != Text::kEmpty) visit(origin, origin.first_operator + i);
      }
    }
  }

  void by_full_name() {
    for_each_kernel([&](const Origin& origin, OpId op) {
      const FileName name = file_name(op);
      const auto [first, last] = groups_by_name_.equal(name.hash_full());
      for (auto entry = first; entry != last; ++entry) {
        const TensorGroup& group = join_.groups_[entry->value];
        if (group.parameter || !same_place(origin, group)) continue;
        if (same_name(name.full(), group.op_name)) pair(op, entry->value, JoinRule::kFullName, kWholeName);
      }
    });
  }

  void by_last_component() {
    std::vector<JoinPair> found;
    for_each_kernel([&](const Origin& origin, OpId op) {
      const FileName name = file_name(op);
      if (name.scope.empty()) return;
      const auto [first, last] = groups_by_name_.equal(name.hash_leaf());
      for (auto entry = first; entry != last; ++entry) {
        const TensorGroup& group = join_.groups_[entry->value];
        if (group.parameter || group.rule != JoinRule::kUnmatched || !same_place(origin, group)) continue;
        if (same_name(name.leaf(), group.op_name))
          found.push_back({op, entry->value, JoinRule::kLastComponent, kLastPart});
      }
    });
    std::stable_sort(found.begin(), found.end(),
                     [](const JoinPair& a, const JoinPair& b) { return a.group < b.group; });
    for (size_t begin = 0; begin < found.size();) {
      size_t end = begin;
      while (end < found.size() && found[end].group == found[begin].group) ++end;
      settle(std::span(found).subspan(begin, end - begin));
      begin = end;
    }
  }

  // Several operators for one group: those of its type, if there are any.
  void settle(std::span<JoinPair> candidates) {
    if (candidates.size() == 1) return pair(candidates[0].op, candidates[0].group, JoinRule::kLastComponent, kLastPart);
    const std::string_view type = join_.groups_[candidates[0].group].op_type;
    std::vector<JoinPair> of_type;
    for (const JoinPair& candidate : candidates) {
      if (same_type(graph_.op_type(candidate.op), type)) of_type.push_back(candidate);
    }
    if (of_type.size() == 1) return pair(of_type[0].op, of_type[0].group, JoinRule::kTypeDecided, kByType);
    if (of_type.empty()) of_type.assign(candidates.begin(), candidates.end());
    for (const JoinPair& candidate : of_type)
      pair(candidate.op, candidate.group, JoinRule::kAmbiguous, kGuess / static_cast<double>(of_type.size()));
  }

  // Groups that no whole name explains.
  void leftovers() {
    bool prepared = false;
    for (uint32_t i = 0; i < join_.groups_.size(); ++i) {
      TensorGroup& group = join_.groups_[i];
      if (group.rule != JoinRule::kUnmatched) continue;
      if (group.parameter) {
        by_parameter(i);
        continue;
      }
      if (!prepared) prepare_operator_names();
      prepared = true;
      if (!by_parts(i) && !by_original_name(i)) by_beginning(i);
    }
  }

  void by_parameter(uint32_t place) {
    TensorGroup& group = join_.groups_[place];
    if (is_constant_name(group.op_name)) {
      group.rule = JoinRule::kParameter;
      return;
    }
    if (parameters_by_name_.empty()) {
      for (uint32_t o = 0; o < graph_.origins().size(); ++o) {
        const IrGraph& ir = graph_.origins()[o].graph;
        for (uint32_t p = 0; p < ir.parameters.size(); ++p)
          parameters_by_name_[normalised_op_name(ir.text(ir.parameters[p].name))].push_back({o, p, 0});
      }
    }
    const auto found = parameters_by_name_.find(normalised_op_name(group.op_name));
    if (found == parameters_by_name_.end()) return;
    for (FileJoin::ParameterPair pair : found->second) {
      if (!same_place(graph_.origins()[pair.origin], group)) continue;
      pair.group = place;
      join_.parameters_.push_back(pair);
      join_.groups_[place].rule = JoinRule::kParameter;
    }
  }

  void prepare_operator_names() {
    for_each_kernel([&](const Origin&, OpId op) { operators_by_name_.add(file_name(op).hash_full(), op); });
    operators_by_name_.close();
  }

  [[nodiscard]] std::vector<OpId> operators_named(std::string_view name, const TensorGroup& group) const {
    std::vector<OpId> found;
    const auto [first, last] = operators_by_name_.equal(hash_of(name));
    for (auto entry = first; entry != last; ++entry) {
      if (same_place(graph_.origin(entry->value), group) && same_name(file_name(entry->value).full(), name))
        found.push_back(entry->value);
    }
    return found;
  }

  // Names of operators one behind the other; the longest that fits at each place. What follows the last is a suffix.
  bool by_parts(uint32_t place) {
    const TensorGroup& group = join_.groups_[place];
    const std::string_view name = group.op_name;
    const std::vector<size_t> ends = number_ends(name);
    std::vector<OpId> parts;
    size_t begin = 0;
    for (size_t i = 0; i < ends.size(); ++i) {
      const bool longer_follows = i + 1 < ends.size() && ends[i + 1] > ends[i] && name[ends[i]] == '_' &&
                                  !operators_named(name.substr(begin, ends[i + 1] - begin), group).empty();
      if (longer_follows || ends[i] <= begin) continue;
      const std::vector<OpId> found = operators_named(name.substr(begin, ends[i] - begin), group);
      if (found.empty()) continue;
      parts.insert(parts.end(), found.begin(), found.end());
      begin = ends[i];
    }
    if (parts.empty()) return false;
    const bool several = parts.size() > 1;
    for (const OpId op : parts)
      pair(op, place, several ? JoinRule::kFused : JoinRule::kDerived, several ? kSeveralFused : kWithSuffix);
    return true;
  }

  // An operator that was made of others says their names.
  bool by_original_name(uint32_t place) {
    if (!originals_read_) read_original_names();
    const auto found = originals_.find(normalised_op_name(join_.groups_[place].op_name));
    if (found == originals_.end()) return false;
    bool any = false;
    for (const OpId op : found->second) {
      if (!same_place(graph_.origin(op), join_.groups_[place])) continue;
      pair(op, place, JoinRule::kFused, kSeveralFused);
      any = true;
    }
    return any;
  }

  void read_original_names() {
    originals_read_ = true;
    for_each_kernel([&](const Origin& origin, OpId op) {
      const std::string_view attributes = origin.graph.text(graph_.node(op).attributes);
      for (const std::string_view key : {"_datadump_original_names", "datadump_original_names"}) {
        if (attributes.find(key) == std::string_view::npos) continue;
        for (const std::string& name : names_in(attribute_value(attributes, key))) originals_[name].push_back(op);
      }
    });
  }

  // A name that was cut: the beginning of exactly one.
  void by_beginning(uint32_t place) {
    const TensorGroup& group = join_.groups_[place];
    if (group.op_name.size() < kShortestCutName) return;
    if (sorted_names_.empty()) {
      for_each_kernel([&](const Origin&, OpId op) { sorted_names_.emplace_back(file_name(op).full(), op); });
      std::sort(sorted_names_.begin(), sorted_names_.end());
    }
    const std::string name = normalised_op_name(group.op_name);
    std::optional<OpId> only;
    for (auto at = std::lower_bound(sorted_names_.begin(), sorted_names_.end(), std::pair(name, OpId{0}));
         at != sorted_names_.end() && at->first.starts_with(name); ++at) {
      if (!same_place(graph_.origin(at->second), group)) continue;
      if (only) return;
      only = at->second;
    }
    if (only) pair(*only, place, JoinRule::kCut, kCutOff);
  }

  void finish() {
    auto& pairs = join_.pairs_;
    std::stable_sort(pairs.begin(), pairs.end(), [](const JoinPair& a, const JoinPair& b) {
      return a.op != b.op ? a.op < b.op : a.confidence > b.confidence;
    });
    join_.first_pair_.assign(graph_.size() + 1, 0);
    for (const JoinPair& pair : pairs) ++join_.first_pair_[pair.op + 1];
    std::set<std::pair<std::optional<int64_t>, std::optional<int64_t>>> places;
    for (const TensorGroup& group : join_.groups_) {
      if (!group.parameter) places.emplace(group.rank, group.graph);
    }
    join_.places_.assign(places.begin(), places.end());
    for (size_t op = 0; op < graph_.size(); ++op) {
      if (join_.first_pair_[op + 1] > 0) ++join_.matched_operators_;
      join_.first_pair_[op + 1] += join_.first_pair_[op];
    }
  }

  FileJoin& join_;
  const OpGraph& graph_;
  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  bool by_step_ = false, originals_read_ = false;
  std::unordered_map<std::string, std::vector<OpId>> originals_;
  HashIndex groups_by_name_, operators_by_name_;
  std::unordered_map<std::string, std::vector<FileJoin::ParameterPair>> parameters_by_name_;
  std::vector<std::pair<std::string, OpId>> sorted_names_;
};

FileJoin::FileJoin(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph,
                   Naming naming)
    : graph_(&graph), naming_(std::move(naming)) {
  FileJoiner(*this, index, tensors).run();
}

std::span<const uint32_t> FileJoin::tensors_of(const TensorGroup& group) const {
  return std::span(order_).subspan(group.first, group.count);
}

std::span<const JoinPair> FileJoin::pairs_of(OpId op) const {
  return std::span(pairs_).subspan(first_pair_[op], first_pair_[op + 1] - first_pair_[op]);
}

std::vector<uint32_t> FileJoin::groups_of_parameter(uint32_t origin, uint32_t parameter) const {
  std::vector<uint32_t> groups;
  for (const ParameterPair& pair : parameters_) {
    if (pair.origin == origin && pair.parameter == parameter) groups.push_back(pair.group);
  }
  return groups;
}

std::string_view explanation(JoinRule rule) {
  switch (rule) {
    case JoinRule::kUnmatched: return "";
    case JoinRule::kFullName: return "by its full name";
    case JoinRule::kLastComponent: return "by the last part of its name";
    case JoinRule::kTypeDecided: return "by the last part of its name and its type; others have that name, too";
    case JoinRule::kAmbiguous: return "several operators have that name";
    case JoinRule::kFused: return "the file's name is that of several operators, fused";
    case JoinRule::kDerived: return "the file's name begins with its name; the graph engine put the rest behind it";
    case JoinRule::kCut: return "the file's name is the beginning of its name, cut off";
    case JoinRule::kParameter: return "a parameter or constant of the graph";
  }
  return "";
}

std::string FileJoin::reason(OpId op) const {
  const IrNode& node = graph_->node(op);
  if (node.kind == IrNodeKind::kCall) return "calls another graph, has no kernel of its own";
  if (node.kind == IrNodeKind::kVirtual) return "for the compiler only, has no kernel";
  if (node.leaf == Text::kEmpty) return "the IR has no full name for it";
  const Origin& origin = graph_->origin(op);
  const bool graph_dumped = std::any_of(places_.begin(), places_.end(), [&](const auto& place) {
    return agree(origin.rank, place.first) && agree(origin.graph_id, place.second);
  });
  if (!graph_dumped) return "nothing of its graph was dumped: it did not run, or not in these steps";
  return "no file has its name: not selected for the dump, without a kernel of its own, or fused into another operator";
}

std::string FileJoin::reason(const TensorGroup& group) const {
  if (group.rule == JoinRule::kParameter) return std::string(explanation(group.rule));
  if (group.parameter) return "a parameter or constant that no graph here names";
  const bool graph_known = std::any_of(graph_->origins().begin(), graph_->origins().end(), [&](const Origin& origin) {
    return agree(origin.rank, group.rank) && agree(origin.graph_id, group.graph);
  });
  if (!graph_known) return "there is no IR of its graph";
  for (const std::string_view word :
       {"trans_TransData", "trans_Cast", "atomic_addr_clean", "MemSet", "PartitionedCall"}) {
    if (group.op_name.find(word) != std::string_view::npos)
      return "inserted by the graph engine; the IR has no such operator";
  }
  return "no operator of the IR has this name";
}

}  // namespace msdump
