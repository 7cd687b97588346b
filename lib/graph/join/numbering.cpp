#include "graph/join/numbering.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "graph/op_graph.h"
#include "graph/op_name.h"
#include "tables/statistic_csv.h"

namespace msdump {
namespace {

// Counts the names with the same text before the number. Holds views of the texts.
class Counters {
 public:
  uint32_t next(std::string_view scope, std::string_view prefix) {
    if (scope != scope_) {  // neighbours often share one
      scope_ = scope;
      scope_hash_ = name_hash(scope);
    }
    const uint64_t hash = scope_hash_ ^ name_hash(prefix);
    const uint32_t counter = slots_.find_or_add(hash, static_cast<uint32_t>(counters_.size()), [&](uint32_t at) {
      return counters_[at].prefix == prefix && counters_[at].scope == scope;
    });
    if (counter == counters_.size()) counters_.push_back({scope, prefix, 0});
    return counters_[counter].next++;
  }

 private:
  struct Counter {
    std::string_view scope, prefix;
    uint32_t next;
  };
  std::vector<Counter> counters_;
  HashSlots slots_;
  std::string_view scope_;
  uint64_t scope_hash_ = name_hash({});
};

// The graphs of each process, in ascending id.
std::map<std::pair<std::optional<int64_t>, std::string>, std::vector<const Origin*>> processes(const OpGraph& graph) {
  std::map<std::pair<std::optional<int64_t>, std::string>, std::vector<const Origin*>> result;
  for (const Origin& origin : graph.origins()) {
    if (origin.place != OriginPlace::kDump) continue;
    result[{origin.rank, origin.path.substr(0, origin.path.rfind('/') + 1)}].push_back(&origin);
  }
  for (auto& [process, graphs] : result) {
    std::stable_sort(graphs.begin(), graphs.end(),
                     [](const Origin* a, const Origin* b) { return a->number < b->number; });
  }
  return result;
}

}  // namespace

std::vector<uint32_t> renumbered(const OpGraph& graph) {
  std::vector<uint32_t> numbers(graph.size(), kNoIndex);
  for (const auto& [process, graphs] : processes(graph)) {
    Counters counters;
    for (const Origin* origin : graphs) {
      const IrGraph& ir = origin->graph;
      for (size_t i = 0; i < ir.nodes.size(); ++i) {
        const IrNode& node = ir.nodes[i];
        if (node.leaf == Text::kEmpty) continue;
        const auto name = split_number(ir.text(node.leaf));
        if (name) numbers[origin->first_operator + i] = counters.next(ir.scope(node), name->prefix);
      }
    }
  }
  return numbers;
}

namespace {

constexpr int64_t kPieceBytes = int64_t{1} << 20;

const TensorRecord* best(const std::vector<TensorRecord>& tensors, const FileJoin& join, OpId op, Io io, uint32_t slot,
                         const TensorRecord* like, const DumpIndex& index) {
  const auto pairs = join.pairs_of(op);
  if (pairs.empty()) return nullptr;
  const auto folder = [&](const TensorRecord& tensor) {
    return index.folders()[index.files()[tensor.file].folder].identity;
  };
  for (const uint32_t place : join.tensors_of(join.groups()[pairs.front().group])) {
    const TensorRecord& tensor = tensors[place];
    if (tensor.name.io != io || parse_u64(tensor.name.slot) != slot || tensor.broken) continue;
    if (like == nullptr) return &tensor;
    if (tensor.occurrence == like->occurrence && folder(tensor).step == folder(*like).step) return &tensor;
  }
  return nullptr;
}

}  // namespace

// The rows of all statistic.csv, one hash per row.
class ValueComparer::Rows {
 public:
  std::optional<uint64_t> find(const DumpIndex& index, const TensorRecord& tensor) {
    if (tensor.table == kNoId || index.files()[tensor.table].kind != FileKind::kStatistic) return std::nullopt;
    const std::lock_guard lock(mutex_);
    auto [table, is_new] = tables_.try_emplace(tensor.table);
    if (is_new) read(index.path_of(index.files()[tensor.table]), table->second);
    const auto row = table->second.find(tensor.row_offset);
    return row == table->second.end() ? std::nullopt : std::optional(row->second);
  }

