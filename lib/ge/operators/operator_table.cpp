#include "ge/operators/operator_table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "ge/operators/tables.h"

namespace msdump::ge {
namespace {

// Calls take(line) for each line of a table that is not a comment.
template <class Take>
void for_each_line(std::string_view table, const Take& take) {
  for (const std::string_view line : split(table, '\n')) {
    if (!line.empty() && line.front() != '#') take(line);
  }
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// Cuts one suffix that does not count; false if there is none.
bool cut_suffix(std::string_view& type) {
  const size_t size = type.size();
  if (size > 4 && type.ends_with("Ext") && is_lower(type[size - 4])) {
    type.remove_suffix(3);
    return true;
  }
  // "ReduceSumD", "ConcatV2D"; not "Conv2D".
  if (size > 2 && type.back() == 'D' &&
      (is_lower(type[size - 2]) || (is_digit(type[size - 2]) && type[size - 3] == 'V'))) {
    type.remove_suffix(1);
    return true;
  }
  if (size > 3 && is_digit(type.back()) && type[size - 2] == 'V') {
    type.remove_suffix(2);
    return true;
  }
  return false;
}

std::string spelled(std::string_view type) {
  if (type.starts_with("aclnn") && type.size() > 5) type.remove_prefix(5);
  if (type.starts_with("Cust") && type.size() > 4 && !is_lower(type[4])) type.remove_prefix(4);
  while (cut_suffix(type)) {
  }
  std::string text(type);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// True if the device spells the type in another case or with one more suffix. FillV2 becomes Fill, which MindSpore has,
// too.
bool is_respelled(std::string_view mindspore, std::string_view device) {
  return mindspore != device && mindspore.size() <= device.size() && spelled(mindspore) == spelled(device);
}

// Identities and containers: the table pairs them with many types that have nothing else in common.
bool joins_nothing(std::string_view type) {
  static constexpr std::array<std::string_view, 9> kTypes = {
      "Identity", "IdentityN", "NoOp", "Data", "Variable", "Const", "Constant", "Assign", "OutfeedEnqueueOpV2"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

uint32_t take_number(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// "n1+n2+3?", "4*"
SlotRule slot_rule(uint32_t operand, std::string_view target) {
  SlotRule rule;
  rule.operand = operand;
  if (target.starts_with("attr:")) {
    rule.attribute = true;
    rule.name = target.substr(5);
    return rule;
  }
  if (target.ends_with('*')) rule.list = true;
  while (target.starts_with('n')) {
    target.remove_prefix(1);
    rule.after.push_back(take_number(target));
    if (target.starts_with('+')) target.remove_prefix(1);
  }
  rule.slot = take_number(target);
  return rule;
}

InputRule input_rule(std::string_view text) {
  InputRule rule;
  for (const std::string_view item : split(text, ';')) {
    const size_t arrow = item.find('>');
    if (arrow == std::string_view::npos) continue;
    std::string_view from = item.substr(0, arrow), to = item.substr(arrow + 1);
    if (from == "rest") {
      rule.in_order = true;
    } else if (from.starts_with("attr:")) {
      rule.constants.push_back(take_number(to));
      rule.constant_names.push_back(from.substr(5));
    } else {
      rule.slots.push_back(slot_rule(take_number(from), to));
    }
  }
  std::sort(rule.slots.begin(), rule.slots.end(),
            [](const SlotRule& x, const SlotRule& y) { return x.operand < y.operand; });
  return rule;
}

// The operands of a rule laid out as the inputs of one operator.
class Layout {
 public:
  Layout(const InputRule& rule, uint32_t inputs, uint32_t list_size, bool with_constants)
      : inputs_(inputs), list_size_(list_size) {
    for (const SlotRule& slot : rule.slots) place(slot);
    if (with_constants) used_.insert(used_.end(), rule.constants.begin(), rule.constants.end());
    std::sort(used_.begin(), used_.end());
  }

  // All inputs have a place, and the slots are those of `device_inputs` tensors, with gaps closed.
  [[nodiscard]] std::optional<SlotMap> fitting(uint32_t device_inputs) const {
    const bool distinct = std::adjacent_find(used_.begin(), used_.end()) == used_.end();
    if (next_ != inputs_ || !distinct || used_.size() != device_inputs) return std::nullopt;
    SlotMap map = map_;
    for (std::optional<uint32_t>& slot : map) {
      if (slot) *slot = static_cast<uint32_t>(std::lower_bound(used_.begin(), used_.end(), *slot) - used_.begin());
    }
    return map;
  }

 private:
  void place(const SlotRule& slot) {
    if (slot.operand != operand_++) gap_ = true;  // a rule that skips operands says nothing about counts
    const uint32_t tensors = slot.list ? list_size_ : 1;
    uint32_t at = slot.slot;
    for (size_t i = 0; i < slot.after.size(); ++i) at += list_size_;
    for (uint32_t i = 0; i < tensors && next_ < inputs_; ++i, ++next_) {
      if (slot.attribute) {
        map_.emplace_back();
      } else {
        map_.emplace_back(at + i);
        used_.push_back(at + i);
      }
    }
    if (gap_) next_ = UINT32_MAX;
  }

  const uint32_t inputs_, list_size_;
  uint32_t next_ = 0, operand_ = 0;
  bool gap_ = false;
  SlotMap map_;
  std::vector<uint32_t> used_;
};

// The operand of a rule that input `slot` of MindSpore's is; null for one that the rule does not name.
const SlotRule* operand_at(const InputRule& rule, uint32_t slot, uint32_t inputs) {
  const auto lists = std::count_if(rule.slots.begin(), rule.slots.end(), [](const SlotRule& one) { return one.list; });
  if (lists > 1) return nullptr;
  const auto others = static_cast<uint32_t>(rule.slots.size()) - static_cast<uint32_t>(lists);
  const uint32_t list_size = inputs > others ? inputs - others : 1;
  uint32_t first = 0, operand = 0;
  for (const SlotRule& one : rule.slots) {
    // The rule of an operand that it names twice, or that skips operands of a list, says nothing about places.
    if (one.operand < operand || (lists > 0 && one.operand != operand)) return nullptr;
    first += one.operand - operand;
    operand = one.operand + 1;
    const uint32_t tensors = one.list ? list_size : 1;
    if (slot >= first && slot < first + tensors) return &one;
    first += tensors;
  }
  return nullptr;
}

std::optional<SlotMap> in_order(const InputRule& rule, uint32_t inputs, uint32_t device_inputs) {
  SlotMap map;
  uint32_t next = 0;
  for (uint32_t i = 0; i < inputs; ++i) {
    const bool attribute = std::any_of(rule.slots.begin(), rule.slots.end(),
                                       [&](const SlotRule& slot) { return slot.operand == i && slot.attribute; });
    if (attribute) {
      map.emplace_back();
    } else {
      map.emplace_back(next++);
    }
  }
  if (next != device_inputs) return std::nullopt;
  return map;
}

}  // namespace

std::optional<SlotMap> slot_map(const InputRule& rule, uint32_t mindspore_inputs, uint32_t device_inputs) {
  if (rule.in_order) return in_order(rule, mindspore_inputs, device_inputs);
  const auto lists =
      std::count_if(rule.slots.begin(), rule.slots.end(), [](const SlotRule& slot) { return slot.list; });
  if (lists > 1) return std::nullopt;
  const auto others = static_cast<uint32_t>(rule.slots.size()) - static_cast<uint32_t>(lists);
  // A list takes what the others leave; MindSpore's own passes may have taken the others away.
  std::vector<uint32_t> sizes = {1};
  if (lists == 1) sizes = {mindspore_inputs > others ? mindspore_inputs - others : 1, mindspore_inputs};
  for (const uint32_t size : sizes) {
    for (const bool with_constants : {true, false}) {
      const Layout layout(rule, mindspore_inputs, size, with_constants);
      if (auto map = layout.fitting(device_inputs)) return map;
    }
  }
  return std::nullopt;
}

const OperatorTable& OperatorTable::get() {
  static const OperatorTable table;
  return table;
}

OperatorTable::OperatorTable() {
  read_arguments();
  read_operators();
  read_inserted();
  read_no_kernel();
  read_rewrites();
}

void OperatorTable::read_arguments() {
  static constexpr std::array<std::pair<std::string_view, ArgumentKind>, 6> kKinds = {{
      {"number", ArgumentKind::kNumber},
      {"flag", ArgumentKind::kFlag},
      {"count", ArgumentKind::kCount},
      {"axis", ArgumentKind::kAxis},
      {"order", ArgumentKind::kOrder},
      {"shape", ArgumentKind::kShape},
  }};
  for_each_line(kArgumentsCsv, [&](std::string_view line) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() == 2 && cells[1] == "asked" && asked_.insert(cells[0]).second)
      argument_keys_.emplace_back(cells[0]);
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const auto& one) { return cells.size() >= 2 && one.first == cells[1]; });
    if (kind == kKinds.end()) return;
    const auto add = [&](std::string_view key) {
      if (arguments_.emplace(key, Argument{cells[0], kind->second}).second) argument_keys_.emplace_back(key);
    };
    add(cells[0]);
    if (cells.size() < 3) return;
    for (const std::string_view key : split(cells[2], ' ')) add(key);
  });
}

void OperatorTable::read_operators() {
  for_each_line(kOperatorsCsv, [&](std::string_view line) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() != 5) return;
    const std::string_view mindspore = cells[0], device = cells[1];
    if (is_respelled(mindspore, device)) of_device_.insert(device);
    inputs_[mindspore][device].push_back(input_rule(cells[3]));
    if (cells[3].find(">attr:") != std::string_view::npos) inputs_of_type_[mindspore].push_back(input_rule(cells[3]));
    if (joins_nothing(mindspore) || joins_nothing(device)) return;
    const std::string to = root(spelled(mindspore)), from = root(spelled(device));
    if (from != to) parents_[from] = to;
  });
}

