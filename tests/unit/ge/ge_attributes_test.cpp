// Attributes that are kept, where a file spells them in another way or leaves their values out.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ge/graph/ge_graph.h"
#include "support/catch.h"

namespace msdump {
namespace {

std::string originals_of(const Result<IrGraph>& ir) {
  REQUIRE(ir);
  CHECK(ir->problems.count() == 0);
  const auto originals = ir->originals(ir->nodes.front());
  if (!originals) return "not said";
  std::string text;
  for (const uint32_t name : *originals) text += std::string(ir->text(Text{name})) + ";";
  return text;
}

// In each of the forms, with these names as the strings of an attribute.
std::vector<std::string> originals_by(const std::string& key, const std::vector<std::string>& names) {
  std::string proto, onnx, json;
  for (const std::string& name : names) {
    proto += fmt::format(" s: \"{}\"", name);
    onnx += fmt::format(" strings: \"{}\"", name);
    json += fmt::format("{}\"{}\"", json.empty() ? "" : ",", name);
  }
  proto = fmt::format("op {{ name: 'a' type: 'Neg' attr {{ key: '{}' value {{ list {{{} }} }} }} }}", key, proto);
  onnx = fmt::format("graph {{ node {{ name: 'a' op_type: 'Neg' attribute {{ name: '{}'{} }} }} }}", key, onnx);
  json = fmt::format(
      R"({{"op": {{"name": "a", "type": "Neg", "attr": {{"key": "{}", "value": {{"list": {{"s": [{}]}}}}}}}}}})", key,
      json);
  return {originals_of(read_ge_proto(ProtoText(proto))), originals_of(read_ge_onnx(ProtoText(onnx))),
          originals_of(read_ge_json(json))};
}

TEST_CASE("both names of the attribute with the original operators count, and no other") {
  CHECK(originals_by("_datadump_original_op_names", {"b", "c"}) == std::vector<std::string>(3, "b;c;"));
  CHECK(originals_by("_datadump_original_names", {"b", "c"}) == std::vector<std::string>(3, "b;c;"));
  CHECK(originals_by("_datadump_original_names", {}) == std::vector<std::string>(3, ""));
  CHECK(originals_by("_datadump_original_op", {"b"}) == std::vector<std::string>(3, "not said"));
}

TEST_CASE("an attribute of JSON without a value is not there") {
  CHECK(
      originals_of(read_ge_json(
          R"({"op": {"name": "a", "type": "Neg", "attr": [{"key": "_datadump_original_op_names"}, {"value": {"i": 1}}, {}]}})")) ==
      "not said");
}

}  // namespace
}  // namespace msdump