 private:
  using Table = std::unordered_map<uint64_t, uint64_t>;  // by offset

  static void read(const std::string& path, Table& table) {
    const auto file = File::open(path);
    if (!file) return;
    auto reader = StatisticReader::open(*file);
    if (!reader) return;
    for (;;) {
      const auto row = reader->next();
      if (!row) continue;  // reported when the table was listed
      if (*row == nullptr) return;
      std::string text((*row)->dtype);
      for (const std::string_view value : (*row)->values) text.append("\n").append(value);
      table.emplace((*row)->offset, std::hash<std::string>()(text));
    }
  }

  std::mutex mutex_;
  std::unordered_map<FileId, Table> tables_;
};

ValueComparer::ValueComparer(const DumpIndex& index, const std::vector<TensorRecord>& tensors)
    : index_(index), tensors_(tensors), rows_(std::make_unique<Rows>()) {}
ValueComparer::~ValueComparer() = default;

Agreement ValueComparer::compare(RecordId a, RecordId b) const {
  if (tensors_[a].has_elements && tensors_[b].has_elements) return compare_elements(tensors_[a], tensors_[b]);
  const auto left = rows_->find(index_, tensors_[a]), right = rows_->find(index_, tensors_[b]);
  if (!left || !right) return Agreement::kUnknown;
  return *left == *right ? Agreement::kEqual : Agreement::kDifferent;
}

Agreement ValueComparer::compare_elements(const TensorRecord& a, const TensorRecord& b) const {
  auto left = HostTensor::open(index_, a, {}), right = HostTensor::open(index_, b, {});
  if (!left) return unread(std::move(left).error(), a);
  if (!right) return unread(std::move(right).error(), b);
  if (left->dtype() != right->dtype() || left->count() != right->count()) return Agreement::kDifferent;
  if (left->count() == 0) return Agreement::kUnknown;
  const int64_t piece = std::min(left->count(), kPieceBytes / static_cast<int64_t>(left->element_bytes()));
  const size_t bytes = static_cast<size_t>(piece) * left->element_bytes();
  std::vector<std::byte> buffer(2 * bytes);
  const auto compare_from = [&](int64_t first) {
    if (Status read = left->read(first, piece, buffer.data()); !read) return unread(std::move(read).error(), a);
    if (Status read = right->read(first, piece, buffer.data() + bytes); !read)
      return unread(std::move(read).error(), b);
    const bool equal = std::memcmp(buffer.data(), buffer.data() + bytes, bytes) == 0;
    return equal ? Agreement::kEqual : Agreement::kDifferent;
  };
  const Agreement front = compare_from(0);
  const bool more = left->count() > piece && left->direct() && right->direct();
  return front == Agreement::kEqual && more ? compare_from(left->count() - piece) : front;
}

Agreement ValueComparer::unread(Error error, const TensorRecord& tensor) const {
  if (error.path.empty()) error.path = index_.path_of(index_.files()[tensor.file]);
  const std::lock_guard lock(mutex_);
  std::string path = error.path;
  failures_.try_emplace(std::move(path), std::move(error));
  return Agreement::kUnknown;
}

std::vector<Error> ValueComparer::failures() const {
  std::vector<Error> failures;
  for (const auto& [path, error] : failures_) failures.push_back(error);
  return failures;
}

std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                   const OpGraph& graph, const FileJoin& join, OpId consumer) {
  if (join.pairs_of(consumer).empty()) return {};
  return proof_edges(tensors, index, inputs_of(graph, consumer), join, consumer);
}

