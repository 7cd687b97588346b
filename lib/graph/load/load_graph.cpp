#include "graph/load/load_graph.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "ge/graph/ge_graph.h"
#include "ge/graph/torchair_lines.h"
#include "ge/operators/operator_table.h"
#include "graph/flow/communication.h"
#include "graph/lines/line_search.h"
#include "graph/load/ge_lines.h"
#include "graph/load/stack_graph.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "io/read_text.h"
#include "ir/protobuf/ir_protobuf.h"
#include "ir/text/ir_text.h"
#include "msprobe/construct_json.h"
#include "msprobe/stack_json.h"

namespace msdump {
namespace {

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
    origin.path = ir.path;
    origin.place = ir.place;
    origin.rank = ir.rank;
    origin.graph_id = ir.graph_id;
    origin.step = ir.step;
    origin.kind = ir.kind;
    origin.home = home_of(ir);
    if (ir.kind == OriginKind::kIrText) origin.kind = kind_by_content(file);
    if (origin.kind == OriginKind::kStackJson) {
      MSDUMP_TRY(const StackJson stacks, read_stack_json(file));
      add_all(errors_of(stacks.problems), ir.path, damage);
      MSDUMP_TRY(origin.graph, graph_of_stacks(stacks, request_.dumped_ops));
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

  // Of a file that the user names: its name proves nothing.
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

  // construct.json says which module a call belongs to: what is wrong with it belongs to the stack.json beside it.
  static void check_construct(const std::string& stack_path, std::vector<Error>& damage) {
    const std::string path = stack_path.substr(0, stack_path.rfind('/') + 1) + "construct.json";
    if (path_kind(path) == PathKind::kMissing) return;
    const auto file = File::open(path);
    const auto construct = file ? read_construct_json(*file) : Result<ConstructJson>(fail(file.error()));
    if (!construct) return damage.push_back(Error(construct.error()).with_path(path));
    add_all(errors_of(construct->problems), path, damage);
  }

  // What the .pb says about the operators of the same names.
  static void join_protobuf(Origin& origin) {
    std::unordered_map<std::string, uint32_t> by_name;
    for (uint32_t i = 0; i < origin.second->nodes.size(); ++i)
      by_name.emplace(origin.second->full_name(origin.second->nodes[i]), i);
    for (const IrNode& node : origin.graph.nodes) {
      const auto found = node.leaf == Text::kEmpty ? by_name.end() : by_name.find(origin.graph.full_name(node));
      origin.second_node.push_back(found == by_name.end() ? kNoIndex : found->second);
    }
  }

  // The folder of the dump has the id of the root graph, which a .pb says; several graphs may feed one folder.
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
