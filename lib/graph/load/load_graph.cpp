#include "graph/load/load_graph.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "ge/graph/ge_graph.h"
#include "ge/graph/torchair_lines.h"
#include "ge/operators/operator_table.h"
#include "graph/flow/communication.h"
#include "graph/lines/line_search.h"
#include "graph/op_graph.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "ir/model/ir_builder.h"
#include "ir/protobuf/ir_protobuf.h"
#include "ir/text/ir_text.h"
#include "msprobe/construct_json.h"
#include "msprobe/dump_pkl.h"
#include "msprobe/names.h"
#include "msprobe/stack_json.h"

namespace msdump {
namespace {

// "Module.fc.Linear.parameters_grad" and 3 of "Module.fc.Linear.parameters_grad.3"; older releases write no number.
std::pair<std::string_view, std::optional<uint64_t>> counted_gradient(std::string_view name) {
  const size_t dot = name.rfind('.');
  const auto number = dot == std::string_view::npos ? std::nullopt : parse_u64(name.substr(dot + 1));
  return {number ? name.substr(0, dot) : name, number};
}

class StackGraph {
 public:
  explicit StackGraph(const StackJson& stacks) : stacks_(stacks) { graph_ = builder_.begin_graph("", "", 0); }

  Result<IrGraph> run(const std::set<std::string_view>& dumped_ops,
                      const std::set<std::string_view>& parameter_gradients) {
    for (const StackJson::Op& op : stacks_.ops) add(op.name, op, FrameKind::kOwn);
    for (const std::string_view name : dumped_ops) add_backward(name, forward_entry_of(name));
    std::map<std::string_view, uint64_t> first;
    for (const std::string_view name : parameter_gradients) {
      const auto [module, number] = counted_gradient(name);
      if (!number) continue;
      uint64_t& least = first.try_emplace(module, *number).first->second;
      least = std::min(least, *number);
    }
    for (const std::string_view name : parameter_gradients) {
      auto forward = forward_entry_of(name);
      const auto [module, number] = counted_gradient(name);
      if (forward && number && stacks_.find(*forward) == nullptr)
        forward = forward_entry_of(fmt::format("{}.{}", module, *number - first.at(module)));
      add_backward(name, forward);
    }
    return builder_.finish();
  }

 private:
  void add_backward(std::string_view name, const std::optional<std::string>& forward) {
    const StackJson::Op* const op = forward && stacks_.find(name) == nullptr ? stacks_.find(*forward) : nullptr;
    if (op != nullptr) add(name, *op, FrameKind::kForward);
  }

  void add(std::string_view name, const StackJson::Op& op, FrameKind kind) {
    IrNode node;
    node.graph = graph_;
    const auto entry = parse_msprobe_entry(name);
    node.op = builder_.intern(entry ? entry->op_type : name);
    node.leaf = builder_.keep(name);
    node.stack = stack(op, kind);
    builder_.add_node(node, {});
  }

  // Thousands of operators may share a stack of thousands of frames: it is made once.
  List stack(const StackJson::Op& op, FrameKind kind) {
    if (op.count == 0) return List::kEmpty;
    const auto [known, added] = lists_[kind == FrameKind::kForward ? 1 : 0].try_emplace(op.begin, List::kEmpty);
    if (!added) return known->second;
    std::vector<uint32_t> frames;
    for (const uint32_t index : stacks_.stack_of(op)) frames.push_back(frame(index, kind, frames.empty()));
    return known->second = builder_.stack(frames);
  }

  uint32_t frame(uint32_t index, FrameKind kind, bool begins_chain) {
    auto& known = frames_[static_cast<size_t>(kind == FrameKind::kForward) * 2 + static_cast<size_t>(begins_chain)];
    if (known.empty()) known.assign(stacks_.frames.size(), kNoIndex);
    if (known[index] != kNoIndex) return known[index];
    const MsprobeFrame& from = stacks_.frames[index];
    IrGraph& ir = builder_.graph();
    SourceFrame to;
    to.file = ir.pool.view(builder_.intern(from.file));
    to.code = ir.pool.view(builder_.intern(from.code));
    to.line = to.end_line = static_cast<uint32_t>(std::min<int64_t>(std::max<int64_t>(from.line, 0), kNoIndex - 1));
    to.kind = kind;
    to.begins_chain = begins_chain;
    ir.frames.push_back(to);
    return known[index] = static_cast<uint32_t>(ir.frames.size() - 1);
  }

