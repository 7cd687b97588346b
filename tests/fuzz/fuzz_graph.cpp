// What is asked of a graph: lines of a script, text of a line, names, new numbers, a picture. The input is a question on
// its first line, then IR text.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fuzz_file.h"
#include "graph/flow/dot.h"
#include "graph/join/numbering.h"
#include "graph/lines/line_search.h"
#include "graph/lines/operator_lines.h"
#include "graph/op_name.h"
#include "ir/text/ir_text.h"

namespace {

using namespace msdump;
using fuzz::require;

void check_hits(const OpGraph& graph, const std::vector<LineHit>& hits) {
  for (size_t i = 0; i < hits.size(); ++i) {
    require(hits[i].op < graph.size() && graph.has_kernel(hits[i].op), "a hit is an operator with a kernel");
    require(hits[i].frame != nullptr, "a hit has a frame");
    require(hits[i].confidence > 0 && hits[i].confidence <= 1, "confidence is between 0 and 1");
    require(i == 0 || hits[i - 1].relation <= hits[i].relation, "the best relation comes first");
  }
}

// Reading only what a line needs finds what reading everything finds.
void check_line(const File& file, const OpGraph& graph, const LineQuery& query) {
  const auto hits = find_line(graph, query);
  check_hits(graph, hits);
  for (const LineHit& hit : hits) require(path_ends_with(hit.frame->file, query.file), "a hit is in the file");
  require(nearest_lines(graph, query, 5).size() <= 5, "no more lines than asked for");
  IrTextOptions options;
  options.needle = needle_of(query);
  auto some = read_ir_text(file, options);
  require(some.has_value(), "a needle makes no error");
  for (const LineHit& hit : hits) {
    const uint32_t line = graph.node(hit.op).line;
    const auto same = [&](const IrNode& node) { return node.line == line; };
    require(std::any_of(some->nodes.begin(), some->nodes.end(), same), "what a line needs is read");
  }
}

void check_numbers(const OpGraph& graph) {
  const auto numbers = renumbered(graph);
  require(numbers.size() == graph.size(), "each operator is numbered or keeps its number");
  for (OpId op{0}; op < graph.size(); ++op) {
    if (numbers[op] == kNoIndex) continue;
    require(split_number(graph.leaf(op)).has_value(), "only what has a number gets a new one");
    require(numbers[op] < graph.size(), "numbers count operators");
  }
}

void check_names(const OpGraph& graph, std::string_view name) {
  for (const OpId op : operators_named(graph, name)) require(graph.has_kernel(op), "a named operator has a kernel");
  for (const OperatorText text : {OperatorText::kName, OperatorText::kType}) (void)nearest_operator(graph, name, text);
  const std::string normal = normalised_op_name(name);
  require(normal.size() == name.size() && normalised_op_name(normal) == normal, "a normal name stays");
  for (const size_t end : number_ends(name)) require(end <= name.size(), "a number ends in the name");
}

void check_dot(const OpGraph& graph, std::string_view name) {
  const auto label = [&](OpId op) { return std::string(graph.leaf(op)); };
  for (const auto& centre : {std::vector<OpId>(), operators_named(graph, name)}) {
    const std::string text = dot_text(graph, centre, 2, label);
    require(text.starts_with("digraph operators {\n") && text.ends_with("}\n"), "a picture is whole");
    for (const char c : text) require(c == '\n' || static_cast<unsigned char>(c) >= ' ', "labels are escaped");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(all.find('\n'), size);
  const std::string_view question = all.substr(0, end);
  const size_t begin = std::min(end + 1, size);
  const fuzz::FuzzFile input(data + begin, size - begin);
  const File file = input.open();
  auto ir = read_ir_text(file);
  if (!ir) return 0;
  std::vector<Origin> origins(1);
  origins[0].path = file.path();
  origins[0].place = OriginPlace::kDump;
  origins[0].graph = std::move(*ir);
  const OpGraph graph(std::move(origins));
  if (const auto query = parse_line_query(question)) check_line(file, graph, *query);
  check_hits(graph, find_code(graph, question));
  check_numbers(graph);
  check_names(graph, question);
  check_dot(graph, question);
  const OperatorLines lines(graph);
  for (OpId op{0}; op < graph.size(); ++op) (void)lines.of(op);
  return 0;
}
