#include "graph/join/file_join.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "base/text.h"
#include "graph/op_graph.h"
#include "graph/op_name.h"
#include "ir/text/attributes.h"

namespace msdump {

// The names that operators with a kernel have in files, and the operators of each name.

// The most operators of one name that a group may match, and the most name prefixes that are compared. Names crafted to
// be equal must not cost the product of both sides.
constexpr uint32_t kMostNamesakes = 64;

class KernelNames {
 public:
  // Both outlive it.
  KernelNames(const OpGraph& graph, const Numbering& numbering) : graph_(graph), numbering_(numbering) {}

  void assign(OpId op, NormalName& name) const {
    name.assign(graph_, op, numbering_.renumbered ? numbering_.numbers[op] : kNoIndex);
  }

  [[nodiscard]] std::string of(OpId op) const {
    NormalName name;
    assign(op, name);
    return std::string(name.full());
  }

  // The operators that may belong to the group, at most kMostNamesakes. The first call makes the table.
  [[nodiscard]] std::vector<OpId> find(std::string_view name, const TensorGroup& group) {
    if (!prepared_) prepare();
    std::vector<OpId> found;
    if (name.size() > longest_) return found;
    const NormalName normal(name);
    OpId op(first_of_name_.find(name_hash(normal.full()),
                                [&](uint32_t known) { return of(OpId(known)) == normal.full(); }));
    for (; op != kNoId && found.size() < kMostNamesakes; op = next_of_name_[op]) {
      if (same_place(graph_.origin(op), group)) found.push_back(op);
    }
    return found;
  }

  // visit(origin, op)
  template <class Visit>
  void for_each_kernel(const Visit& visit) const {
    for_each_node([&](const Origin& origin, const IrNode& node, OpId op) {
      if (node.kind == IrNodeKind::kKernel) visit(origin, op);
    });
  }
  // Also visits what GE dumps without a kernel: the inputs of a graph (Data) and its results (NetOutput).
  template <class Visit>
  void for_each_dumped(const Visit& visit) const {
    for_each_node([&](const Origin& origin, const IrNode& node, OpId op) {
      const bool of_ge = origin.kind == OriginKind::kGeGraph && node.kind == IrNodeKind::kVirtual;
      if (of_ge || node.kind == IrNodeKind::kKernel) visit(origin, op);
    });
  }

 private:
  template <class Visit>
  void for_each_node(const Visit& visit) const {
    for (const Origin& origin : graph_.origins()) {
      for (uint32_t i = 0; i < origin.graph.nodes.size(); ++i) {
        const IrNode& node = origin.graph.nodes[i];
        if (node.leaf != Text::kEmpty) visit(origin, node, OpId(origin.first_operator + i));
      }
    }
  }

  void prepare() {
    prepared_ = true;
    std::vector<OpId> kernels;
    for_each_kernel([&](const Origin&, OpId op) { kernels.push_back(op); });
    first_of_name_ = HashSlots(kernels.size());
    next_of_name_.assign(graph_.size(), kNoId);
    std::vector<OpId> last_of_name(graph_.size());
    NormalName name, other;
    for (const OpId op : kernels) {
      assign(op, name);
      longest_ = std::max(longest_, name.full().size());
      const OpId first(first_of_name_.find_or_add(name_hash(name.full()), op, [&](uint32_t known) {
        assign(OpId(known), other);
        return other.full() == name.full();
      }));
      if (first != op) next_of_name_[last_of_name[first]] = op;
      last_of_name[first] = op;
    }
  }