std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                   const std::vector<InputEdge>& inputs, const FileJoin& join, OpId consumer) {
  std::vector<ProofEdge> edges;
  for (const InputEdge& input : inputs) {
    if (input.from != InputEdge::From::kOperator) continue;
    const TensorRecord* const in = best(tensors, join, consumer, Io::kInput, input.slot, nullptr, index);
    if (in == nullptr) continue;
    const TensorRecord* const out = best(tensors, join, input.op, Io::kOutput, input.output, in, index);
    if (out == nullptr) continue;
    edges.push_back(
        {consumer, input.op, input.slot, input.output, RecordId(in - tensors.data()), RecordId(out - tensors.data())});
  }
  return edges;
}

void ProofTally::count(Agreement agreement) {
  if (agreement == Agreement::kEqual) ++agreeing;
  if (agreement == Agreement::kDifferent) ++contradicting;
}

double ProofTally::share() const { return all() == 0 ? 0 : static_cast<double>(agreeing) / static_cast<double>(all()); }

double proved_confidence(double confidence, const ProofTally& tally) {
  constexpr double kProved = 1.0, kContradicted = 0.3;
  if (tally.contradicting > tally.agreeing) return std::min(confidence, kContradicted);
  return tally.agreeing > 0 && tally.contradicting == 0 ? kProved : confidence;
}

namespace {

constexpr uint64_t kEnoughEdges = 200, kMostEdges = 2000;
constexpr double kProved = 1.0, kByVersion = 0.9, kUndecided = 0.5;

bool changes_names(const OpGraph& graph, const std::vector<uint32_t>& numbers) {
  for (OpId op{0}; op < graph.size(); ++op) {
    if (numbers[op] == kNoIndex) continue;
    const auto own = split_number(graph.leaf(op));
    if (own && own->number != numbers[op]) return true;
  }
  return false;
}

// Compares the bytes along edges that have other files under one hypothesis than under the other. The edges are a
// sample, in the order of the graph.
class Trial {
 public:
  Trial(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph, const FileJoin& as_is,
        const FileJoin& renumbered)
      : index_(index), tensors_(tensors), graph_(graph), comparer_(index, tensors), joins_{&as_is, &renumbered} {}

  std::array<ProofTally, 2> run(const CancelToken& cancel) {
    for (OpId op{0}; op < graph_.size(); ++op) moved_.push_back(first_group(0, op) != first_group(1, op));
    for (OpId op{0}; op < graph_.size() && !enough() && !cancel.cancelled(); ++op) {
      if (graph_.has_kernel(op)) try_operator(op);
    }
    return tallies_;
  }

  [[nodiscard]] std::vector<Error> failures() const { return comparer_.failures(); }

 private:
  // Stops also without a result: a few of a million empty files are enough to see that they prove nothing.
  [[nodiscard]] bool enough() const {
    const bool both = std::min(tallies_[0].all(), tallies_[1].all()) >= kEnoughEdges;
    return both || std::max(compared_[0], compared_[1]) >= kMostEdges;
  }

  [[nodiscard]] uint32_t first_group(size_t hypothesis, OpId op) const {
    const auto pairs = joins_[hypothesis]->pairs_of(op);
    return pairs.empty() ? kNoIndex : pairs.front().group;
  }

  void try_operator(OpId op) {
    const std::vector<InputEdge> inputs = inputs_of(graph_, op);
    const bool differs = moved_[op] || std::any_of(inputs.begin(), inputs.end(), [&](const InputEdge& input) {
                           return input.from == InputEdge::From::kOperator && moved_[input.op];
                         });
    if (!differs) return;
    const std::array edges = {proof_edges(tensors_, index_, inputs, *joins_[0], op),
                              proof_edges(tensors_, index_, inputs, *joins_[1], op)};
    for (size_t i = 0; i < edges.size(); ++i) {
      for (const ProofEdge& edge : edges[i]) {
        const auto& others = edges[1 - i];
        const bool same = std::any_of(others.begin(), others.end(), [&](const ProofEdge& other) {
          return other.input_tensor == edge.input_tensor && other.output_tensor == edge.output_tensor;
        });
        if (!same) compare(i, edge);
      }
    }
  }

