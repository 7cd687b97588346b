// read_ge_graph: a graph of GE (the graph engine of CANN) as an IrGraph, from any of the forms in which GE writes it:
// protobuf text (ge/graph/ge_proto.h), ONNX text (ge/graph/ge_onnx.h), JSON of atc (ge/graph/ge_json.h). What becomes of the
// operators is at the head of ge/graph/ge_assembler.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "io/file.h"
#include "ir/model/ir_graph.h"

namespace msdump {

enum class GeForm : uint8_t { kProto, kOnnx, kJson };
[[nodiscard]] std::string_view name_of(GeForm form);  // "ge_proto", "ge_onnx", "ge_json"

// By the first 64 KiB, whatever the name of the file is: they hold operators of GE, or the beginning of a model in JSON.
[[nodiscard]] std::optional<GeForm> ge_form(std::string_view first_bytes);

// bad_ir for any other file, and for one in which no operator can be read.
Result<IrGraph> read_ge_graph(const File& file);

// What the name of a file from GE says: ge_proto_00000062_graph_3_Build.txt.
struct GeFileName {
  uint64_t number = 0;  // counts the graphs that GE wrote; the last one of a stage is the one that ran
  std::optional<int64_t> graph;
  std::string_view stage;  // "Build", "PreRunBegin"; may be empty
  GeForm form = GeForm::kProto;

  // Was the graph executed as it is in this file?
  [[nodiscard]] bool executed() const { return stage == "Build" || stage.ends_with("_Build"); }
};
[[nodiscard]] std::optional<GeFileName> ge_file_name(std::string_view name);

}  // namespace msdump
