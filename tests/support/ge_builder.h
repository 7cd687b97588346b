// Graphs of GE as tests write them down, in each of the forms that GE writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace msdump::test {

struct GeDesc {
  std::string dtype = "DT_FLOAT";
  std::vector<int64_t> shape;
  std::string layout = "ND";
  std::string origin_format = "ND";
  std::optional<std::vector<int64_t>> origin_shape;
  std::string origin_name;  // _datadump_origin_name
  int64_t origin_index = 0;
  std::optional<int64_t> parent_index;
};
[[nodiscard]] GeDesc absent_desc();

// An attribute that says what an operator computes: {"epsilon", 'f', {"1e-05"}}, {"axes", 'i', {"0", "2"}, true}.
struct GeAttr {
  std::string key;
  char field = 'i';  // 'i', 'f' or 'b'
  std::vector<std::string> values;
  bool list = false;
};

struct GeOp {
  std::string name, type;
  std::vector<std::string> inputs;
  std::optional<std::vector<std::string>> originals;
  std::vector<GeDesc> in, out;
  std::vector<std::string> subgraphs;
  std::optional<int64_t> parent_index;
  std::vector<GeAttr> attributes = {};
};

struct GeNet {
  std::string name;
  std::vector<GeOp> ops;
};

// As GE prints it: ge_proto_*.txt, ge_onnx_*.pbtxt (the graphs after the first as its sub-graphs), JSON of atc.
[[nodiscard]] std::string ge_proto_text(const std::vector<GeNet>& graphs);
[[nodiscard]] std::string ge_onnx_text(const std::vector<GeNet>& graphs);
[[nodiscard]] std::string ge_json_text(const std::vector<GeNet>& graphs);
// One operator of ge_proto, indented as inside a graph.
[[nodiscard]] std::string ge_proto_op(const GeOp& op);

}  // namespace msdump::test