  const OpGraph& graph_;
  const Numbering& numbering_;
  bool prepared_ = false;
  HashSlots first_of_name_;         // operators
  std::vector<OpId> next_of_name_;  // by operator, ascending; kNoId for the last
  size_t longest_ = 0;
};

constexpr double kWholeName = 1.0, kLastPart = 0.95, kByType = 0.6, kGuess = 0.3, kSeveralFused = 0.85,
                 kWithSuffix = 0.75, kCutOff = 0.5;
constexpr size_t kShortestCutName = 60;
// Numbers ("-op12") in the name of one operator. A longer search costs the square of the length of a file's name.
constexpr size_t kMostNumbers = 64;

bool same_type(std::string_view a, std::string_view b) { return a == b || to_lower(a) == to_lower(b); }

namespace {

// True for "data-12" of constants/ and "cst3" (1.3 to 1.5): values that the graph holds instead of computing them.
bool is_constant_name(std::string_view name) {
  for (const std::string_view start : {std::string_view("data-"), std::string_view("cst")}) {
    if (name.starts_with(start) && is_digits(name.substr(start.size()))) return true;
  }
  return false;
}

// "(Default/a/Add-op1, Default/b/Mul-op2)", also with brackets or quotes: normalised names.
std::vector<std::string> names_in(std::string_view list) {
  constexpr std::string_view kBetween = ",()[]\"";
  std::vector<std::string> names;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find_first_of(kBetween, begin), list.size());
    std::string_view name = list.substr(begin, end - begin);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    if (!name.empty()) names.push_back(normalised_op_name(name));
    begin = end + 1;
  }
  return names;
}

}  // namespace

// Fills a FileJoin, rule by rule. A group that a more certain rule matched is not matched again.
class FileJoiner {
 public:
  explicit FileJoiner(FileJoin& join)
      : join_(join), graph_(*join.graph_), groups_(*join.groups_), names_(graph_, join.numbering_) {}

  void run() {
    join_.rules_.assign(groups_.all().size(), JoinRule::kUnmatched);
    namesakes_.assign(groups_.all().size(), 0);
    join_.pairs_.reserve(std::min(graph_.size(), groups_.all().size()));
    by_full_name();
    by_last_component();
    leftovers();
    finish();
  }

 private:
  void pair(OpId op, uint32_t group, JoinRule rule, double confidence) {
    join_.pairs_.push_back({op, group, rule, confidence});
    JoinRule& best = join_.rules_[group];
    if (best == JoinRule::kUnmatched || rule < best) best = rule;
  }

  // True unless too many operators have the name of this group.
  [[nodiscard]] bool may_be_another(uint32_t group) {
    if (++namesakes_[group] <= kMostNamesakes) return true;
    note_namesakes();
    return false;
  }
  void note_namesakes() {
    join_.limits_.insert({"namesakes", kMostNamesakes, "more operators than were looked at have the name of a tensor"});
  }

  [[nodiscard]] bool is_free(uint32_t group) const {
    return join_.rules_[group] == JoinRule::kUnmatched && !groups_.all()[group].parameter;
  }

  // Calls visit(origin, op, group) for the groups that have the name of a dumped node, or a part of it. Names are made
  // in batches, so that their groups can be prefetched.
  template <class Visit>
  void for_each_name(const std::function<std::string_view(const NormalName&)>& part, const Visit& visit) const {
    struct Pending {
      const Origin* origin;
      OpId op;
      uint64_t hash;
      NormalName name;
    };
    std::array<Pending, 16> batch;
    size_t pending = 0;
    const auto flush = [&] {
      for (size_t i = 0; i < pending; ++i)
        groups_.for_each_named(part(batch[i].name), batch[i].hash,
                               [&](uint32_t group) { visit(*batch[i].origin, batch[i].op, group); });
      pending = 0;
    };
    names_.for_each_dumped([&](const Origin& origin, OpId op) {
      Pending& next = batch[pending];
      next.origin = &origin;
      next.op = op;
      names_.assign(op, next.name);
      const std::string_view name = part(next.name);
      if (name.empty()) return;
      next.hash = name_hash(name);
      groups_.prefetch(next.hash);
      if (++pending == batch.size()) flush();
    });
    flush();
  }

  void by_full_name() {
    const auto whole = [](const NormalName& name) { return name.full(); };
    for_each_name(whole, [&](const Origin& origin, OpId op, uint32_t place) {
      const TensorGroup& group = groups_.all()[place];
      if (group.parameter || !same_place(origin, group) || !may_be_another(place)) return;
      pair(op, place, JoinRule::kFullName, kWholeName);
    });
  }

