#include "ir/model/ir_graph.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

// Operators that only the compiler knows: no kernel, no dump file. Reshape is not among them: some targets have a
// kernel for it. Source: reference/ir.md 1.11.
constexpr std::string_view kVirtualOps[] = {
    "Depend",     "DynamicLoss",  "HistogramSummary", "ImageSummary", "ListGetItem", "Load",          "MakeDict",
    "MakeList",   "MakeSlice",    "MakeTuple",        "Partial",      "Return",      "ScalarSummary", "StreamRecv",
    "StreamSend", "Switch",       "TensorSummary",    "TupleGetItem", "UpdateState", "getattr",       "list_getitem",
    "make_dict",  "make_list",    "make_slice",       "make_tuple",   "partial",     "resolve",       "return",
    "switch",     "switch_layer", "tuple_getitem",
};

constexpr std::string_view kPrimFunc = "PrimFunc_";

template <class T>
uint64_t bytes_of_vector(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

}  // namespace

bool is_virtual_op(std::string_view op_type) {
  return std::find(std::begin(kVirtualOps), std::end(kVirtualOps), op_type) != std::end(kVirtualOps);
}

std::string_view op_type_of(std::string_view op) {
  if (op.starts_with(kPrimFunc)) return op.substr(kPrimFunc.size());
  // A call may also go through a parameter, "x[@f]", in 1.x by its bare name, "903"; or a value, "Tensor(shape=[],
  // ..)".
  const bool call = op.starts_with("call @") || op.starts_with('%') || op.starts_with("$(") ||
                    op.find("[@") != std::string_view::npos || op.ends_with(')') ||
                    (!op.empty() && op.front() >= '0' && op.front() <= '9');
  return call ? "call" : op;
}

IrNodeKind node_kind(std::string_view op) {
  const std::string_view type = op_type_of(op);
  if (type == "call") return IrNodeKind::kCall;
  return is_virtual_op(type) ? IrNodeKind::kVirtual : IrNodeKind::kKernel;
}

std::optional<DType> IrType::known_dtype() const {
  if (dtype.empty()) return std::nullopt;
  // Types inside of Ref[Tensor(..)] are short up to 1.10: F32, I64, U8.
  constexpr std::pair<char, std::string_view> kShort[] = {{'F', "float"}, {'I', "int"}, {'U', "uint"}};
  for (const auto& [letter, word] : kShort) {
    if (dtype[0] == letter && is_digits(dtype.substr(1)))
      return dtype_from_name(fmt::format("{}{}", word, dtype.substr(1)));
  }
  return dtype_from_name(dtype);
}

std::string IrGraph::node_name(const IrNode& node) const {
  return node.number == kNoIndex ? "Return" : fmt::format("%{}", node.number);
}

std::string_view IrGraph::graph_name(const IrNode& node) const {
  return node.graph == kNoIndex ? std::string_view() : text(graphs[node.graph].name);
}

std::string IrGraph::full_name(const IrNode& node) const {
  const std::string_view leaf = text(node.leaf);
  if (leaf.empty() || node.scope == Text::kEmpty) return std::string(leaf);
  return fmt::format("{}/{}", text(node.scope), leaf);
}

std::string_view IrGraph::op_type(const IrNode& node) const { return op_type_of(text(node.op)); }

std::span<const IrOperand> IrGraph::operands_of(const IrNode& node) const {
  return std::span(operands).subspan(node.first_operand, node.operand_count);
}

// A signature is a list: how many inputs, then the inputs, then the outputs.
std::span<const uint32_t> IrGraph::inputs(Signature signature) const {
  const auto list = pool.view(signature);
  return list.empty() ? list : list.subspan(1, list[0]);
}

std::span<const uint32_t> IrGraph::outputs(Signature signature) const {
  const auto list = pool.view(signature);
  return list.empty() ? list : list.subspan(1 + size_t{list[0]});
}

// How many names, the names, then name and index for each output; kNoIndex names where none are said.
std::optional<std::span<const uint32_t>> IrGraph::originals(const IrNode& node) const {
  const auto list = pool.view(node.originals);
  if (list.empty() || list[0] == kNoIndex) return std::nullopt;
  return list.subspan(1, list[0]);
}

OriginOutput IrGraph::origin_output(const IrNode& node, size_t output) const {
  const auto list = pool.view(node.originals);
  if (list.empty()) return {};
  const size_t at = 1 + size_t{list[0] == kNoIndex ? 0 : list[0]} + 2 * output;
  return at + 1 < list.size() ? OriginOutput{Text{list[at]}, list[at + 1]} : OriginOutput{};
}

std::vector<Error> errors_of(const IrProblems& problems, const std::string& path) {
  ProblemList errors;
  for (const IrProblem& problem : problems) {
    const std::string place = problem.line > 0 ? fmt::format("line {}: ", problem.line) : std::string();
    errors.add(make_error(ErrorCode::kBadIr, "{}{}", place, problem.reason).with_path(path));
  }
  errors.count_more(problems.count() - problems.size());
  return errors_of(errors);
}

uint64_t IrGraph::expected() const {
  const uint64_t seen = std::max<uint64_t>(facts.node_heads, nodes.size());
  return std::max(facts.declared_nodes.value_or(0), seen);
}

uint64_t IrGraph::memory() const {
  uint64_t bytes = pool.memory() + bytes_of_vector(nodes) + bytes_of_vector(operands) + bytes_of_vector(parameters) +
                   bytes_of_vector(graphs) + bytes_of_vector(constants) + bytes_of_vector(types) +
                   bytes_of_vector(frames) + bytes_of_vector(problems.first());
  for (const IrType& type : types) {
    bytes += bytes_of_vector(type.elements) + (type.shape ? bytes_of_vector(*type.shape) : 0);
  }
  return bytes;
}

}  // namespace msdump
