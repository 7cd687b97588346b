#include "recompute/question.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "ge/operators/operator_table.h"
#include "graph/arguments/argument_value.h"
#include "graph/flow/data_flow.h"
#include "ir/text/attributes.h"

namespace msdump::recompute {
namespace {

constexpr std::string_view kForward = ".forward", kBackward = ".backward";

bool is_module(std::string_view name) { return name.starts_with("Module.") || name.starts_with("Cell."); }

// Where `part` stands in the name of a call (NAME.0.forward) or of a module (NAME.forward.0).
size_t place_of(std::string_view name, std::string_view part) {
  if (name.ends_with(part)) return name.size() - part.size();
  const size_t at = is_module(name) ? name.rfind(part) : std::string_view::npos;
  return at == std::string_view::npos || at + part.size() >= name.size() || name[at + part.size()] != '.'
             ? std::string_view::npos
             : at;
}

bool is_part(std::string_view name, std::string_view part) { return place_of(name, part) != std::string_view::npos; }

// The numbers of a literal: "I64(1)", "(1, 2)", "true", "Tensor(shape=[], dtype=Float32, value=0.5)".
Value literal_value(std::string_view text, Value::From from) {
  Value value;
  value.from = from;
  value.text = text;
  value.is_none = text == "None" || text == "none";
  if (const auto parsed = parse_argument(literal_of(text))) value.numbers = parsed->numbers;
  return value;
}

std::optional<uint32_t> slot_number(std::string_view slot) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(slot.data(), slot.data() + slot.size(), number);
  return error == std::errc() && end == slot.data() + slot.size() ? std::optional(number) : std::nullopt;
}

// The input of a row that has this name, or this spelling.
const KernelRow::Input* input_named(const KernelRow& row, std::string_view key) {
  for (const KernelRow::Input& input : row.inputs) {
    if (input.name == key) return &input;
    for (const std::string_view spelled : split(input.spelled, '/')) {
      if (!spelled.empty() && spelled == key) return &input;
    }
  }
  return nullptr;
}

const Shape* shape_of(const IrGraph& ir, std::span<const uint32_t> types, size_t at) {
  if (at >= types.size()) return nullptr;
  const std::optional<Shape>& shape = ir.types[types[at]].shape;
  return shape && element_count(*shape) ? &*shape : nullptr;
}

// The name of output `slot`: "y*" stands for y0, y1 and so on.
std::optional<std::string> output_name(const KernelRow& row, uint32_t slot) {
  if (row.outputs.size() == 1 && row.outputs.front().ends_with('*'))
    return fmt::format("{}{}", row.outputs.front().substr(0, row.outputs.front().size() - 1), slot);
  if (slot >= row.outputs.size() || row.outputs[slot] == "-") return std::nullopt;
  return std::string(row.outputs[slot]);
}

// Which operand of MindSpore each slot of a device's operator holds, in the order of the device.
std::vector<uint32_t> device_operands(std::string_view mindspore, std::string_view device, uint32_t inputs) {
  std::vector<uint32_t> operands(inputs);
  for (uint32_t i = 0; i < inputs; ++i) operands[i] = i;
  for (const ge::InputRule& rule : ge::OperatorTable::get().input_rules(mindspore, device)) {
    for (uint32_t count = inputs + 4; count > 0; --count) {
      const auto slots = ge::slot_map(rule, count, inputs);
      if (!slots) continue;
      for (uint32_t operand = 0; operand < slots->size(); ++operand) {
        if ((*slots)[operand] && *(*slots)[operand] < inputs) operands[*(*slots)[operand]] = operand;
      }
      return operands;
    }
  }
  return operands;
}

class GraphAsker {
 public:
  GraphAsker(const DumpWithGraph& dump, const RunGraph& flow, const std::vector<SequencedOp>& operators,
             ExecutionId run, Assumed assumed, ExecutionId before)
      : dump_(dump),
        flow_(flow),
        operators_(operators),
        run_index_(run),
        run_(flow.runs()[run]),
        op_(operators[run_.op]),
        assumed_(assumed),
        before_(before) {}

