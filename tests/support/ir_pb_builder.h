// Builds IR protobufs, good ones from a short description and bad ones with exactly one named fault. Nothing here uses
// lib/ or the generated code: the numbers of fields and types are written down a second time, from the reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msdump::test {

// Fields on the wire.
[[nodiscard]] std::string pb_varint(uint64_t value);
[[nodiscard]] std::string pb_number(uint32_t field, uint64_t value);
[[nodiscard]] std::string pb_bytes(uint32_t field, std::string_view bytes);
[[nodiscard]] std::string pb_float(uint32_t field, float value);

// TypeProto.
[[nodiscard]] std::string pb_type(int number);
[[nodiscard]] std::string pb_tensor_type(int element, const std::vector<int64_t>& dims);
[[nodiscard]] std::string pb_tuple_type(const std::vector<std::string>& elements);

// ValueProto.
[[nodiscard]] std::string pb_int_value(int64_t value);
[[nodiscard]] std::string pb_text_value(std::string_view text);
[[nodiscard]] std::string pb_list_value(int number, const std::vector<std::string>& items);

struct PbNode {
  std::string name = {}, op_type = {}, scope = {}, full_name = {};
  std::vector<std::string> inputs = {};
  std::vector<std::pair<std::string, std::string>> attributes = {};  // name, ValueProto
  std::string output_type = pb_tensor_type(11, {2, 3});
  std::optional<std::string> source_address = {};  // beside a dump only
  std::optional<std::string> instance_name = {};   // of save_graphs only
};

struct PbConstant {
  std::string key;
  std::string value;                          // ValueProto
  std::optional<std::string> full_name = {};  // beside a dump only
};

struct IrPbSpec {
  std::vector<PbNode> nodes = {};
  std::string name = "kernel_graph_0";
  std::vector<std::pair<std::string, std::string>> parameters = {};  // name, TypeProto
  std::vector<PbConstant> constants = {};
  std::optional<std::string> root_name = {};
  bool bare = false;  // a GraphProto, as in caches of 1.0
};
[[nodiscard]] std::string build_pb_node(const PbNode& node);
[[nodiscard]] std::string build_ir_pb(const IrPbSpec& spec);

// relu(add(x, cst1)) beside a dump.
[[nodiscard]] IrPbSpec small_ir_pb();

enum class IrPbFault {
  kEmptyFile,
  kTextFile,
  kNoGraph,
  kCutBeforeGraph,
  kCutInFirstNode,
  kNoOperators,
  kGroup,
  kFieldZero,
  kLongVarint,
  kLengthPastGraph,
  kNodesOfGarbage,
  kDeepType,
  kDeepValue,
  kNoOpType,
};
[[nodiscard]] const std::vector<IrPbFault>& all_ir_pb_faults();
[[nodiscard]] std::string_view name_of(IrPbFault fault);
[[nodiscard]] std::string build_faulty_ir_pb(IrPbFault fault);

}  // namespace msdump::test