  const StackJson& stacks_;
  IrGraphBuilder builder_;
  uint32_t graph_ = kNoIndex;
  std::unordered_map<size_t, List> lists_[2];  // by kind: the stack that begins there in frame_ids
  std::vector<uint32_t> frames_[4];            // by kind and begins_chain: indices in the graph
};

}  // namespace

Result<IrGraph> graph_of_stacks(const StackJson& stacks, const std::set<std::string_view>& dumped_ops,
                                const std::set<std::string_view>& parameter_gradients) {
  return StackGraph(stacks).run(dumped_ops, parameter_gradients);
}

void GraphRequest::add_dumped(std::optional<int64_t> step, std::string_view op_name) {
  const auto entry = parse_msprobe_entry(op_name);
  const bool gradients = entry && entry->kind == MsprobeEntryKind::kParameterGradients;
  (gradients ? parameter_gradients[step] : dumped_ops).insert(op_name);
}

namespace {

// Lines for the operators of GE: from the IR of MindSpore, whose full names GE keeps.
//
//   dump file -> operator of GE -> its original names (or its own) -> operator of that name in the IR -> its stack
// An operator with one original has its stack. One with several, a fused operator, has the stacks of all.

bool has_lines(const Origin& origin) {
  return origin.kind == OriginKind::kIrText || origin.kind == OriginKind::kIrProtobuf;
}

bool same_rank(const Origin& a, const Origin& b) { return !a.rank || !b.rank || *a.rank == *b.rank; }

// Frames and stacks of an IR in a graph of GE. Each is copied once.
class FrameCopier {
 public:
  FrameCopier(const IrGraph& from, IrGraph& to) : from_(from), to_(to) {}

  // The stack of an operator that was made from these; kEmpty if none has lines.
  List stack_of(const std::vector<uint32_t>& originals) {
    if (originals.size() > 1) return joined_stack(originals);
    const List own = from_.nodes[originals.front()].stack;
    const auto [at, added] = stacks_.try_emplace(own, List::kEmpty);
    if (!added) return at->second;
    scratch_.clear();
    for (const uint32_t index : from_.pool.view(own)) scratch_.push_back(frame(index, false));
    return at->second = to_.pool.intern(scratch_);
  }

 private:
  // The total is limited: thousands of lists may repeat names with long stacks.
  List joined_stack(const std::vector<uint32_t>& originals) {
    scratch_.clear();
    for (const uint32_t original : originals) {
      const auto stack = from_.stack(from_.nodes[original]);
      if (stack.size() > frames_left_) break;
      frames_left_ -= stack.size();
      for (const uint32_t index : stack) scratch_.push_back(frame(index, true));
    }
    return to_.pool.intern(scratch_);
  }

  uint32_t frame(uint32_t index, bool several) {
    std::vector<uint32_t>& known = known_[several ? 1 : 0];
    if (known.empty()) known.assign(from_.frames.size(), kNoIndex);
    if (known[index] != kNoIndex) return known[index];
    SourceFrame copy = from_.frames[index];
    copy.file = text(copy.file);
    copy.code = text(copy.code);
    if (several && copy.kind == FrameKind::kOwn) copy.kind = FrameKind::kCandidate;
    to_.frames.push_back(copy);
    return known[index] = static_cast<uint32_t>(to_.frames.size() - 1);
  }

  std::string_view text(std::string_view original) {
    const auto [at, added] = texts_.try_emplace(original);
    if (added) at->second = to_.pool.view(to_.pool.keep(original));
    return at->second;
  }

