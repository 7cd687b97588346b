// GeOperator is an operator of a GE graph as its file describes it, in any of the three forms. GeAssembler puts such
// operators into an IrGraph, one after the other:
//
//   Data, RefData, Variable   a node without a kernel, whose operand is the parameter of its name
//   Const, Constant, ...      a node without a kernel, whose operand is a constant
//   NetOutput, NoOp           a node without a kernel
//   PartitionedCall, If, ...  a call; its last operands (`control`) are the graphs that it runs
//   anything else             a kernel
// Operands are outputs of nodes ("conv1:0" is output 0). Optional inputs that are absent are left out with their
// descriptions, as in dump files, so operand k that is not `control` is slot k. The `device` type has the format and shape
// of the description, the `host` type those of the origin.
// Source: CANN's graph_metadef, and files that GE of CANN 7 and 8 wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ge/graph/proto_text.h"
#include "ir/model/ir_builder.h"
#include "tensor/shape.h"

namespace msdump {

// Keys of attributes that are kept besides those of ge/operators/operator_table.h.
inline constexpr std::string_view kOriginalNames = "_datadump_original_op_names",
                                  kOriginalNamesOfVm = "_datadump_original_names", kParentIndex = "_parent_node_index",
                                  kOriginName = "_datadump_origin_name", kOriginIndex = "_datadump_origin_output_index",
                                  kOriginFormat = "origin_format", kOriginShape = "origin_shape";

// A description of an input or output.
struct GeTensor {
  std::string dtype, layout;  // "DT_FLOAT16", "NC1HWC0"
  Shape shape;
  std::optional<std::string> origin_format;
  std::optional<Shape> origin_shape;
  std::string origin_name;
  uint32_t origin_index = 0;
  std::optional<int64_t> parent_index;

  // The description of an optional input that has no value.
  [[nodiscard]] bool absent() const {
    return (dtype.empty() || dtype == "DT_UNDEFINED") && shape.empty() &&
           (layout == "RESERVED" || layout == "FORMAT_RESERVED");
  }
};

struct GeOperator {
  std::string name, type;
  std::vector<std::string> inputs;  // "conv1:0"; "" for an absent optional one; ":-1" is a control edge
  std::optional<std::vector<std::string>> originals;
  std::vector<GeTensor> input_descs, output_descs;
  std::vector<std::string> subgraphs;                          // that it runs
  std::vector<std::pair<std::string, std::string>> arguments;  // key and value of those that say what it computes
  std::optional<int64_t> parent_index;
  uint64_t line = 0;
};

// The value of an attribute. Those that are kept use one of these fields.
struct GeAttribute {
  std::string key;
  std::optional<std::string> text;
  std::optional<int64_t> number;
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  std::vector<std::string> values;  // numbers and booleans of any kind, as written; the first kMostValues
  bool is_list = false;

  static constexpr size_t kMostValues = 65;
  // Takes a field of a value: "i", "f", "b", "s", or "ints", "floats", "strings" of ONNX. Those of a list are appended.
  void add(std::string_view field, std::string_view value, bool of_list = false);
};

[[nodiscard]] bool is_kept_of_operator(std::string_view key);
[[nodiscard]] bool is_kept_of_tensor(std::string_view key);
void set_attribute(GeOperator& op, GeAttribute&& attribute);
void set_attribute(GeTensor& tensor, GeAttribute&& attribute);

class GeAssembler {
 public:
  // Ends the graph before it, too.
  void begin_graph(std::string_view name, uint64_t line);
  // For a file that has the name after the operators.
  void name_graph(std::string_view name);
  // Adds an operator to the graph that was begun last.
  void add(const GeOperator& op);
  void add_problem(uint64_t line, std::string reason) { builder_.add_problem(line, std::move(reason)); }
  void add_problems(IrProblems problems);
  // Counts an operator that cannot be kept.
  void lose_operator(uint64_t line, std::string reason);
  void set_truncated(uint64_t at);
  [[nodiscard]] size_t operators() const { return builder_.graph().nodes.size(); }

  // bad_ir if there is no operator.
  Result<IrGraph> finish();

 private:
  struct PendingOperand {
    uint32_t place = 0;        // in the operands
    Text name = Text::kEmpty;  // of names_
    uint32_t line = 0;
  };
  struct PendingCall {
    uint32_t node = 0, place = 0;
    bool alone = false;  // the node runs no other graph
  };

  void add_inputs(const GeOperator& op);
  void add_source(const GeOperator& op);
  List originals(const GeOperator& op);
  Signature signature(const GeOperator& op, bool device);
  uint32_t type(const GeTensor& tensor, bool device);
  void end_graph();
  void note_result(const GeOperator& op, uint32_t node);
  void resolve_calls();

  IrGraphBuilder builder_;
  InternPool names_;  // of operators, only while the file is read
  HandleMap node_of_name_;
  uint32_t graph_ = kNoIndex;
  std::vector<PendingOperand> pending_;
  std::vector<PendingCall> calls_;
  std::vector<IrOperand> operands_;
  std::vector<PendingOperand> named_;  // of operands_
  std::vector<uint32_t> types_in_, types_out_;
  std::vector<Text> texts_;
  std::vector<OriginOutput> outputs_;
  std::string scratch_;
};

}  // namespace msdump