  void compare(size_t hypothesis, const ProofEdge& edge) {
    ProofTally& tally = tallies_[hypothesis];
    if (tally.all() >= kMostEdges) return;
    ++compared_[hypothesis];
    tally.count(comparer_.compare(edge.input_tensor, edge.output_tensor));
  }

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  const OpGraph& graph_;
  const ValueComparer comparer_;
  const std::array<const FileJoin*, 2> joins_;
  std::vector<bool> moved_;  // operators: other files under one hypothesis than under the other
  std::array<ProofTally, 2> tallies_;
  std::array<uint64_t, 2> compared_ = {};
};

constexpr Version kFirstUnknown{2, 3, 0}, kFirstRenumbered{2, 7, 0};

// The numbering that the version implies: true for new numbers, false for the graph's, none if the version does not
// decide.
std::optional<bool> by_version(const FrameworkFacts& framework) {
  if (framework.version) {
    if (*framework.version >= kFirstRenumbered) return true;
    return *framework.version < kFirstUnknown ? std::optional(false) : std::nullopt;
  }
  if (framework.to && *framework.to <= kFirstUnknown) return false;
  if (framework.from && *framework.from >= kFirstRenumbered) return true;
  return std::nullopt;
}

Numbering choose(const std::array<ProofTally, 2>& tallies, const std::optional<bool>& known, const FileJoin& as_is,
                 const FileJoin& renumbered) {
  Numbering choice;
  const bool decided = tallies[0].share() != tallies[1].share() && tallies[0].all() + tallies[1].all() > 0;
  if (decided) {
    choice.renumbered = tallies[1].share() > tallies[0].share();
    const ProofTally& right = tallies[choice.renumbered ? 1 : 0];
    const ProofTally& wrong = tallies[choice.renumbered ? 0 : 1];
    choice.agreeing = right.agreeing;
    choice.contradicting = right.contradicting;
    choice.confidence = right.contradicting == 0 ? kProved : std::max(kUndecided, right.share());
    choice.evidence = fmt::format("{} of {} inputs equal their producer's output", right.agreeing, right.all());
    if (wrong.all() > 0)
      choice.evidence += fmt::format(", with {} numbers {} of {}", choice.renumbered ? "the IR's" : "new",
                                     wrong.agreeing, wrong.all());
  } else if (known) {
    choice.renumbered = *known;
    choice.confidence = kByVersion;
    choice.evidence = "this follows from the version of MindSpore; no tensor values here confirm it";
  } else {
    choice.renumbered = renumbered.matched_operators() > as_is.matched_operators();
    choice.confidence = kUndecided;
    choice.evidence = "more operators have files that way; neither the version of MindSpore nor tensor values decide";
  }
  return choice;
}

}  // namespace

Result<Joined> join_files(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph,
                          const RunContext& context) {
  std::vector<uint32_t> numbers;
  std::shared_ptr<const TensorGroups> groups;
  context.pool.parallel_for(2, [&](int64_t part) {
    if (part == 0) groups = std::make_shared<const TensorGroups>(index, tensors, graph);
    if (part == 1) numbers = renumbered(graph);
  });
  MSDUMP_CHECK_OK(context.cancel.check());
  if (!changes_names(graph, numbers)) return Joined{FileJoin(groups, graph, {})};
  std::array<std::optional<FileJoin>, 2> joins;
  context.pool.parallel_for(2, [&](int64_t hypothesis) {
    joins[static_cast<size_t>(hypothesis)].emplace(groups, graph, Numbering{numbers, hypothesis == 1});
  });
  Trial trial(index, tensors, graph, *joins[0], *joins[1]);
  const auto tallies = trial.run(context.cancel);
  MSDUMP_CHECK_OK(context.cancel.check());
  Numbering choice = choose(tallies, by_version(framework_of(index)), *joins[0], *joins[1]);
  FileJoin& right = *joins[choice.renumbered ? 1 : 0];
  right.settle(std::move(choice));
  return Joined{std::move(right), trial.failures()};
}

}  // namespace msdump