  const IrGraph& from_;
  IrGraph& to_;
  std::array<std::vector<uint32_t>, 2> known_;  // by `several`
  std::unordered_map<std::string_view, std::string_view> texts_;
  std::unordered_map<List, List> stacks_;
  std::vector<uint32_t> scratch_;
  size_t frames_left_ = (size_t{4} << 20) + 64 * to_.nodes.size();
};

// Gives the source lines of one IR to graphs of GE.
class NamedLines {
 public:
  explicit NamedLines(const Origin& ir) : ir_(ir.graph) {
    for (uint32_t i = 0; i < ir_.nodes.size(); ++i) {
      if (ir_.nodes[i].leaf != Text::kEmpty) nodes_.try_emplace(ir_.full_name(ir_.nodes[i]), i);
    }
  }

  // Copies the stacks. True if most operators that may have a MindSpore name have one of this IR.
  bool give(Origin& ge) const {
    IrGraph& graph = ge.graph;
    FrameCopier copier(ir_, graph);
    size_t named = 0, found = 0;
    std::vector<uint32_t> nodes;
    for (IrNode& node : graph.nodes) {
      if (node.kind != IrNodeKind::kKernel) continue;
      find(graph, node, nodes);
      const bool inserted = graph.originals(node) && graph.originals(node)->empty();
      named += node.scope != Text::kEmpty && !inserted ? 1U : 0U;
      found += nodes.empty() ? 0U : 1U;
      if (nodes.empty() || node.stack != List::kEmpty) continue;
      node.stack = copier.stack_of(nodes);
    }
    graph.pool.close();
    return found > 0 && found * 2 >= named;
  }

 private:
  void find(const IrGraph& graph, const IrNode& node, std::vector<uint32_t>& nodes) const {
    nodes.clear();
    const auto add = [&](const std::string& name) {
      const auto found = nodes_.find(name);
      if (found != nodes_.end()) nodes.push_back(found->second);
    };
    const auto originals = graph.originals(node);
    if (!originals) return add(graph.full_name(node));
    for (const uint32_t name : *originals) add(std::string(graph.text(Text{name})));
  }

  const IrGraph& ir_;
  std::unordered_map<std::string, uint32_t> nodes_;
};

// Gives every GE graph the lines of an IR of the same rank that is the same network before GE changed it. An IR is the
// same network if it has most of the names that MindSpore gave to the operators. An IR that gave lines is dropped from
// `origins`.
void give_lines_to_ge(std::vector<Origin>& origins) {
  const auto is_ge = [](const Origin& origin) { return origin.kind == OriginKind::kGeGraph; };
  if (std::none_of(origins.begin(), origins.end(), is_ge)) return;
  std::vector<bool> taken(origins.size());
  for (size_t i = 0; i < origins.size(); ++i) {
    if (!has_lines(origins[i])) continue;
    const NamedLines lines(origins[i]);
    for (Origin& ge : origins) {
      if (is_ge(ge) && same_rank(ge, origins[i])) taken[i] = lines.give(ge) || taken[i];
    }
  }
  std::vector<Origin> left;
  for (size_t i = 0; i < origins.size(); ++i) {
    if (!taken[i]) left.push_back(std::move(origins[i]));
  }
  origins = std::move(left);
}

namespace fs = std::filesystem;

// "kernel_graph_3", "kernel_graph3"
std::optional<int64_t> graph_id_of_entry(std::string_view entry) {
  constexpr std::string_view kKernelGraph = "kernel_graph";
  if (!entry.starts_with(kKernelGraph)) return std::nullopt;
  entry.remove_prefix(kKernelGraph.size());
  if (entry.starts_with('_')) entry.remove_prefix(1);
  if (const size_t dot = entry.find('.'); dot != std::string_view::npos) entry = entry.substr(0, dot);
  return is_digits(entry) ? parse_i64(entry) : std::nullopt;
}

struct ReadFile {
  Result<Origin> origin = fail(ErrorCode::kInternal, "not read");
  std::vector<Error> damage;
};

class FileLoader {
 public:
  FileLoader(const GraphRequest& request, const std::vector<IrFile>& files)
      : request_(request), any_ge_(std::any_of(files.begin(), files.end(), may_be_ge)) {}

  [[nodiscard]] ReadFile read(const IrFile& file) const {
    ReadFile result;
    result.origin = load(file, result.damage);
    if (!result.origin && result.origin.error().path.empty()) result.origin.error().path = file.path;
    return result;
  }

