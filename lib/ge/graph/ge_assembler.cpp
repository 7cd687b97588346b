#include "ge/graph/ge_assembler.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "ge/operators/operator_table.h"

namespace msdump {

void GeAttribute::add(std::string_view field, std::string_view value, bool of_list) {
  const bool is_text = field == "s" || field == "strings";
  const bool is_number = field == "i" || field == "ints" || field == "f" || field == "floats" || field == "b";
  const bool several = of_list || field.size() > 1;
  if (is_text && several) texts.emplace_back(value);
  if (is_text && !several) text = value;
  if (field.starts_with('i') && is_number && several) numbers.push_back(number_of(value));
  if (field.starts_with('i') && is_number && !several) number = number_of(value);
  if (!is_number) return;
  is_list = is_list || several;
  if (values.size() < kMostValues) values.emplace_back(value);
}

bool is_kept_of_operator(std::string_view key) {
  return key == kOriginalNames || key == kOriginalNamesOfVm || key == kParentIndex ||
         ge::OperatorTable::get().is_argument(key);
}

bool is_kept_of_tensor(std::string_view key) {
  return key == kOriginFormat || key == kOriginShape || key == kOriginName || key == kOriginIndex ||
         key == kParentIndex;
}

void set_attribute(GeOperator& op, GeAttribute&& attribute) {
  if (attribute.key == kParentIndex) {
    op.parent_index = attribute.number.value_or(0);
  } else if (attribute.key == kOriginalNames || attribute.key == kOriginalNamesOfVm) {
    op.originals = std::move(attribute.texts);
  } else if (!attribute.values.empty() && attribute.values.size() < GeAttribute::kMostValues) {
    std::string value = fmt::format("{}", fmt::join(attribute.values, ", "));
    op.arguments.emplace_back(std::move(attribute.key), attribute.is_list ? "(" + value + ")" : std::move(value));
  }
}

void set_attribute(GeTensor& tensor, GeAttribute&& attribute) {
  if (attribute.key == kOriginFormat) tensor.origin_format = std::move(attribute.text).value_or("");
  if (attribute.key == kOriginShape) tensor.origin_shape = Shape(attribute.numbers.begin(), attribute.numbers.end());
  if (attribute.key == kOriginName) tensor.origin_name = std::move(attribute.text).value_or("");
  if (attribute.key == kParentIndex) tensor.parent_index = attribute.number.value_or(0);
  if (attribute.key == kOriginIndex)
    tensor.origin_index = static_cast<uint32_t>(std::clamp<int64_t>(attribute.number.value_or(0), 0, UINT32_MAX));
}

namespace {

constexpr size_t kMostTypes = 65536;  // of one operator

constexpr std::string_view kParameterTypes[] = {"AippData", "Data", "QueueData", "RefData", "Variable", "VariableV2"};
constexpr std::string_view kKeptTypes[] = {"RefData", "Variable", "VariableV2"};  // between steps
constexpr std::string_view kConstantTypes[] = {"Const", "ConstPlaceHolder", "Constant", "FileConstant"};
constexpr std::string_view kWithoutKernel[] = {"ControlTrigger", "NetOutput", "NoOp", "subgraph"};
constexpr std::string_view kCallTypes[] = {
    "Case",           "For",  "If", "PartitionedCall", "StatefulPartitionedCall", "StatelessCase", "StatelessIf",
    "StatelessWhile", "While"};

template <size_t N>
bool is_one_of(std::string_view type, const std::string_view (&types)[N]) {
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

IrNodeKind kind_of(std::string_view type) {
  if (is_one_of(type, kCallTypes)) return IrNodeKind::kCall;
  const bool is_virtual =
      is_one_of(type, kParameterTypes) || is_one_of(type, kConstantTypes) || is_one_of(type, kWithoutKernel);
  return is_virtual ? IrNodeKind::kVirtual : IrNodeKind::kKernel;
}

// GE's names of dtypes as IR text has them. Others are kept as written, without DT_.
constexpr std::pair<std::string_view, std::string_view> kDtypes[] = {
    {"BF16", "BFloat16"},       {"BFLOAT16", "BFloat16"}, {"BOOL", "Bool"},     {"COMPLEX128", "Complex128"},
    {"COMPLEX64", "Complex64"}, {"DOUBLE", "Float64"},    {"FLOAT", "Float32"}, {"FLOAT16", "Float16"},
    {"INT16", "Int16"},         {"INT32", "Int32"},       {"INT4", "Int4"},     {"INT64", "Int64"},
    {"INT8", "Int8"},           {"STRING", "String"},     {"UINT16", "UInt16"}, {"UINT32", "UInt32"},
    {"UINT64", "UInt64"},       {"UINT8", "UInt8"},
};

std::string_view ir_dtype(std::string_view dtype) {
  if (dtype.starts_with("DT_")) dtype.remove_prefix(3);
  for (const auto& [ge, ir] : kDtypes) {
    if (ge == dtype) return ir;
  }
  return dtype.empty() || dtype == "UNDEFINED" ? "None" : dtype;
}

struct Reference {
  std::string_view name;
  std::optional<int64_t> output;  // -1: a control edge
};

Reference reference_of(std::string_view input) {
  const size_t colon = input.rfind(':');
  if (colon == std::string_view::npos) return {input, 0};
  return {input.substr(0, colon), parse_i64(input.substr(colon + 1))};
}

}  // namespace

void GeAssembler::begin_graph(std::string_view name, uint64_t line) {
  end_graph();
  graph_ = builder_.begin_graph(name, "", static_cast<uint32_t>(line));
  if (builder_.graph().facts.entry == Text::kEmpty) builder_.graph().facts.entry = builder_.intern(name);
}

void GeAssembler::name_graph(std::string_view name) {
  if (graph_ == kNoIndex) return;
  IrGraph& ir = builder_.graph();
  ir.graphs[graph_].name = builder_.intern(name);
  if (graph_ == 0) ir.facts.entry = ir.graphs[0].name;
}

void GeAssembler::add_problems(IrProblems problems) { builder_.graph().problems.add(std::move(problems)); }

void GeAssembler::lose_operator(uint64_t line, std::string reason) {
  ++builder_.graph().facts.node_heads;
  builder_.add_problem(line, std::move(reason));
}

void GeAssembler::set_truncated(uint64_t at) {
  builder_.graph().facts.truncated = true;
  builder_.graph().facts.truncated_at = at;
  builder_.add_problem(0, fmt::format("the file ends inside a graph, at byte {}", at));
}

void GeAssembler::add(const GeOperator& op) {
  if (graph_ == kNoIndex) begin_graph("", op.line);
  if (op.name.empty() || op.type.empty())
    return lose_operator(op.line, fmt::format("an operator without a {}", op.name.empty() ? "name" : "type"));
  ++builder_.graph().facts.node_heads;
  IrNode node;
  node.graph = graph_;
  node.number = builder_.graph().graphs[graph_].node_count;
  node.line = static_cast<uint32_t>(op.line);
  node.op = builder_.intern(op.type);
  node.kind = kind_of(op.type);
  builder_.set_full_name(node, op.name);
  node.host = signature(op, false);
  node.device = signature(op, true);
  node.originals = originals(op);
  for (const auto& [key, value] : op.arguments) builder_.add_argument(key, value);
  node.arguments = builder_.take_arguments();
  operands_.clear();
  named_.clear();
  if (node.kind == IrNodeKind::kVirtual) add_source(op);
  add_inputs(op);
  const auto first_call = static_cast<uint32_t>(operands_.size());
  for (const std::string& graph : op.subgraphs)
    operands_.emplace_back(IrOperand::Kind::kUnresolved, true, static_cast<uint32_t>(builder_.intern(graph)));
  const auto first = static_cast<uint32_t>(builder_.graph().operands.size());
  const uint32_t index = builder_.add_node(node, operands_);
  if (index == kNoIndex) return;
  for (PendingOperand& operand : named_) {
    operand.place += first;
    pending_.push_back(operand);
  }
  for (uint32_t i = first_call; i < operands_.size(); ++i)
    calls_.push_back({index, first + i, op.subgraphs.size() == 1});
  const auto name = static_cast<uint32_t>(names_.intern(op.name));
  if (node_of_name_.find(name)) {
    builder_.add_problem(op.line, fmt::format("another operator is called '{}', too", excerpt(op.name)));
  } else {
    node_of_name_.set(name, index);
  }
  if (op.type == "NetOutput") note_result(op, index);
}

// The value that a Data or Const passes on.
void GeAssembler::add_source(const GeOperator& op) {
  if (is_one_of(op.type, kConstantTypes)) {
    operands_.emplace_back(IrOperand::Kind::kConstant, false, static_cast<uint32_t>(builder_.intern(op.type)));
  } else if (is_one_of(op.type, kParameterTypes)) {
    IrParameter parameter;
    parameter.text = parameter.name = builder_.keep(op.name);
    parameter.number = static_cast<uint32_t>(std::clamp<int64_t>(op.parent_index.value_or(kNoIndex), 0, kNoIndex));
    parameter.graph = graph_;
    parameter.line = static_cast<uint32_t>(op.line);
    if (!op.output_descs.empty()) {
      parameter.host = type(op.output_descs.front(), false);
      parameter.device = type(op.output_descs.front(), true);
    }
    parameter.is_weight = is_one_of(op.type, kKeptTypes);
    const uint32_t index = builder_.add_parameter(parameter);
    if (index != kNoIndex) operands_.emplace_back(IrOperand::Kind::kParameter, false, index);
  }
}

void GeAssembler::add_inputs(const GeOperator& op) {
  for (const std::string& input : op.inputs) {
    if (input.empty()) continue;
    const Reference reference = reference_of(input);
    const bool control = reference.output == -1;
    if (!control && (!reference.output || *reference.output < 0 || *reference.output >= IrOperand::kWhole)) {
      builder_.add_problem(op.line, fmt::format("input '{}' has no number of an output", excerpt(input)));
      operands_.emplace_back(IrOperand::Kind::kUnresolved, false, static_cast<uint32_t>(builder_.intern(input)));
      continue;
    }
    named_.push_back(
        {static_cast<uint32_t>(operands_.size()), names_.intern(reference.name), static_cast<uint32_t>(op.line)});
    operands_.emplace_back(IrOperand::Kind::kUnresolved, control, uint32_t{0},
                           control ? IrOperand::kWhole : static_cast<uint16_t>(*reference.output));
  }
}

List GeAssembler::originals(const GeOperator& op) {
  texts_.clear();
  outputs_.clear();
  for (const GeTensor& output : op.output_descs)
    outputs_.push_back({builder_.intern(output.origin_name), output.origin_index});
  if (!op.originals) return builder_.originals(std::nullopt, outputs_);
  for (const std::string& name : *op.originals) texts_.push_back(builder_.intern(name));
  return builder_.originals(texts_, outputs_);
}

Signature GeAssembler::signature(const GeOperator& op, bool device) {
  types_in_.clear();
  types_out_.clear();
  if (op.input_descs.size() + op.output_descs.size() > kMostTypes) {
    if (device) builder_.add_problem(op.line, "an operator with more inputs and outputs than are read");
    return List::kEmpty;
  }
  for (const GeTensor& input : op.input_descs) {
    if (!input.absent()) types_in_.push_back(type(input, device));
  }
  for (const GeTensor& output : op.output_descs) types_out_.push_back(type(output, device));
  return builder_.signature(types_in_, types_out_);
}

uint32_t GeAssembler::type(const GeTensor& tensor, bool device) {
  const std::string& format = device ? tensor.layout : tensor.origin_format.value_or(tensor.layout);
  // The shape of the device counts as that of the origin if none is given and the formats are equal.
  const Shape* shape = &tensor.shape;
  if (!device && tensor.origin_shape) {
    shape = &*tensor.origin_shape;
  } else if (!device && format != tensor.layout) {
    shape = nullptr;
  }
  scratch_.clear();
  fmt::format_to(std::back_inserter(scratch_), "<{}x{}[const vector]", ir_dtype(tensor.dtype), format);
  if (shape != nullptr) fmt::format_to(std::back_inserter(scratch_), "[{}]", fmt::join(*shape, ", "));
  scratch_ += '>';
  return builder_.type(scratch_);
}

// Notes the node with the results of a sub-graph. The outputs of the call are the inputs of NetOutput in this order,
// unless attributes give another.
void GeAssembler::note_result(const GeOperator& op, uint32_t node) {
  for (size_t i = 0; i < op.input_descs.size(); ++i) {
    if (op.input_descs[i].parent_index.value_or(static_cast<int64_t>(i)) != static_cast<int64_t>(i)) return;
  }
  builder_.graph().graphs[graph_].result = node;
}

void GeAssembler::end_graph() {
  IrGraph& ir = builder_.graph();
  for (const PendingOperand& pending : pending_) {
    IrOperand& operand = ir.operands[pending.place];
    if (const auto node = node_of_name_.find(static_cast<uint32_t>(pending.name))) {
      operand = {IrOperand::Kind::kNode, operand.control, *node, operand.output};
      continue;
    }
    const std::string_view name = names_.view(pending.name);
    operand.value = static_cast<uint32_t>(builder_.intern(name));
    // In a file that was cut, operators are missing anyway.
    if (!ir.facts.truncated)
      builder_.add_problem(pending.line, fmt::format("no operator of the graph is called '{}'", excerpt(name)));
  }
  pending_.clear();
  node_of_name_ = {};
  graph_ = kNoIndex;
}

void GeAssembler::resolve_calls() {
  IrGraph& ir = builder_.graph();
  HandleMap graph_of_name;
  for (uint32_t i = 0; i < ir.graphs.size(); ++i) {
    const auto name = static_cast<uint32_t>(ir.graphs[i].name);
    if (name != 0 && !graph_of_name.find(name)) graph_of_name.set(name, i);
  }
  std::vector<bool> called(ir.graphs.size());
  for (const PendingCall& call : calls_) {
    IrOperand& operand = ir.operands[call.place];
    const auto graph = graph_of_name.find(operand.value);
    if (!graph) continue;
    operand = {IrOperand::Kind::kGraph, true, *graph};
    ir.graphs[*graph].parent = ir.nodes[call.node].graph;
    ir.graphs[*graph].caller = call.alone && !called[*graph] ? call.node : kNoIndex;
    called[*graph] = true;
  }
}

Result<IrGraph> GeAssembler::finish() {
  end_graph();
  resolve_calls();
  if (builder_.graph().nodes.empty()) {
    const auto& problems = builder_.graph().problems.first();
    return fail(ErrorCode::kBadIr, "no operator of a GE graph can be read{}",
                problems.empty() ? std::string()
                                 : fmt::format(": line {}: {}", problems.front().line, problems.front().reason));
  }
  return builder_.finish();
}

}  // namespace msdump
