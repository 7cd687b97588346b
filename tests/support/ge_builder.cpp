#include "support/ge_builder.h"

#include <fmt/format.h>

namespace msdump::test {
namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string attr(const std::string& indent, const std::string& key, const std::string& value) {
  return fmt::format("{0}attr {{\n{0}  key: \"{1}\"\n{0}  value {{\n{2}{0}  }}\n{0}}}\n", indent, key, value);
}
std::string text_attr(const std::string& indent, const std::string& key, const std::string& text) {
  return attr(indent, key, indent + "    s: " + quoted(text) + "\n");
}
std::string int_attr(const std::string& indent, const std::string& key, int64_t number) {
  return attr(indent, key, fmt::format("{}    i: {}\n", indent, number));
}
template <class T>
std::string list_attr(const std::string& indent, const std::string& key, const char* field, const std::vector<T>& items,
                      const char* type) {
  std::string list = indent + "    list {\n";
  for (const T& item : items) {
    if constexpr (std::is_same_v<T, std::string>)
      list += fmt::format("{}      {}: \"{}\"\n", indent, field, item);
    else
      list += fmt::format("{}      {}: {}\n", indent, field, item);
  }
  return attr(indent, key, list + fmt::format("{0}      val_type: {1}\n{0}    }}\n", indent, type));
}

std::string argument_attr(const GeAttr& one) {
  if (one.list) {
    std::string list = "        list {\n";
    for (const std::string& value : one.values) list += fmt::format("          {}: {}\n", one.field, value);
    return attr("    ", one.key, list + "          val_type: VT_LIST_INT\n        }\n");
  }
  return attr("    ", one.key, fmt::format("        {}: {}\n", one.field, one.values.front()));
}

std::string desc_text(const char* field, const GeDesc& desc) {
  std::string text = fmt::format("    {} {{\n", field);
  if (!desc.dtype.empty()) text += "      dtype: " + desc.dtype + "\n";
  text += "      shape {\n";
  for (const int64_t dim : desc.shape) text += fmt::format("        dim: {}\n", dim);
  text += "      }\n      layout: " + quoted(desc.layout) + "\n";
  if (!desc.origin_name.empty()) {
    text += text_attr("      ", "_datadump_origin_name", desc.origin_name);
    text += int_attr("      ", "_datadump_origin_output_index", desc.origin_index);
  }
  if (desc.parent_index) text += int_attr("      ", "_parent_node_index", *desc.parent_index);
  text += text_attr("      ", "origin_format", desc.origin_format);
  if (desc.origin_shape) text += list_attr("      ", "origin_shape", "i", *desc.origin_shape, "VT_LIST_INT");
  return text + "      size: 288\n      device_type: \"NPU\"\n    }\n";
}

template <class T>
std::string onnx_attribute(const std::string& indent, const std::string& name, const char* field,
                           const std::vector<T>& values, const char* type) {
  std::string text = fmt::format("{0}attribute {{\n{0}  name: \"{1}\"\n", indent, name);
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string>)
      text += fmt::format("{}  {}: \"{}\"\n", indent, field, value);
    else
      text += fmt::format("{}  {}: {}\n", indent, field, value);
  }
  return text + fmt::format("{0}  type: {1}\n{0}}}\n", indent, type);
}

std::string onnx_desc(const std::string& indent, const std::string& word, size_t index, const GeDesc& desc) {
  const auto name = [&](const std::string& what) { return fmt::format("{}_desc_{}:{}", word, what, index); };
  const auto text = [&](const std::string& what, const std::string& value) {
    return onnx_attribute<std::string>(indent, name(what), "s", {value}, "STRING");
  };
  std::string all = text("dtype", desc.dtype) + text("layout", desc.layout) + text("origin_layout", desc.origin_format);
  all += onnx_attribute(indent, name("shape"), "ints", desc.shape, "INTS");
  if (desc.origin_shape) all += onnx_attribute(indent, name("origin_shape"), "ints", *desc.origin_shape, "INTS");
  if (!desc.origin_name.empty()) {
    all += text("attr__datadump_origin_name", desc.origin_name);
    all += onnx_attribute<int64_t>(indent, name("attr__datadump_origin_output_index"), "i", {desc.origin_index}, "INT");
  }
  if (desc.parent_index)
    all += onnx_attribute<int64_t>(indent, name("attr__parent_node_index"), "i", {*desc.parent_index}, "INT");
  return all;
}