 private:
  [[nodiscard]] Result<Origin> load(const IrFile& ir, std::vector<Error>& damage) const {
    MSDUMP_TRY(const File file, File::open(ir.path));
    Origin origin;
    static_cast<GraphFile&>(origin) = static_cast<const GraphFile&>(ir);
    origin.home = home_of(ir);
    if (ir.kind == OriginKind::kIrText) origin.kind = kind_by_content(file);
    if (origin.kind == OriginKind::kStackJson) {
      const bool is_pkl = kind_of_name(std::string_view(ir.path).substr(ir.path.rfind('/') + 1)) == FileKind::kDumpPkl;
      MSDUMP_TRY(const StackJson stacks, is_pkl ? read_dump_pkl_stacks(file) : read_stack_json(file));
      add_all(errors_of(stacks.problems), ir.path, damage);
      const auto gradients = request_.parameter_gradients.find(origin.step);
      const bool any = gradients != request_.parameter_gradients.end();
      MSDUMP_TRY(origin.graph,
                 graph_of_stacks(stacks, request_.dumped_ops, any ? gradients->second : std::set<std::string_view>()));
      check_construct(ir.path, damage);
    } else if (origin.kind == OriginKind::kGeGraph) {
      MSDUMP_TRY(origin.graph, read_ge_graph(file));
    } else if (origin.kind == OriginKind::kIrProtobuf) {
      IrProtobufOptions options;
      options.arguments = ge::OperatorTable::get().argument_keys();
      MSDUMP_TRY(origin.graph, read_ir_protobuf(file, options));
    } else if (is_torchair(head_of(file))) {
      MSDUMP_TRY(const LargeText text, read_large_text(file, kMostTorchair, "a graph of torchair"));
      MSDUMP_TRY(origin.graph, read_torchair(text.view()));
    } else {
      if (ir.place == OriginPlace::kDump) origin.second = protobuf_beside(origin.path, damage);
      IrTextOptions options;
      options.arguments = ge::OperatorTable::get().argument_keys();
      options.attributes.insert(options.attributes.end(), kGroupAttributes.begin(), kGroupAttributes.end());
      options.attributes.insert(options.attributes.end(), kTransferAttributes.begin(), kTransferAttributes.end());
      // The .pb may say that others are from the line, too, and graphs of GE need the lines of all.
      if (request_.only_line && !origin.second && !any_ge_) options.needle = needle_of(*request_.only_line);
      MSDUMP_TRY(origin.graph, read_ir_text(file, options));
      if (origin.second) join_protobuf(origin);
    }
    add_all(errors_of(origin.graph.problems, origin.path), origin.path, damage);
    settle_graph_id(origin);
    return origin;
  }

  // DUMP/rank_0 of DUMP/rank_0/graphs/ms_output_trace_code_graph_0.ir; the folder of a stack.json.
  static std::string home_of(const IrFile& ir) {
    std::error_code ignored;
    const fs::path folder = fs::absolute(ir.path, ignored).lexically_normal().parent_path();
    if (ir.kind == OriginKind::kStackJson) return folder.string();
    const bool beside_files = ir.place == OriginPlace::kDump && folder.filename() == "graphs";
    return beside_files ? folder.parent_path().string() : std::string();
  }

  static bool may_be_ge(const IrFile& file) {
    const std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
    return file.kind == OriginKind::kGeGraph ||
           (file.kind == OriginKind::kIrText && kind_of_name(name) != FileKind::kIrText);
  }

  static std::string_view head_of(const File& file) {
    return {reinterpret_cast<const char*>(file.head().data()), file.head().size()};
  }

  // Decides by content: the name of a file that the user gives proves nothing.
  static OriginKind kind_by_content(const File& file) {
    const std::string_view head = head_of(file);
    const std::string_view word = ir_kind(head).word;
    if (word == "ir_protobuf") return OriginKind::kIrProtobuf;
    return word != "ir_text" && ge_form(head) ? OriginKind::kGeGraph : OriginKind::kIrText;
  }

  static void add_all(std::vector<Error> errors, const std::string& path, std::vector<Error>& damage) {
    for (Error& error : errors) damage.push_back(std::move(error).with_path(path));
  }

