// A ge_proto text like that of an executed ResNet-50: 5 KB an operator, of which a third are descriptions of tensors and
// the rest attributes that nobody needs, optionally with the bytes of its kernel.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace bench {

inline std::string ge_attribute(std::string_view indent, std::string_view key, std::string_view value) {
  return fmt::format("{0}attr {{\n{0}  key: \"{1}\"\n{0}  value {{\n{0}    {2}\n{0}  }}\n{0}}}\n", indent, key, value);
}

inline std::string ge_list(std::string_view indent, std::string_view key, std::initializer_list<std::string> items) {
  std::string list = "list {\n";
  for (const std::string& item : items) list += fmt::format("{}      {}\n", indent, item);
  return ge_attribute(indent, key, fmt::format("{}{}    }}", list, indent));
}

inline std::string ge_description(std::string_view word, const std::string& origin) {
  constexpr std::string_view kIndent = "      ";
  std::string text = fmt::format("    {} {{\n      dtype: DT_FLOAT16\n      shape {{\n", word);
  for (const int dim : {1, 32, 28, 28, 16}) text += fmt::format("        dim: {}\n", dim);
  text += "      }\n      layout: \"NC1HWC0\"\n";
  if (!origin.empty()) {
    text += ge_attribute(kIndent, "_datadump_origin_name", fmt::format("s: \"{}\"", origin));
    text += ge_attribute(kIndent, "_datadump_origin_output_index", "i: 0");
  }
  text += ge_attribute(kIndent, "infer_format", "i: 3");
  text += ge_attribute(kIndent, "origin_format", "s: \"NCHW\"");
  text += ge_list(kIndent, "origin_shape", {"i: 1", "i: 512", "i: 28", "i: 28", "val_type: VT_LIST_INT"});
  text += "      has_out_attr: true\n      size: 802848\n      device_type: \"NPU\"\n      real_dim_cnt: 4\n    }\n";
  return text;
}

inline std::string ge_name(int number) {
  return fmt::format("Default/network-WithLossCell/_backbone-ResNet/layer{}-SequentialCell/{}/Conv2D-op{}", number % 4,
                     number % 24, number);
}

inline void write_ge_operator(std::string& text, int number, bool with_kernel) {
  constexpr std::string_view kIndent = "    ";
  const std::string name = ge_name(number);
  text += fmt::format("  op {{\n    name: \"{}\"\n    type: \"Conv2D\"\n", name);
  for (const int input : {number - 1, number - 7})
    text += fmt::format("    input: \"{}:0\"\n", ge_name(std::max(0, input)));
  for (const char* key : {"INPUT_IS_VAR", "OUTPUT_IS_VAR", "is_input_const"})
    text += ge_list(kIndent, key, {"b: false", "b: false", "val_type: VT_LIST_BOOL"});
  text += ge_list(kIndent, "_datadump_original_op_names",
                  {fmt::format("s: \"{}\"", name), fmt::format("s: \"{}-ReLU\"", name), "val_type: VT_LIST_STRING"});
  for (const char* key : {"_fe_imply_type", "_tbeKernelSize", "fusion_scope", "imply_type", "op_para_size",
                          "tbe_op_atomic_workspace_flag", "tvm_blockdim", "tvm_cache_read_mode"})
    text += ge_attribute(kIndent, key, "i: 6");
  for (const char* key : {"_ge_attr_op_kernel_lib_name", "_lxfusion_engine_name", "_session_graph_id", "pass_name",
                          "_lxfusion_op_kernel_lib_name", "_tbe_kernel_name", "tvm_magic"})
    text += ge_attribute(kIndent, key, "s: \"AIcoreEngine\"");
  if (with_kernel) {
    text += "    attr {\n      key: \"_tbe_kernel_buffer\"\n      value {\n        bt: \"";
    for (int i = 0; i < 2000; ++i) text += "\\177ELF\\002\\001";
    text += "\"\n      }\n    }\n";
  }
  for (const char* key : {"_input_name_key", "_input_name_value"}) text += ge_list(kIndent, key, {"i: 0", "i: 1"});
  text += fmt::format("    has_out_attr: true\n    id: {}\n", number);
  for (const int input : {number - 1, number - 7})
    text += fmt::format("    src_name: \"{}\"\n    src_index: 0\n", ge_name(std::max(0, input)));
  for (const char* word : {"input_desc", "input_desc"}) text += ge_description(word, "");
  text += ge_description("output_desc", name + "-ReLU");
  text += "  }\n";
}

inline void write_ge_proto(const std::string& path, size_t bytes, bool with_kernels) {
  std::ofstream out(path);
  std::string text = "graph {\n  name: \"kernel_graph0\"\n";
  size_t written = 0;
  for (int number = 0; written < bytes; ++number) {
    write_ge_operator(text, number, with_kernels);
    out << text;
    written += text.size();
    text.clear();
  }
  out << "}\n";
}

}  // namespace bench