  Question ask() {
    // The files of a fused operator have its own type, the graph that of a member.
    type_ = run_.outputs.empty() ? op_.type : (*dump_.tensors)[run_.outputs.front()].name.op_type;
    if (type_.empty() || !ge::OperatorTable::get().is_of_device(type_)) type_ = op_.type;
    question_.type = type_;
    const KernelRow* const row = find_row(Framework::kMindSpore, type_);
    if (row == nullptr || row->kernel == nullptr) {
      question_.why = {row == nullptr ? Reason::kNoKernel : row->reason, std::string(type_)};
      return std::move(question_);
    }
    row_ = row;
    read_graph();
    collect_files();
    question_.fitted = node_ == nullptr && !has_every_input();
    if (question_.fitted && assumed_ != Assumed::kArguments) {
      question_.why = {Reason::kUnknownArgument, "no graph has its attributes"};
      return std::move(question_);
    }
    add_operands();
    add_outputs();
    if (question_.outputs.empty()) {
      question_.why = {Reason::kNoInput, "no output was dumped"};
      return std::move(question_);
    }
    question_.row = row;
    return std::move(question_);
  }

 private:
  void read_graph() {
    if (op_.op == kNoId || dump_.graph == nullptr) return;
    const ge::OperatorTable& types = ge::OperatorTable::get();
    if (types.family(dump_.graph->op_type(op_.op)) != types.family(type_)) return;  // a member of what was fused
    ir_ = &dump_.graph->ir(op_.op);
    node_ = &dump_.graph->node(op_.op);
    of_device_ = dump_.graph->origin(op_.op).kind == OriginKind::kGeGraph;
    edges_ = inputs_of(*dump_.graph, op_.op);
    std::vector<IrAttribute> attributes;
    parse_attributes(ir_->text(node_->arguments), attributes);
    for (const IrAttribute& one : attributes) {
      const KernelRow::Input* input = input_named(*row_, one.key);
      const ge::Argument* const known = types.argument(one.key);
      if (input == nullptr && known != nullptr) input = input_named(*row_, known->name);
      Operand operand;
      operand.name = input == nullptr ? std::string(one.key) : std::string(input->name);
      operand.value = literal_value(one.value, Value::From::kAttribute);
      question_.operands.push_back(std::move(operand));
    }
  }

  // The files by operand: those of inputs, and of inputs that were updated in place.
  void collect_files() {
    std::map<uint32_t, TensorId> files, updated;  // by slot of the file
    for (const RunInput& input : run_.inputs) {
      const TensorId tensor = input.tensor != kNoId ? input.tensor : input.produced;
      if (tensor != kNoId) files[input.slot] = tensor;
    }
    for (const TensorId tensor : run_.outputs) {
      const auto slot = slot_number((*dump_.tensors)[tensor].name.slot);
      if (slot && flow_.role(tensor) == TensorRole::kUpdated) updated[*slot] = tensor;
    }
    uint32_t slots = of_device_ && !edges_.empty() ? edges_.back().slot + 1 : 0;
    for (const auto* const all : {&files, &updated}) {
      if (!all->empty()) slots = std::max(slots, all->rbegin()->first + 1);
    }
    std::vector<uint32_t> operands;
    const uint32_t file = run_.outputs.empty() ? 0 : uint32_t{(*dump_.tensors)[run_.outputs.front()].file};
    const bool device_file = !run_.outputs.empty() && dump_.index->files()[file].kind == FileKind::kDumpFile;
    if (of_device_ || device_file || ge::OperatorTable::get().is_of_device(type_))
      operands = device_operands(row_->type, type_, slots);
    const auto operand_of = [&](uint32_t slot) { return slot < operands.size() ? operands[slot] : slot; };
    for (const auto& [slot, tensor] : files) files_[operand_of(slot)] = tensor;
    for (const auto& [slot, tensor] : updated) updated_[operand_of(slot)] = tensor;
    // The edges of a graph of GE have the slots of the device, those of an IR MindSpore's.
    if (of_device_) {
      for (InputEdge& edge : edges_) edge.slot = operand_of(edge.slot);
    }
    for (const InputEdge& edge : edges_) slots_ = std::max(slots_, edge.slot + 1);
    for (const auto* const all : {&files_, &updated_}) {
      if (!all->empty()) slots_ = std::max(slots_, all->rbegin()->first + 1);
    }
  }

  // True if the files have all that the kernel asks for, so that no attribute lacks.
  [[nodiscard]] bool has_every_input() const {
    if (row_->inputs.size() != row_->positions) return false;
    for (uint32_t slot = 0; slot < row_->positions; ++slot) {
      if (row_->inputs[slot].is_list) return row_->positions == 1;
      if (files_.count(slot) + updated_.count(slot) == 0) return false;
    }
    return true;
  }

