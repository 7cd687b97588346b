// The operator types of MindSpore and of the Ascend device as one vocabulary, and how the slots of the two correspond.
//
// A family is a set of types that are spellings of one operator: "relu" is ReLU, Relu and ReluV2. Types that no table has
// fall back on their spelling: suffixes D, V2 and Ext, and the prefixes aclnn and Cust do not count.
// Source: the heads of operators.csv, inserted.csv, no_kernel.txt and rewrites.txt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace msdump::ge {

// The place of an operand of MindSpore on the device.
struct SlotRule {
  uint32_t operand = 0;
  bool attribute = false;       // an attribute on the device: no slot
  std::string_view name = {};   // of the attribute, if it is known
  bool list = false;            // an operand of several tensors, which take one slot each
  uint32_t slot = 0;            // of the first tensor,
  std::vector<uint32_t> after;  // and so many more as these lists have
};

// A way in which the inputs of a MindSpore type become those of a device type.
struct InputRule {
  bool in_order = false;  // the operands that `slots` does not name keep their order
  std::vector<SlotRule> slots;
  std::vector<uint32_t> constants;               // slots of attributes of MindSpore
  std::vector<std::string_view> constant_names;  // of these attributes
};

// The device slot of each input of MindSpore's operator, both as files number them; no value for an attribute. slot_map()
// returns none if the rule does not fit the numbers of inputs.
using SlotMap = std::vector<std::optional<uint32_t>>;
[[nodiscard]] std::optional<SlotMap> slot_map(const InputRule& rule, uint32_t mindspore_inputs, uint32_t device_inputs);

// An operator of the device or several, made of one of MindSpore or several.
struct Rewrite {
  struct Output {
    uint32_t device_op = 0, device_output = 0, op = 0, output = 0;  // positions in `device` and `mindspore`
  };
  std::vector<std::string> device, mindspore;  // families
  std::vector<Output> outputs;
};

// The meaning of an attribute, which decides when two values of it are equal.
enum class ArgumentKind : uint8_t { kNumber, kFlag, kCount, kAxis, kOrder, kShape };

// An attribute that means the same to MindSpore and to the device (arguments.csv).
struct Argument {
  std::string_view name;  // one for all spellings
  ArgumentKind kind = ArgumentKind::kNumber;
};

class OperatorTable {
 public:
  [[nodiscard]] static const OperatorTable& get();

  [[nodiscard]] std::string family(std::string_view type) const;
  // A type that the device has and MindSpore does not: Relu, MatMulV2, TransData.
  [[nodiscard]] bool is_of_device(std::string_view type) const;
  // The purpose of an inserted operator of this type: "layout only"; empty for a type that no compiler inserts.
  [[nodiscard]] std::string_view inserted(std::string_view type) const;
  // True if the device may have no operator for this type of MindSpore: it moves no data, or a compiler removes it.
  [[nodiscard]] bool may_have_no_kernel(std::string_view type) const;
  // Ways that are known for these two types, in the order of the table.
  [[nodiscard]] const std::vector<InputRule>& input_rules(std::string_view mindspore_type,
                                                          std::string_view device_type) const;
  // Looks an attribute up by any of its spellings; null for an attribute that is not compared.
  [[nodiscard]] const Argument* argument(std::string_view key) const;
  // All spellings, also those of attributes that are not compared and only say what an operator computes.
  [[nodiscard]] const std::vector<std::string>& argument_keys() const { return argument_keys_; }
  // True for each of argument_keys().
  [[nodiscard]] bool is_argument(std::string_view key) const {
    return argument(key) != nullptr || asked_.count(key) > 0;
  }
  // The attribute that is input `slot` of a type of MindSpore with `inputs` inputs. Null if no rule names it, or two
  // rules disagree.
  [[nodiscard]] const Argument* argument_at(std::string_view mindspore_type, uint32_t slot, uint32_t inputs) const;
  // The attribute of MindSpore's type that is input `slot` of the device type.
  [[nodiscard]] const Argument* argument_on_device(std::string_view mindspore_type, std::string_view device_type,
                                                   uint32_t slot) const;
  [[nodiscard]] const std::vector<Rewrite>& rewrites() const { return rewrites_; }
  // True if one operator of the family `whole` is split into several, and `part` is one of these.
  [[nodiscard]] bool is_part_of(std::string_view part, std::string_view whole) const;

 private:
  OperatorTable();
  void read_arguments();
  void read_operators();
  void read_inserted();
  void read_no_kernel();
  void read_rewrites();
  [[nodiscard]] std::string root(std::string name) const;

  std::unordered_map<std::string, std::string> parents_;  // of families, by the spelling of a type
  std::unordered_set<std::string_view> of_device_;        // types
  std::unordered_map<std::string_view, std::string_view> inserted_;
  std::unordered_set<std::string_view> no_kernel_;  // types
  // Keyed by MindSpore's type, then by the device's.
  std::unordered_map<std::string_view, std::unordered_map<std::string_view, std::vector<InputRule>>> inputs_;
  std::unordered_map<std::string_view, std::vector<InputRule>> inputs_of_type_;  // by MindSpore's type
  std::unordered_map<std::string_view, Argument> arguments_;                     // by spelling
  std::unordered_set<std::string_view> asked_;                                   // attributes that are not compared
  std::vector<std::string> argument_keys_;
  std::vector<Rewrite> rewrites_;
};

}  // namespace msdump::ge
