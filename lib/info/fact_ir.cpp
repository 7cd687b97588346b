// The head lines of IR text: enough to say which graph it is.
//
//   # IR entry: @kernel_graph0          (MindSpore 2; "#IR entry      : @..." in 1.x)
//   # Total subgraphs: 1                ("#Total subgraph : 1")
//   # Total params: 28
// They stand in the first lines; what follows is not read here.
#include <optional>
#include <string_view>

#include "base/text.h"
#include "info/fact_readers.h"
#include "ir/model/scan.h"
#include "ir/protobuf/protobuf_graph.h"
#include "ir/text/ir_text.h"

namespace msdump {
namespace {

// What follows the colon of a line "# NAME : VALUE"; none if the line is another.
std::optional<std::string_view> value_after(std::string_view line, std::string_view name) {
  if (!line.starts_with('#')) return std::nullopt;
  line = trim(line.substr(1));
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !trim(line.substr(0, colon)).starts_with(name)) return std::nullopt;
  return trim(line.substr(colon + 1));
}

// An error for a text without any line of IR, and for a protobuf that does not begin as one.
std::optional<Error> not_ir(const FactSource& source, FileKind kind, std::string_view head) {
  if (kind == FileKind::kIrProtobuf) {
    auto graph = find_ir_graph(head);
    // The head of a large file ends inside its graph.
    const bool cut = !graph && graph.error().code == ErrorCode::kTruncated && source.file.size() > head.size();
    if (graph || cut) return std::nullopt;
    return std::move(graph).error();
  }
  const IrKind found = ir_kind(head);
  if (found.word == "ir_text" || found.word == "ir_protobuf") return std::nullopt;
  return make_error(ErrorCode::kBadIr, "this is not IR text: {}", found.explanation);
}

}  // namespace

void add_ir_facts(const FactSource& source, FileFacts& facts) {
  report::Value entry, subgraphs, parameters;
  const std::string_view head = head_text(source);
  for (const std::string_view line : split(head, '\n')) {
    if (const auto value = value_after(line, "IR entry"); value && entry.is_null()) entry = *value;
    if (const auto value = value_after(line, "Total subgraph"); value && subgraphs.is_null())
      subgraphs = parse_u64(*value);
    if (const auto value = value_after(line, "Total params"); value && parameters.is_null())
      parameters = parse_u64(*value);
  }
  if (auto problem = not_ir(source, facts.kind, head)) facts.problems.push_back(std::move(*problem));
  if (facts.kind == FileKind::kIrProtobuf) return;
  facts.detail.add("entry", std::move(entry)).add("subgraphs", std::move(subgraphs));
  facts.detail.add("parameters", std::move(parameters));
}

}  // namespace msdump