  static std::unique_ptr<IrGraph> protobuf_beside(std::string path, std::vector<Error>& damage) {
    if (!path.ends_with(".ir")) return nullptr;
    path.replace(path.size() - 2, 2, "pb");
    if (path_kind(path) == PathKind::kMissing) return nullptr;
    const auto file = File::open(path);
    auto graph = file ? read_ir_protobuf(*file) : Result<IrGraph>(fail(file.error()));
    if (graph) return std::make_unique<IrGraph>(std::move(*graph));
    damage.push_back(std::move(graph).error().with_path(path));
    return nullptr;
  }

  // Reports what is wrong with the construct.json beside a stack.json.
  static void check_construct(const std::string& stack_path, std::vector<Error>& damage) {
    const std::string path = stack_path.substr(0, stack_path.rfind('/') + 1) + "construct.json";
    if (path_kind(path) == PathKind::kMissing) return;
    const auto file = File::open(path);
    const auto construct = file ? read_construct_json(*file) : Result<ConstructJson>(fail(file.error()));
    if (!construct) return damage.push_back(Error(construct.error()).with_path(path));
    add_all(errors_of(construct->problems), path, damage);
  }

  // Finds the nodes of the same names in the .pb.
  static void join_protobuf(Origin& origin) {
    std::unordered_map<std::string, uint32_t> by_name;
    for (uint32_t i = 0; i < origin.second->nodes.size(); ++i)
      by_name.emplace(origin.second->full_name(origin.second->nodes[i]), i);
    for (const IrNode& node : origin.graph.nodes) {
      const auto found = node.leaf == Text::kEmpty ? by_name.end() : by_name.find(origin.graph.full_name(node));
      origin.second_node.push_back(found == by_name.end() ? kNoIndex : found->second);
    }
  }

  // The folder of the dump is named after the root graph, whose id is in the .pb. Several graphs may feed one folder.
  void settle_graph_id(Origin& origin) const {
    if (origin.kind == OriginKind::kGeGraph) return;  // its folder has the number of the model
    if (!origin.graph_id) origin.graph_id = graph_id_of_entry(origin.graph.text(origin.graph.facts.entry));
    origin.number = origin.graph_id;
    if (origin.place != OriginPlace::kDump || !origin.graph_id || request_.dumped_graphs.empty()) return;
    if (is_dumped(*origin.graph_id)) return;
    const IrGraph& says_root = origin.second ? *origin.second : origin.graph;
    const auto root = parse_i64(says_root.text(says_root.facts.root_name));
    if (root && is_dumped(*root)) origin.graph_id = root;
  }

  [[nodiscard]] bool is_dumped(int64_t id) const {
    return std::find(request_.dumped_graphs.begin(), request_.dumped_graphs.end(), id) != request_.dumped_graphs.end();
  }

  const GraphRequest& request_;
  const bool any_ge_;
};

}  // namespace

Result<LoadedGraph> load_graph(const std::vector<IrFile>& files, const GraphRequest& request,
                               const RunContext& context) {
  LoadedGraph loaded;
  std::vector<Origin> origins;
  const FileLoader loader(request, files);
  context.pool.ordered_for(
      static_cast<int64_t>(files.size()),
      [&](int64_t index) {
        return context.cancel.cancelled() ? ReadFile() : loader.read(files[static_cast<size_t>(index)]);
      },
      [&](int64_t index, ReadFile&& read) {
        std::vector<Error>& errors = files[static_cast<size_t>(index)].outside ? loaded.notes : loaded.failures;
        for (Error& error : read.damage) errors.push_back(std::move(error));
        if (read.origin) {
          origins.push_back(std::move(*read.origin));
        } else {
          errors.push_back(std::move(read.origin).error());
        }
      });
  MSDUMP_CHECK_OK(context.cancel.check());
  give_lines_to_ge(origins);
  for (const Origin& origin : origins) {
    loaded.parsed += origin.graph.parsed();
    loaded.expected += origin.graph.expected();
  }
  loaded.graph = OpGraph(std::move(origins));
  return loaded;
}

}  // namespace msdump