void OperatorTable::read_inserted() {
  for_each_line(kInsertedCsv, [&](std::string_view line) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() == 2) inserted_.emplace(cells[0], cells[1]);
  });
}

void OperatorTable::read_no_kernel() {
  for_each_line(kNoKernelTxt, [&](std::string_view line) { no_kernel_.insert(line); });
}

// "BNInferGrad BNTrainingUpdateGrad = BatchNormGrad : 0.0=0.0 1.0=0.1"
void OperatorTable::read_rewrites() {
  for_each_line(kRewritesTxt, [&](std::string_view line) {
    Rewrite rewrite;
    bool after_equals = false;
    const size_t colon = line.find(" : ");
    for (const std::string_view type : split(line.substr(0, colon), ' ')) {
      if (type == "=") {
        after_equals = true;
      } else {
        (after_equals ? rewrite.mindspore : rewrite.device).push_back(family(type));
      }
    }
    for (std::string_view item : split(line.substr(colon + 3), ' ')) {
      Rewrite::Output output;
      for (uint32_t* const field : {&output.device_op, &output.device_output, &output.op, &output.output}) {
        *field = take_number(item);
        if (!item.empty()) item.remove_prefix(1);  // '.' or '='
      }
      rewrite.outputs.push_back(output);
    }
    rewrites_.push_back(std::move(rewrite));
  });
}