std::string onnx_node(const std::string& indent, const GeOp& op) {
  const std::string inner = indent + "  ";
  std::string text = indent + "node {\n";
  for (const std::string& input : op.inputs) text += inner + "input: " + quoted(input) + "\n";
  for (size_t i = 0; i < op.out.size(); ++i) text += fmt::format("{}output: \"{}:{}\"\n", inner, op.name, i);
  text += inner + "name: " + quoted(op.name) + "\n" + inner + "op_type: \"ge:" + op.type + "\"\n";
  if (op.originals) text += onnx_attribute(inner, "_datadump_original_op_names", "strings", *op.originals, "STRINGS");
  if (op.parent_index) text += onnx_attribute<int64_t>(inner, "_parent_node_index", "i", {*op.parent_index}, "INT");
  for (const GeAttr& one : op.attributes) {
    text += fmt::format("{0}attribute {{\n{0}  name: \"{1}\"\n", inner, one.key);
    const std::string field = !one.list ? (one.field == 'f' ? "f" : "i") : (one.field == 'f' ? "floats" : "ints");
    for (const std::string& value : one.values) text += fmt::format("{}  {}: {}\n", inner, field, value);
    text += inner + "}\n";
  }
  for (size_t i = 0; i < op.in.size(); ++i) text += onnx_desc(inner, "input", i, op.in[i]);
  for (size_t i = 0; i < op.out.size(); ++i) text += onnx_desc(inner, "output", i, op.out[i]);
  return text + indent + "}\n";
}

std::string onnx_subgraph(const GeNet& graph) {
  std::string text = "  node {\n    name: " + quoted(graph.name) + "\n    op_type: \"subgraph\"\n    attribute {\n" +
                     "      name: \"graph\"\n      g {\n";
  for (const GeOp& op : graph.ops) text += onnx_node("        ", op);
  return text + "        name: " + quoted(graph.name) + "\n      }\n      type: GRAPH\n    }\n  }\n";
}

std::string json_list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + items[i];
  return text + "]";
}
std::string json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(quoted(text));
  return json_list(items);
}
std::string json_numbers(const std::vector<int64_t>& numbers) {
  std::vector<std::string> items;
  for (const int64_t number : numbers) items.push_back(std::to_string(number));
  return json_list(items);
}
std::string json_attr(const std::string& key, const std::string& value) {
  return fmt::format("{{\"key\": \"{}\", \"value\": {{{}}}}}", key, value);
}

std::string json_desc(const GeDesc& desc) {
  std::vector<std::string> attrs = {json_attr("origin_format", "\"s\": " + quoted(desc.origin_format))};
  if (desc.origin_shape)
    attrs.push_back(json_attr("origin_shape", "\"list\": {\"i\": " + json_numbers(*desc.origin_shape) + "}"));
  if (!desc.origin_name.empty()) {
    attrs.push_back(json_attr("_datadump_origin_name", "\"s\": " + quoted(desc.origin_name)));
    attrs.push_back(json_attr("_datadump_origin_output_index", fmt::format("\"i\": {}", desc.origin_index)));
  }
  if (desc.parent_index) attrs.push_back(json_attr("_parent_node_index", fmt::format("\"i\": {}", *desc.parent_index)));
  std::string text = "{\"attr\": " + json_list(attrs);
  if (!desc.dtype.empty()) text += ", \"dtype\": " + quoted(desc.dtype);
  if (!desc.shape.empty()) text += ", \"shape\": {\"dim\": " + json_numbers(desc.shape) + "}";
  return text + ", \"layout\": " + quoted(desc.layout) + "}";
}

