// A kernel computes the outputs of one kind of operator in double precision, with the size of the terms that rounding acts on.
//
// kernels.csv names the kernel of each operator type and what its inputs mean; kernel.cpp lists the functions. A new kernel is a
// function in lib/recompute/kernels, its line in the list, and a row for each type that it computes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "recompute/array.h"
#include "recompute/projection.h"

namespace msdump::recompute {

// The reason why an operator or an output is not judged.
enum class Reason : uint8_t {
  kNoKernel,         // no kernel for its type
  kNoInput,          // an input was not dumped
  kOldValue,         // an input was updated in place, and nothing shows the value before
  kUnknownArgument,  // an attribute or constant is unknown or not supported
  kRandom,           // it draws random numbers
  kStatistics,       // the dump has statistics only
  kTooLarge,         // beyond the limit of memory
  kFormat,           // a dtype or format without numbers
  kShape,            // shapes that do not fit the kernel
  kUnreadable,       // a file cannot be read
  kRegion,           // a fused operator whose members are unknown
  kForward,          // the backward of a call that is wrong
  kNoise,            // off by no more than most types of the dump are
  kSlice,            // only a slice of a tensor was dumped
};
[[nodiscard]] constexpr Reason last_of(Reason) { return Reason::kSlice; }
[[nodiscard]] std::string_view name_of(Reason reason);

struct Unjudged {
  Reason reason = Reason::kNoKernel;
  std::string what;  // the input, attribute or file; may be empty
};
template <class T>
using Maybe = tl::expected<T, Unjudged>;

[[nodiscard]] inline tl::unexpected<Unjudged> unjudged(Reason reason, std::string_view what = {}) {
  return tl::unexpected<Unjudged>(Unjudged{reason, std::string(what)});
}

// Elements of `values` or `source`: where they are, or a copy in `buffer`.
[[nodiscard]] Maybe<const double*> elements_of(const Array& x, int64_t first, int64_t count,
                                               std::vector<double>& buffer);

// The kind of arithmetic decides the bound (judge.h).
enum class Arithmetic : uint8_t {
  kExact,
  kElementwise,
  kReduction,
  kProduct,
  kNormalisation,
  kTranscendental,
  kOptimizer
};

// One answer of a kernel. Several are accepted if frameworks compute a thing in several ways.
struct Answer {
  Array y;
  std::vector<double> terms;  // for each element, the sum of the absolute values of its terms; empty: |y|
  double length = 0;          // of the sums
  std::string_view variant = {};
};

struct Output {
  std::string name;
  std::vector<Answer> answers;
  bool follows_copy = false;  // computed from a copy (Call::copied), and as near to the file as its rounding allows
};
using Outputs = std::vector<Output>;

// Shared, so that a call with one operand changed costs no copy of the others.
using Tensor = std::shared_ptr<const Array>;
[[nodiscard]] inline Tensor share(Array array) { return std::make_shared<const Array>(std::move(array)); }

// An input or attribute of an operator: a tensor, or what a graph or a call has as text.
struct Value {
  enum class From : uint8_t { kFile, kGraph, kAttribute, kCall, kDefault, kFitted };
  From from = From::kFile;
  Tensor tensor;
  std::vector<double> numbers;  // if there is no tensor
  bool is_none = false;         // the call says None
  std::string text;             // as written
};
[[nodiscard]] constexpr Value::From last_of(Value::From) { return Value::From::kFitted; }
[[nodiscard]] std::string_view name_of(Value::From from);

// The operands and attributes of one execution by name, and what is known of its outputs.
class Call {
 public:
  void set(const std::string& name, Value value) {
    erase(name);
    append(name, std::move(value));
  }
  void append(std::string name, Value value) { values_[std::move(name)].push_back(std::move(value)); }
  void erase(std::string_view name);
  void set_unknown(std::string name, Unjudged reason) { unknown_[std::move(name)] = std::move(reason); }
  void set_output(std::string name, Shape shape, DType dtype) { outputs_[std::move(name)] = {std::move(shape), dtype}; }

  // A tensor; a number counts as a scalar.
  [[nodiscard]] Maybe<Tensor> tensor(std::string_view name) const;
  // Null if it is not given, or is None.
  [[nodiscard]] Maybe<Tensor> tensor_if(std::string_view name) const;
  [[nodiscard]] Maybe<std::vector<Tensor>> tensors(std::string_view name) const;
  [[nodiscard]] Maybe<double> number(std::string_view name) const;
  [[nodiscard]] double number_or(std::string_view name, double value) const;
  [[nodiscard]] Maybe<std::vector<int64_t>> integers(std::string_view name) const;
  [[nodiscard]] std::optional<std::vector<int64_t>> integers_if(std::string_view name) const;
  [[nodiscard]] Maybe<int64_t> integer(std::string_view name) const;
  [[nodiscard]] int64_t integer_or(std::string_view name, int64_t value) const;
  [[nodiscard]] Maybe<bool> flag(std::string_view name) const;
  [[nodiscard]] bool flag_or(std::string_view name, bool value) const;
  // In lower case, without quotes; empty if it is not given.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;