std::string OperatorTable::root(std::string name) const {
  for (auto found = parents_.find(name); found != parents_.end() && found->second != name; found = parents_.find(name))
    name = found->second;
  return name;
}

std::string OperatorTable::family(std::string_view type) const { return root(spelled(type)); }

bool OperatorTable::is_of_device(std::string_view type) const {
  static constexpr std::array<std::string_view, 5> kOthers = {"TransData", "MemSet", "AtomicAddrClean", "ReFormat",
                                                              "MemcpyAsync"};
  return of_device_.contains(type) || std::find(kOthers.begin(), kOthers.end(), type) != kOthers.end();
}

std::string_view OperatorTable::inserted(std::string_view type) const {
  const auto found = inserted_.find(type);
  return found == inserted_.end() ? std::string_view() : found->second;
}

bool OperatorTable::may_have_no_kernel(std::string_view type) const {
  return no_kernel_.contains(type) || !inserted(type).empty();
}

bool OperatorTable::is_part_of(std::string_view part, std::string_view whole) const {
  return std::any_of(rewrites_.begin(), rewrites_.end(), [&](const Rewrite& rewrite) {
    return rewrite.mindspore.size() == 1 && rewrite.mindspore[0] == whole &&
           std::find(rewrite.device.begin(), rewrite.device.end(), part) != rewrite.device.end();
  });
}

const std::vector<InputRule>& OperatorTable::input_rules(std::string_view mindspore_type,
                                                         std::string_view device_type) const {
  static const std::vector<InputRule> none;
  const auto of_mindspore = inputs_.find(mindspore_type);
  if (of_mindspore == inputs_.end()) return none;
  const auto found = of_mindspore->second.find(device_type);
  return found == of_mindspore->second.end() ? none : found->second;
}

const Argument* OperatorTable::argument(std::string_view key) const {
  const auto found = arguments_.find(key);
  return found == arguments_.end() ? nullptr : &found->second;
}

const Argument* OperatorTable::argument_at(std::string_view mindspore_type, uint32_t slot, uint32_t inputs) const {
  const auto rules = inputs_of_type_.find(mindspore_type);
  if (rules == inputs_of_type_.end()) return nullptr;
  const Argument* result = nullptr;
  for (const InputRule& rule : rules->second) {
    const SlotRule* const operand = operand_at(rule, slot, inputs);
    if (operand == nullptr || !operand->attribute || operand->name.empty()) continue;
    const Argument* const named = argument(operand->name);
    if (named == nullptr || (result != nullptr && named->name != result->name)) return nullptr;
    result = named;
  }
  return result;
}

const Argument* OperatorTable::argument_on_device(std::string_view mindspore_type, std::string_view device_type,
                                                  uint32_t slot) const {
  for (const InputRule& rule : input_rules(mindspore_type, device_type)) {
    for (size_t i = 0; i < rule.constants.size(); ++i) {
      if (rule.constants[i] == slot) return argument(rule.constant_names[i]);
    }
  }
  return nullptr;
}

}  // namespace msdump::ge