std::string json_op(const GeOp& op) {
  std::vector<std::string> attrs, in, out;
  if (op.originals)
    attrs.push_back(json_attr("_datadump_original_op_names", "\"list\": {\"s\": " + json_texts(*op.originals) + "}"));
  if (op.parent_index) attrs.push_back(json_attr("_parent_node_index", fmt::format("\"i\": {}", *op.parent_index)));
  for (const GeAttr& one : op.attributes) {
    const std::string value = one.list ? json_list(one.values) : one.values.front();
    const std::string field = fmt::format("\"{}\": {}", one.field, value);
    attrs.push_back(json_attr(one.key, one.list ? "\"list\": {" + field + "}" : field));
  }
  for (const GeDesc& desc : op.in) in.push_back(json_desc(desc));
  for (const GeDesc& desc : op.out) out.push_back(json_desc(desc));
  std::string text =
      fmt::format("    {{\"attr\": {}, \"name\": \"{}\", \"type\": \"{}\"", json_list(attrs), op.name, op.type);
  if (!op.inputs.empty()) text += ", \"input\": " + json_texts(op.inputs);
  if (!op.subgraphs.empty()) text += ", \"subgraph_name\": " + json_texts(op.subgraphs);
  return text + ", \"input_desc\": " + json_list(in) + ", \"output_desc\": " + json_list(out) + "}";
}

}  // namespace

GeDesc absent_desc() {
  GeDesc desc;
  desc.dtype.clear();
  desc.layout = desc.origin_format = "RESERVED";
  return desc;
}

std::string ge_proto_op(const GeOp& op) {
  std::string text = "  op {\n    name: " + quoted(op.name) + "\n    type: " + quoted(op.type) + "\n";
  for (const std::string& input : op.inputs) text += "    input: " + quoted(input) + "\n";
  if (op.originals) text += list_attr("    ", "_datadump_original_op_names", "s", *op.originals, "VT_LIST_STRING");
  if (op.parent_index) text += int_attr("    ", "_parent_node_index", *op.parent_index);
  for (const GeAttr& one : op.attributes) text += argument_attr(one);
  text += attr("    ", "_tbe_kernel_buffer", "        bt: \"\\177ELF\\000{\\\"}\"\n");
  text += "    has_out_attr: true\n    id: 3\n";
  for (const GeDesc& desc : op.in) text += desc_text("input_desc", desc);
  for (const GeDesc& desc : op.out) text += desc_text("output_desc", desc);
  for (const std::string& graph : op.subgraphs) text += "    subgraph_name: " + quoted(graph) + "\n";
  return text + "  }\n";
}

std::string ge_proto_text(const std::vector<GeNet>& graphs) {
  std::string text;
  for (const GeNet& graph : graphs) {
    text += "graph {\n  name: " + quoted(graph.name) + "\n";
    for (const GeOp& op : graph.ops) text += ge_proto_op(op);
    text += text_attr("  ", "_session_graph_id", "0_1") + "}\n";
  }
  return text + int_attr("", "stream_num", 1);
}

std::string ge_onnx_text(const std::vector<GeNet>& graphs) {
  std::string text = "ir_version: 6\nproducer_name: \"GE\"\ngraph {\n";
  for (const GeOp& op : graphs.front().ops) text += onnx_node("  ", op);
  for (size_t i = 1; i < graphs.size(); ++i) text += onnx_subgraph(graphs[i]);
  return text + "  name: " + quoted(graphs.front().name) + "\n}\n";
}

std::string ge_json_text(const std::vector<GeNet>& graphs) {
  std::vector<std::string> all;
  for (const GeNet& graph : graphs) {
    std::vector<std::string> ops;
    for (const GeOp& op : graph.ops) ops.push_back("\n" + json_op(op));
    all.push_back(fmt::format("{{\"attr\": [{}], \"name\": \"{}\", \"op\": {}}}", json_attr("run_count", "\"i\": 1"),
                              graph.name, json_list(ops)));
  }
  return "{\n  \"attr\": [" + json_attr("stream_num", "\"i\": 1") + "],\n  \"graph\": " + json_list(all) +
         ",\n  \"name\": \"ge\"\n}\n";
}

}  // namespace msdump::test