  void by_last_component() {
    bool any_left = false;
    for (uint32_t place = 0; place < groups_.all().size(); ++place) any_left = any_left || is_free(place);
    if (!any_left) return;
    std::vector<JoinPair> found;
    const auto last_part = [](const NormalName& name) {
      return name.leaf().size() < name.full().size() ? name.leaf() : std::string_view();
    };
    for_each_name(last_part, [&](const Origin& origin, OpId op, uint32_t place) {
      if (!is_free(place) || !same_place(origin, groups_.all()[place]) || !may_be_another(place)) return;
      found.push_back({op, place, JoinRule::kLastComponent, kLastPart});
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

  // Several operators have the name of one group: those of its type are taken if there are any.
  void settle(std::span<JoinPair> candidates) {
    if (candidates.size() == 1) return pair(candidates[0].op, candidates[0].group, JoinRule::kLastComponent, kLastPart);
    const std::string_view type = groups_.all()[candidates[0].group].op_type;
    std::vector<JoinPair> of_type;
    for (const JoinPair& candidate : candidates) {
      if (same_type(graph_.op_type(candidate.op), type)) of_type.push_back(candidate);
    }
    if (of_type.size() == 1) return pair(of_type[0].op, of_type[0].group, JoinRule::kTypeDecided, kByType);
    if (of_type.empty()) of_type.assign(candidates.begin(), candidates.end());
    for (const JoinPair& candidate : of_type)
      pair(candidate.op, candidate.group, JoinRule::kAmbiguous, kGuess / static_cast<double>(of_type.size()));
  }

  // Matches the groups that have no whole name in the graph.
  void leftovers() {
    for (uint32_t i = 0; i < groups_.all().size(); ++i) {
      if (join_.rules_[i] != JoinRule::kUnmatched) continue;
      if (groups_.all()[i].parameter) {
        by_parameter(i);
        continue;
      }
      if (!by_parts(i) && !by_original_name(i)) by_beginning(i);
    }
  }

  void by_parameter(uint32_t place) {
    const TensorGroup& group = groups_.all()[place];
    if (is_constant_name(group.op_name)) {
      join_.rules_[place] = JoinRule::kParameter;
      return;
    }
    if (!parameters_read_) read_parameters();
    const auto found = parameters_by_name_.find(normalised_op_name(group.op_name));
    if (found == parameters_by_name_.end()) return;
    for (FileJoin::ParameterPair pair : found->second) {
      if (!same_place(graph_.origins()[pair.origin], group)) continue;
      pair.group = place;
      join_.parameters_.push_back(pair);
      join_.rules_[place] = JoinRule::kParameter;
    }
  }

  void read_parameters() {
    parameters_read_ = true;
    for (uint32_t o = 0; o < graph_.origins().size(); ++o) {
      const IrGraph& ir = graph_.origins()[o].graph;
      for (uint32_t p = 0; p < ir.parameters.size(); ++p)
        parameters_by_name_[normalised_op_name(ir.text(ir.parameters[p].name))].push_back({o, p, 0});
    }
  }

  // The name may concatenate the names of several operators: at each position the longest that fits is taken. The rest
  // after the last name is a suffix.
  bool by_parts(uint32_t place) {
    const TensorGroup& group = groups_.all()[place];
    const std::string_view name = group.op_name;
    const std::vector<size_t> ends = number_ends(name);
    std::vector<OpId> parts;
    size_t begin = 0, names = 0, first_end = 0;
    for (size_t i = 0; i < ends.size() && i < first_end + kMostNumbers; ++i) {
      const bool longer_follows = i + 1 < ends.size() && ends[i + 1] > ends[i] && name[ends[i]] == '_' &&
                                  !names_.find(name.substr(begin, ends[i + 1] - begin), group).empty();
      if (longer_follows || ends[i] <= begin) continue;
      const std::vector<OpId> found = names_.find(name.substr(begin, ends[i] - begin), group);
      if (found.empty()) continue;
      if (found.size() == kMostNamesakes) note_namesakes();
      parts.insert(parts.end(), found.begin(), found.end());
      begin = ends[i];
      first_end = i + 1;
      ++names;
    }
    if (ends.size() > first_end + kMostNumbers) {
      join_.limits_.insert(
          {"numbers_in_a_name", kMostNumbers, "the name of a fused operator has more numbers than were looked at"});
    }
    if (parts.empty()) return false;
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    const bool several = names > 1;
    for (const OpId op : parts)
      pair(op, place, several ? JoinRule::kFused : JoinRule::kDerived, several ? kSeveralFused : kWithSuffix);
    return true;
  }

  // An operator that was made from others has their names as an attribute.
  bool by_original_name(uint32_t place) {
    if (!originals_read_) read_original_names();
    const auto found = originals_.find(normalised_op_name(groups_.all()[place].op_name));
    if (found == originals_.end()) return false;
    bool any = false;
    for (const OpId op : found->second) {
      if (!same_place(graph_.origin(op), groups_.all()[place])) continue;
      if (!may_be_another(place)) break;
      pair(op, place, JoinRule::kFused, kSeveralFused);
      any = true;
    }
    return any;
  }

  void read_original_names() {
    originals_read_ = true;
    names_.for_each_kernel([&](const Origin& origin, OpId op) {
      const std::string_view attributes = origin.graph.text(graph_.node(op).attributes);
      for (const std::string_view key : {"_datadump_original_names", "datadump_original_names"}) {
        if (attributes.find(key) == std::string_view::npos) continue;
        for (const std::string& name : names_in(attribute_value(attributes, key))) originals_[name].push_back(op);
      }
    });
  }

  // The name may be cut off: the beginning of exactly one operator's name. A name with a number is whole, and belongs
  // to another operator.
  void by_beginning(uint32_t place) {
    const TensorGroup& group = groups_.all()[place];
    if (group.op_name.size() < kShortestCutName || !number_ends(group.op_name).empty()) return;
    if (sorted_names_.empty()) {
      names_.for_each_kernel([&](const Origin&, OpId op) { sorted_names_.emplace_back(names_.of(op), op); });
      std::sort(sorted_names_.begin(), sorted_names_.end());
    }
    const std::string name = normalised_op_name(group.op_name);
    std::optional<OpId> only;
    uint32_t looked_at = 0;
    for (auto at = std::lower_bound(sorted_names_.begin(), sorted_names_.end(), std::pair(name, OpId{0}));
         at != sorted_names_.end() && at->first.starts_with(name); ++at) {
      if (++looked_at > kMostNamesakes) return note_namesakes();
      if (!same_place(graph_.origin(at->second), group)) continue;
      if (only) return;
      only = at->second;
    }
    if (only) pair(*only, place, JoinRule::kCut, kCutOff);
  }

  void finish() {
    join_.sort_pairs();
    std::sort(join_.parameters_.begin(), join_.parameters_.end());
    join_.first_pair_.assign(graph_.size() + 1, 0);
    for (const JoinPair& pair : join_.pairs_) ++join_.first_pair_[pair.op + 1];
    for (size_t op = 0; op < graph_.size(); ++op) {
      if (join_.first_pair_[op + 1] > 0 && graph_.has_kernel(static_cast<OpId>(op))) ++join_.matched_operators_;
      join_.first_pair_[op + 1] += join_.first_pair_[op];
    }
    for (const Origin& origin : graph_.origins()) {
      join_.dumped_.push_back(std::any_of(groups_.places().begin(), groups_.places().end(),
                                          [&](uint32_t group) { return same_place(origin, groups_.all()[group]); }));
    }
  }

  FileJoin& join_;
  const OpGraph& graph_;
  const TensorGroups& groups_;
  KernelNames names_;
  std::vector<uint32_t> namesakes_;  // by group
  bool originals_read_ = false, parameters_read_ = false;
  std::unordered_map<std::string, std::vector<OpId>> originals_;
  std::unordered_map<std::string, std::vector<FileJoin::ParameterPair>> parameters_by_name_;
  std::vector<std::pair<std::string, OpId>> sorted_names_;
};

FileJoin::FileJoin(std::shared_ptr<const TensorGroups> groups, const OpGraph& graph, Numbering numbering)
    : groups_(std::move(groups)), graph_(&graph), numbering_(std::move(numbering)) {
  FileJoiner(*this).run();
}

bool FileJoin::depends_on_numbering(OpId op) const {
  if (numbering_.numbers.empty() || numbering_.numbers[op] == kNoIndex) return false;
  const auto own = split_number(graph_->leaf(op));
  return own && own->number != numbering_.numbers[op];
}

void FileJoin::sort_pairs() {
  std::stable_sort(pairs_.begin(), pairs_.end(), [](const JoinPair& a, const JoinPair& b) {
    return a.op != b.op ? a.op < b.op : a.confidence > b.confidence;
  });
}

void FileJoin::settle(Numbering evidence) {
  evidence.numbers = std::move(numbering_.numbers);
  numbering_ = std::move(evidence);
  const double confidence = numbering_.confidence;
  for (JoinPair& pair : pairs_) {
    if (pair.confidence > confidence && depends_on_numbering(pair.op)) pair.confidence = confidence;
  }
  sort_pairs();
}

ExplainedGroups FileJoin::explained(const std::function<bool(const TensorGroup&)>& counts) const {
  ExplainedGroups result;
  for (const TensorGroup& group : groups()) {
    if (group.parameter || !counts(group)) continue;
    ++result.all;
    result.explained += rule_of(group) != JoinRule::kUnmatched ? 1U : 0U;
  }
  return result;
}

std::span<const JoinPair> FileJoin::pairs_of(OpId op) const {
  return std::span(pairs_).subspan(first_pair_[op], first_pair_[op + 1] - first_pair_[op]);
}

std::vector<uint32_t> FileJoin::groups_of_parameter(uint32_t origin, uint32_t parameter) const {
  std::vector<uint32_t> groups;
  auto at = std::lower_bound(parameters_.begin(), parameters_.end(), ParameterPair{origin, parameter, 0});
  for (; at != parameters_.end() && at->origin == origin && at->parameter == parameter; ++at)
    groups.push_back(at->group);
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
    case JoinRule::kDerived: return "the file's name begins with its name; the graph engine appended the rest";
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
  if (!dumped_[graph_->origin_index(op)])
    return "no tensor of its graph is here: it did not run, was not dumped, or is not selected";
  if (graph_->origin(op).kind == OriginKind::kStackJson)
    return "no tensor has its name: called, but not selected for the dump";
  return "no file has its name: not selected for the dump, without a kernel of its own, or fused into another operator";
}

std::string FileJoin::reason(const TensorGroup& group) const {
  if (rule_of(group) == JoinRule::kParameter) return std::string(explanation(JoinRule::kParameter));
  if (group.parameter) return "a parameter or constant that no graph here names";
  const bool graph_known = std::any_of(graph_->origins().begin(), graph_->origins().end(),
                                       [&](const Origin& origin) { return same_place(origin, group); });
  if (!graph_known) return "there is no IR of its graph";
  for (const std::string_view word :
       {"trans_TransData", "trans_Cast", "atomic_addr_clean", "MemSet", "PartitionedCall"}) {
    if (group.op_name.find(word) != std::string_view::npos)
      return "inserted by the graph engine; the IR has no such operator";
  }
  const bool of_msprobe = std::any_of(graph_->origins().begin(), graph_->origins().end(),
                                      [](const Origin& origin) { return origin.kind == OriginKind::kStackJson; });
  return of_msprobe ? "stack.json has no call of this name" : "no operator of the IR has this name";
}

}  // namespace msdump
