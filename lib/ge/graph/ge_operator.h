// One operator of a GE graph as its file describes it, in whichever of the three forms: what the readers fill and the
// assembler (ge/graph/ge_assembler.h) takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/shape.h"

namespace msdump {

// The attributes of operators and descriptions that are kept. Source: reference/ge-operators.md 4.
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
  std::vector<std::string> inputs;  // "conv1:0"; "" where an optional one is absent; ":-1" is a control edge
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
  // A field of a value: "i", "f", "b", or of ONNX "ints", "floats".
  void add_value(std::string_view field, std::string_view value);
};

[[nodiscard]] bool is_kept_of_operator(std::string_view key);
[[nodiscard]] bool is_kept_of_tensor(std::string_view key);
void set_attribute(GeOperator& op, GeAttribute&& attribute);
void set_attribute(GeTensor& tensor, GeAttribute&& attribute);

}  // namespace msdump