  // The shape of an output in the file or graph; null if it was not dumped.
  [[nodiscard]] const Shape* output_shape(std::string_view name) const;
  [[nodiscard]] DType output_dtype(std::string_view name) const;  // kUndefined: unknown

  [[nodiscard]] const std::map<std::string, std::vector<Value>, std::less<>>& values() const { return values_; }
  [[nodiscard]] std::map<std::string, std::vector<Value>, std::less<>>& values() { return values_; }

  std::string_view type;  // of the operator, as its graph or call has it
  // The call does not say all its arguments: kernels try the usual ones, and what none verifies is not judged.
  bool fitted = false;
  // The format of the copy of a parameter that stands for the value before its update. kUndefined: it is none.
  DType copied = DType::kUndefined;

 private:
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] tl::unexpected<Unjudged> missing(std::string_view name) const;

  std::map<std::string, std::vector<Value>, std::less<>> values_;
  std::map<std::string, Unjudged, std::less<>> unknown_;
  std::map<std::string, std::pair<Shape, DType>, std::less<>> outputs_;
};

// How a dumped tensor identifies the output that it is.
struct OutputKey {
  std::string_view name;  // of the kernel; empty: unknown
  uint32_t slot;          // UINT32_MAX: unknown
  const Shape& shape;
};

// By name if the key has one. Else, from `next` on: the output at the slot if it has as many elements, or the first of this shape, or
// of as many elements. A gradient that nobody asked for has no tensor, and functions of one name may order them in several ways.
[[nodiscard]] Outputs::const_iterator find_output(const Outputs& outputs, Outputs::const_iterator next,
                                                  const OutputKey& key);

// An output that is too large to compute in full: some rows and a projection of it (projection.h).
struct SampledOutput {
  std::string name;
  double multiplications = 0;  // of the output in full
  AxisView rows;               // the axis of the columns, and the others
  double length = 0;           // of the sums
  Tensor view;                 // if not null, this is right as well, element by element

  using VisitRow = std::function<Maybe<void>(int64_t row, std::vector<double> y, std::vector<double> terms)>;
  std::function<Maybe<void>(const std::vector<int64_t>& rows, const VisitRow& visit)> compute;
  using VisitBlock = std::function<Maybe<void>(const ProjectedBlock& block)>;
  std::function<Maybe<void>(const VisitBlock& visit)> project;
};

struct Kernel {
  std::string_view name;
  Arithmetic arithmetic = Arithmetic::kElementwise;
  double limit = 4;  // units of the bound beyond which an output is wrong
  Maybe<Outputs> (*compute)(const Call& call) = nullptr;
  // Axes at the end of the output that belong together: the others may be computed in parts. Null: it is computed as a whole.
  // Tensors of the call may lack their values.
  Maybe<size_t> (*own_axes)(const Call& call) = nullptr;
  // Null: an output that is too large is not computed.
  Maybe<std::vector<SampledOutput>> (*sample)(const Call& call) = nullptr;
  // Axes in front that its operands and outputs have in common, of tensors that may differ in the others: as own_axes else.
  Maybe<size_t> (*common_axes)(const Call& call) = nullptr;
};

[[nodiscard]] const Kernel* find_kernel(std::string_view name);

// A row of kernels.csv: the kernel of an operator type.
struct KernelRow {
  struct Input {
    std::string_view name;      // of the operand, as the kernel asks for it
    std::string_view spelled;   // other names as an attribute or keyword, separated by '/'
    std::string_view fallback;  // the default of a call
    bool is_list = false;
    bool has_default = false;
  };
  std::string_view type;
  const Kernel* kernel = nullptr;  // null: a reason stands in its place
  Reason reason = Reason::kNoKernel;
  std::vector<Input> inputs;              // in the order of the slots, then what has no position
  size_t positions = 0;                   // inputs with one
  std::vector<std::string_view> outputs;  // in the order of the slots; the name of an input: it is updated in place

  [[nodiscard]] bool updates(std::string_view input) const;
};

enum class Framework : uint8_t { kMindSpore, kTorch, kTorchBackward, kModule };
// Null if the table does not have the type. Types of GE are looked up as MindSpore's.
[[nodiscard]] const KernelRow* find_row(Framework framework, std::string_view type);
void for_each_row(const std::function<void(const KernelRow& row)>& visit);

}  // namespace msdump::recompute

namespace msdump {
[[nodiscard]] inline tl::unexpected<recompute::Unjudged> fail(recompute::Unjudged unjudged) {
  return tl::unexpected<recompute::Unjudged>(std::move(unjudged));
}
}  // namespace msdump