  [[nodiscard]] const InputEdge* edge(uint32_t slot) const {
    for (const InputEdge& one : edges_) {
      if (one.slot == slot) return &one;
    }
    return nullptr;
  }

  // True if the last slot is an argument and not one more tensor of a list.
  [[nodiscard]] bool ends_with_argument() const {
    const InputEdge* const last = slots_ == 0 ? nullptr : edge(slots_ - 1);
    return last != nullptr && last->from == InputEdge::From::kConstant && parse_argument(last->constant) && slots_ > 1;
  }

  void add_operands() {
    const auto list =
        std::find_if(row_->inputs.begin(), row_->inputs.end(), [](const auto& input) { return input.is_list; });
    for (uint32_t slot = 0; slot < slots_; ++slot) {
      if (list != row_->inputs.end()) {
        const bool argument = slot + 1 == slots_ && row_->positions > 1 && ends_with_argument();
        add_operand(argument ? row_->inputs[1].name : list->name, slot, !argument);
      } else if (slot < row_->positions) {
        add_operand(row_->inputs[slot].name, slot, false);
      }
    }
  }

  void add_operand(std::string_view name, uint32_t slot, bool in_list) {
    Operand operand;
    operand.name = name;
    operand.in_list = in_list;
    const InputEdge* const from = edge(slot);
    if (node_ != nullptr && !of_device_) operand.shape = shape_of(*ir_, ir_->inputs(node_->device), slot);
    const auto file = files_.find(slot);
    const auto updated = updated_.find(slot);
    const bool is_literal = from != nullptr && from->from == InputEdge::From::kConstant && !from->constant.empty();
    const bool has_elements = file != files_.end() && (*dump_.tensors)[file->second].has_elements;
    if (updated != updated_.end() && is_inference()) {
      operand.tensor = updated->second;  // as it was: nothing updates it
    } else if (row_->updates(name) || updated != updated_.end()) {
      // The tensor that the step before left is in full precision. One that another operator reads may be a copy in 16 bits.
      if (updated != updated_.end()) operand.tensor = left_by_step_before(updated->second);
      operand.is_state = operand.tensor != kNoId;
      if (operand.tensor == kNoId) operand.tensor = old_value(from);
      if (operand.tensor == kNoId) {
        question_.unknown.emplace_back(name, Unjudged{Reason::kOldValue, std::string(name)});
        // What the update left behind: the other outputs of the operator may follow from it.
        if (updated == updated_.end()) return;
        operand.name = fmt::format("new_{}", name);
        operand.tensor = updated->second;
      }
    } else if (file != files_.end() && (has_elements || !is_literal)) {
      operand.tensor = file->second;
    } else if (is_literal) {
      operand.value = literal_value(from->constant, Value::From::kGraph);
      // A constant tensor whose text is elided ("value=<...>") is unknown.
      if (operand.value.numbers.empty() && !operand.value.is_none && operand.value.text.starts_with("Tensor(")) {
        question_.unknown.emplace_back(name, Unjudged{Reason::kNoInput, std::string(name)});
        return;
      }
    } else {
      question_.unknown.emplace_back(name, Unjudged{Reason::kNoInput, std::string(name)});
      return;
    }
    question_.operands.push_back(std::move(operand));
  }

  // True for a batch normalisation that only reads its statistics.
  [[nodiscard]] bool is_inference() const {
    for (uint32_t slot = 0; slot < row_->inputs.size(); ++slot) {
      if (row_->inputs[slot].name != "is_training") continue;
      const auto is_false = [](const Value& value) { return value.numbers == std::vector<double>{0}; };
      const InputEdge* const from = edge(slot);
      if (from != nullptr && from->from == InputEdge::From::kConstant)
        return is_false(literal_value(from->constant, Value::From::kGraph));
      return std::any_of(question_.operands.begin(), question_.operands.end(), [&](const Operand& operand) {
        return operand.name == "is_training" && operand.tensor == kNoId && is_false(operand.value);
      });
    }
    return false;
  }

