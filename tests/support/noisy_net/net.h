// A net as a list of operators with the operands that MindSpore 2.10 gives them: attributes such as an axis or an epsilon
// are constants among the inputs. One list serves every evaluation (evaluate.h) and the dump (net_dump.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/noisy_net/arithmetic.h"
#include "tensor/shape.h"

namespace msdump::noisy {

using Ref = uint32_t;  // in Net::values
inline constexpr uint32_t kAbsent = UINT32_MAX;

enum class NumberKind : uint8_t { kFloat, kInt32, kInt64, kBool };

struct NetValue {
  enum class From : uint8_t { kInput, kParameter, kConstant, kOutput };
  From from = From::kOutput;
  NumberKind kind = NumberKind::kFloat;
  Shape shape;
  std::string name;     // of inputs and parameters
  Numbers initial;      // of all but outputs
  bool written = true;  // in the IR as a constant: a tuple, not a tensor
  bool trained = false;
  uint32_t node = kAbsent, slot = 0;  // of outputs
};

struct NetNode {
  std::string type, scope, name;
  std::string key;  // the same in a net that lacks another operator, or has one more
  int line = 0;
  bool backward = false;
  double epsilon = 0;  // of LayerNormGrad: an attribute
  std::vector<Ref> inputs, outputs;
  // Of an operator that updates in place: the slot of the input and the output that holds its new value.
  std::vector<std::pair<uint32_t, uint32_t>> updates;
};

struct Net {
  std::vector<NetValue> values;
  std::vector<NetNode> nodes;
  Ref loss = kAbsent;
  bool loops = false;  // operators of one name run several times a step

  [[nodiscard]] std::vector<uint32_t> readers(Ref value) const;  // nodes, each once
  [[nodiscard]] int64_t size(Ref value) const;
};

// One thing that the candidate's script has otherwise. Operators and constants count in the order in which they are made,
// with what is left out, so that the number of one does not depend on the change.
struct Change {
  enum class Kind : uint8_t { kNone, kMissing, kAdded, kExchanged, kConstant };
  Kind kind = Kind::kNone;
  uint32_t forward = kAbsent;  // the operator
  uint32_t slot = 0;           // kConstant: of the operator
  double constant = 0;         // kConstant: the new value
  std::string type = {};       // kAdded: an operator of one input
  double loss_scale = 1;       // with any kind: the loss is multiplied by it, and the gradients divided
};

class NetBuilder {
 public:
  explicit NetBuilder(Change change) : change_(std::move(change)) {}

  Ref input(const std::string& name, Shape shape, Numbers values, NumberKind kind = NumberKind::kFloat);
  Ref parameter(const std::string& name, Shape shape, Numbers values, bool trained = true);
  // A tensor of one number, as in `x * 0.5`.
  Ref number(double value);
  Ref scalar(double value, NumberKind kind);  // F32(1e-05), I64(-1), Bool(0)
  Ref tuple(const std::vector<int64_t>& values);

  // The operator's outputs have these shapes; `kind` of the first.
  NetNode& node(std::string_view type, std::vector<Ref> inputs, const std::vector<Shape>& outputs,
                NumberKind kind = NumberKind::kFloat);
  Ref op(std::string_view type, std::vector<Ref> inputs, const Shape& output) {
    return node(type, std::move(inputs), {output}).outputs[0];
  }
  // By broadcasting.
  Ref binary(std::string_view type, Ref left, Ref right);
  Ref unary(std::string_view type, Ref x) { return op(type, {x}, shape(x)); }

  [[nodiscard]] Shape shape(Ref value) const { return net_.values[value].shape; }  // a copy: making values moves them
  [[nodiscard]] const Change& change() const { return change_; }

  std::string scope = "Default";
  int line = 10;
  std::string prefix_of_key;  // of operators that are not of the script: gradients, optimizers
  bool loop = false;          // the next operators have run before: they have the same names

  Net net_;

 private:
  [[nodiscard]] std::string new_name(const NetNode& node);
  Ref add(NetValue value);

  Change change_;
  uint32_t forward_ = 0;
  std::map<std::string, int> names_, keys_;
};

[[nodiscard]] int64_t elements(const Shape& shape);
[[nodiscard]] Shape broadcast(const Shape& left, const Shape& right);

}  // namespace msdump::noisy