  // The value of an input before this execution updated it: of a parameter, as an execution before it in the step read it,
  // with no other update between; of an output of an operator, as that wrote it. kNoId: nothing proves it.
  [[nodiscard]] TensorId old_value(const InputEdge* from) const {
    if (from != nullptr && from->from == InputEdge::From::kOperator) return written_by(*from);
    if (from == nullptr || from->from != InputEdge::From::kParameter || ir_ == nullptr) return kNoId;
    const std::string_view parameter = ir_->text(ir_->parameters[from->parameter].name);
    TensorId found;
    for (const ExecutionId reader : flow_.readers_of_parameter(parameter, run_.place)) {
      if (reader >= run_index_) continue;
      for (const RunInput& input : flow_.runs()[reader].inputs) {
        if (input.parameter == parameter && input.tensor != kNoId && flow_.role(input.tensor) == TensorRole::kInput &&
            keeps_slot(flow_.runs()[reader], input))
          found = input.tensor;
      }
    }
    return found;
  }

  // The value of an updated tensor at the end of the step before. kNoId if that step was not dumped.
  [[nodiscard]] TensorId left_by_step_before(TensorId updated) const {
    if (before_ == kNoId) return kNoId;
    for (const TensorId tensor : flow_.runs()[before_].outputs) {
      if (flow_.role(tensor) == TensorRole::kUpdated &&
          (*dump_.tensors)[tensor].name.slot == (*dump_.tensors)[updated].name.slot)
        return tensor;
    }
    return kNoId;
  }

  // True if the file of the input has the operand that the graph has in this slot: a device's operator may exchange them.
  [[nodiscard]] bool keeps_slot(const OpRun& reader, const RunInput& input) const {
    const std::string_view type = (*dump_.tensors)[input.tensor].name.op_type;
    const KernelRow* const row = find_row(Framework::kMindSpore, operators_[reader.op].type);
    if (!ge::OperatorTable::get().is_of_device(type)) return true;
    uint32_t slots = 0;
    for (const RunInput& one : reader.inputs) slots = std::max(slots, one.tensor == kNoId ? 0 : one.slot + 1);
    return row != nullptr && input.slot < slots && device_operands(row->type, type, slots)[input.slot] == input.slot;
  }

  // The output that the edge comes from, of the nearest execution before this one in the step.
  [[nodiscard]] TensorId written_by(const InputEdge& from) const {
    constexpr uint32_t kMostBetween = 4096;  // bounds the time in a dump of many updates
    for (uint32_t back = 1; back <= std::min<uint32_t>(run_index_, kMostBetween); ++back) {
      const OpRun& before = flow_.runs()[ExecutionId(run_index_ - back)];
      if (!before.place.is_beside(run_.place)) return kNoId;
      if (operators_[before.op].op != from.op) continue;
      for (const TensorId tensor : before.outputs) {
        const bool written = flow_.role(tensor) == TensorRole::kOutput;
        if (written && slot_number((*dump_.tensors)[tensor].name.slot) == from.output) return tensor;
      }
      return kNoId;
    }
    return kNoId;
  }

  void add_outputs() {
    for (const TensorId tensor : run_.outputs) {
      const auto slot = slot_number((*dump_.tensors)[tensor].name.slot);
      if (!slot) continue;
      AskedOutput output;
      output.tensor = tensor;
      if (flow_.role(tensor) == TensorRole::kUpdated) {
        if (*slot >= row_->positions || !row_->updates(row_->inputs[*slot].name)) continue;
        output.name = row_->inputs[*slot].name;
        if (node_ != nullptr) output.shape = shape_of(*ir_, ir_->inputs(node_->device), *slot);
      } else {
        const auto name = output_name(*row_, *slot);
        if (!name) continue;
        output.name = *name;
        if (node_ != nullptr) output.shape = shape_of(*ir_, ir_->outputs(node_->device), *slot);
      }
      question_.outputs.push_back(std::move(output));
    }
  }

  const DumpWithGraph& dump_;
  const RunGraph& flow_;
  const std::vector<SequencedOp>& operators_;
  const ExecutionId run_index_;
  const OpRun& run_;
  const SequencedOp& op_;
  const Assumed assumed_;
  const ExecutionId before_;  // of the operator, in the step before
  std::string_view type_;
  const KernelRow* row_ = nullptr;
  const IrGraph* ir_ = nullptr;
  const IrNode* node_ = nullptr;
  bool of_device_ = false;
  std::vector<InputEdge> edges_;
  std::map<uint32_t, TensorId> files_, updated_;  // by operand
  uint32_t slots_ = 0;
  Question question_;
};

// Position or keyword, and place within it: "1" is (1, none), "0.2" is (0, 2), "padding.1" (padding, 1).
struct CallSlot {
  std::optional<uint32_t> position, within;
  std::string_view keyword;
};

CallSlot call_slot(std::string_view slot) {
  const size_t dot = slot.find('.');
  CallSlot result;
  result.position = slot_number(slot.substr(0, dot));
  if (dot != std::string_view::npos) result.within = slot_number(slot.substr(dot + 1));
  if (!result.position) result.keyword = result.within ? slot.substr(0, dot) : slot;
  return result;
}

}  // namespace

Questions::Questions(const DumpWithGraph& dump, const RunGraph& flow, const std::vector<SequencedOp>& operators,
                     Assumed assumed)
    : dump_(dump), flow_(flow), operators_(operators), assumed_(assumed) {
  for (ExecutionId run{0}; run < flow.runs().size(); ++run) {
    const OpRun& execution = flow.runs()[run];
    if (assumed == Assumed::kState && execution.place.step) last_[{execution.place.in_step(), execution.op}] = run;
    const std::string_view name = operators[execution.op].name;
    if (is_part(name, kForward)) forward_.try_emplace({execution.place.in_step(), name}, run);
  }
  if (dump.arguments == nullptr) return;
  const std::vector<CallArgument>& all = *dump.arguments;
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end].table == all[i].table && all[end].op_name == all[i].op_name) ++end;
    arguments_.try_emplace({all[i].table, all[i].op_name}, i, end);
    i = end;
  }
}

Question Questions::ask(ExecutionId run) const {
  const std::string_view name = operators_[flow_.runs()[run].op].name;
  Question question = is_part(name, kBackward)  ? ask_gradient(run)
                      : is_part(name, kForward) ? ask_call(run)
                                                : ask_graph(run);
  question.run = run;
  return question;
}

Question Questions::ask_gradient(ExecutionId run) const {
  const OpRun& execution = flow_.runs()[run];
  const SequencedOp& op = operators_[execution.op];
  Question question;
  question.type = op.type;
  const KernelRow* const row = find_row(Framework::kTorchBackward, op.type);
  if (row == nullptr) {
    question.why = {Reason::kNoKernel, std::string(op.type)};
    return question;
  }
  std::string name(op.name);
  name.replace(place_of(name, kBackward), kBackward.size(), kForward);
  const auto forward = forward_.find({execution.place.in_step(), std::string_view(name)});
  if (forward == forward_.end()) {
    question.why = {Reason::kNoInput, "the forward call"};
    return question;
  }
  question = ask_call(forward->second);
  if (question.row == nullptr) return question;
  question.type = op.type;
  question.forward = forward->second;
  question.row = row;
  const auto add = [&](std::string_view operand, TensorId tensor) {
    Operand one;
    one.name = operand;
    one.tensor = tensor;
    question.operands.push_back(std::move(one));
  };
  add("y", question.outputs.front().tensor);
  for (const RunInput& input : execution.inputs) {
    if (input.tensor != kNoId && (*dump_.tensors)[input.tensor].name.slot == "0") add("dy", input.tensor);
  }
  question.outputs.clear();
  for (const TensorId tensor : execution.outputs)
    question.outputs.push_back(
        {tensor, {}, nullptr, slot_number((*dump_.tensors)[tensor].name.slot).value_or(UINT32_MAX)});
  if (question.outputs.empty()) {
    question.row = nullptr;
    question.why = {Reason::kNoInput, "no output was dumped"};
  }
  return question;
}

Question Questions::ask_graph(ExecutionId run) const {
  const OpRun& execution = flow_.runs()[run];
  auto [rank, step, dump] = execution.place.in_step();
  ExecutionId before;
  if (assumed_ == Assumed::kState && step && execution.place.occurrence == 0) {
    const auto found = last_.find({{rank, *step - 1, dump}, execution.op});
    if (found != last_.end()) before = found->second;
  }
  return GraphAsker(dump_, flow_, operators_, run, assumed_, before).ask();
}

Question Questions::ask_call(ExecutionId run) const {
  const OpRun& execution = flow_.runs()[run];
  const SequencedOp& op = operators_[execution.op];
  Question question;
  question.type = op.type;
  const bool module = is_module(op.name), primitive = op.name.view().starts_with("Primitive.");
  const KernelRow* row = find_row(module ? Framework::kModule : Framework::kTorch, op.type);
  // Attributes of a primitive of MindSpore are not in the call.
  if (row == nullptr && primitive) row = find_row(Framework::kMindSpore, op.type);
  if (row == nullptr || row->kernel == nullptr) {
    question.why = {row == nullptr ? Reason::kNoKernel : row->reason, std::string(op.type)};
    return question;
  }
  const auto name_at = [&](const CallSlot& slot) -> const KernelRow::Input* {
    if (!slot.position) return input_named(*row, slot.keyword);
    return row->positions == 0 ? nullptr : &row->inputs[std::min<size_t>(*slot.position, row->positions - 1)];
  };
  std::map<std::string, bool> given;
  uint32_t table = UINT32_MAX;
  const auto see_table = [&](TensorId tensor) {
    if (tensor != kNoId && (*dump_.tensors)[tensor].table != kNoId) table = (*dump_.tensors)[tensor].table;
  };
  for (const TensorId tensor : execution.outputs) see_table(tensor);
  for (const RunInput& input : execution.inputs) {
    see_table(input.tensor);
    if (input.tensor == kNoId) continue;
    const CallSlot slot = call_slot((*dump_.tensors)[input.tensor].name.slot);
    const KernelRow::Input* const named = name_at(slot);
    if (named == nullptr) continue;
    Operand operand;
    operand.name = named->name;
    operand.in_list = named->is_list;
    operand.tensor = input.tensor;
    given[operand.name] = true;
    question.operands.push_back(std::move(operand));
  }
  const auto arguments = arguments_.find({table, std::string_view(op.name)});
  if (arguments != arguments_.end()) {
    for (size_t i = arguments->second.first; i < arguments->second.second; ++i) {
      const CallArgument& argument = (*dump_.arguments)[i];
      const CallSlot slot = call_slot(argument.slot);
      const KernelRow::Input* const named = name_at(slot);
      Operand operand;
      operand.name = named != nullptr ? std::string(named->name)
                     : slot.position  ? std::string(argument.slot)
                                      : std::string(slot.keyword);
      operand.value = literal_value(argument.value.text, Value::From::kCall);
      operand.value.is_none =
          argument.value.kind == CallValue::Kind::kNone || argument.value.kind == CallValue::Kind::kAbsent;
      // view(2, 3): positions beyond the last one are more numbers of it; padding=(1, 0) has two places.
      const bool more = slot.within || (slot.position && *slot.position >= row->positions);
      const auto before = std::find_if(question.operands.begin(), question.operands.end(), [&](const Operand& one) {
        return one.name == operand.name && one.tensor == kNoId;
      });
      // to(float16), reshape(x, (2, 3)): what comes after the tensors does not replace one.
      const auto is_tensor = [&](const Operand& one) { return one.name == operand.name && one.tensor != kNoId; };
      if (more && std::any_of(question.operands.begin(), question.operands.end(), is_tensor)) {
        // After the last of several operands it is an argument that the row does not know.
        question.fitted = question.fitted || (row->positions > 1 && !operand.value.is_none);
        continue;
      }
      if (more && before != question.operands.end()) {
        before->value.numbers.insert(before->value.numbers.end(), operand.value.numbers.begin(),
                                     operand.value.numbers.end());
        continue;
      }
      given[operand.name] = true;
      question.operands.push_back(std::move(operand));
    }
  }
  for (const KernelRow::Input& input : row->inputs) {
    if (given.count(std::string(input.name)) > 0) continue;
    const bool known = input.has_default && (!module || input.fallback == "none" || input.name == "axis");
    question.fitted = question.fitted || ((module || primitive) && !known);
    if (!input.has_default || input.fallback == "unknown") continue;
    Operand operand;
    operand.name = input.name;
    operand.value = literal_value(input.fallback, Value::From::kDefault);
    question.operands.push_back(std::move(operand));
  }
  for (const TensorId tensor : execution.outputs) {
    const auto slot = slot_number((*dump_.tensors)[tensor].name.slot);
    const auto name = slot ? output_name(*row, *slot) : std::nullopt;
    if (name) question.outputs.push_back({tensor, *name, nullptr, *slot});
  }
  if (question.outputs.empty()) {
    question.why = {Reason::kNoInput, "no output was dumped"};
    return question;
  }
  question.row = row;
  return question;
}

}  // namespace msdump::recompute
