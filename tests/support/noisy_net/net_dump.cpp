#include "support/noisy_net/net_dump.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <Eigen/Core>

#include "graph/op_name.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump::noisy {
namespace {

namespace fs = std::filesystem;

// std::ofstream takes three times as long, and a net has a thousand files.
void write_file(const std::string& path, std::string_view content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ::write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    throw fs::filesystem_error("cannot write", path, std::error_code(errno, std::generic_category()));
  ::close(file);
}

template <class T, class Number = T>
std::string bytes_as(const Numbers& numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  for (size_t i = 0; i < numbers.size(); ++i) {
    const T one(static_cast<Number>(numbers[i]));
    std::copy_n(reinterpret_cast<const char*>(&one), sizeof(T), bytes.data() + i * sizeof(T));
  }
  return bytes;
}

struct Form {
  const char *descr, *name, *in_table;
  std::string (*bytes)(const Numbers&);
};

Form form_of(NumberKind kind, bool half) {
  switch (kind) {
    case NumberKind::kInt32: return {"<i4", "Int32", "int32", bytes_as<int32_t>};
    case NumberKind::kInt64: return {"<i8", "Int64", "int64", bytes_as<int64_t>};
    case NumberKind::kBool: return {"|b1", "Bool", "bool", bytes_as<bool>};
    case NumberKind::kFloat: break;
  }
  if (half) return {"<f2", "Float16", "float16", bytes_as<Eigen::half, float>};
  return {"<f4", "Float32", "float32", bytes_as<float>};
}

std::string shape_text(const Shape& shape, bool one_comma = false) {
  return fmt::format("{}{}", fmt::join(shape, ", "), one_comma && shape.size() == 1 ? "," : "");
}

std::string statistic_row(const NetNode& node, const std::string& name, uint64_t time, std::string_view io, size_t slot,
                          const Tensor& tensor, const Form& form) {
  double most = -std::numeric_limits<double>::infinity(), least = -most, sum = 0, squares = 0;
  for (const double x : tensor.v) {
    sum += x;
    squares += x * x;
    if (std::isnan(x)) continue;
    most = std::max(most, x);
    least = std::min(least, x);
  }
  return fmt::format("{},{},0,0,{},{},{},{},{},\"[{}]\",{:.6g},{:.6g},{:.6g},{:.6g},\n", node.type, name, time, io,
                     slot, form.bytes(tensor.v).size(), form.in_table, fmt::join(tensor.shape, ","), most, least,
                     sum / static_cast<double>(tensor.v.size()), std::sqrt(squares));
}

class DumpWriter {
 public:
  DumpWriter(const Net& net, const Arithmetic& how, const DumpForm& form) : net_(net), how_(how), form_(form) {}

  void write(const fs::path& folder, const StepValues& values) {
    fs::create_directories(folder);
    folder_ = folder.string() + "/";
    table_ =
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Avg Value,"
        "L2Norm Value\n";
    for (const NetNode& node : net_.nodes) write_node(node, values);
    if (form_.statistics) write_file(folder_ + "statistic.csv", table_);
  }

 private:
  // MindSpore leaves out what these have as a shape or a permutation.
  static bool is_hidden(const NetNode& node, const NetValue& value) {
    return value.kind == NumberKind::kInt64 && value.shape.size() == 1 &&
           (node.type == "Reshape" || node.type == "Transpose" || node.type.starts_with("Conv2DBackprop"));
  }

  void write_node(const NetNode& node, const StepValues& values) {
    const std::string name = normalised_op_name(node.name);
    const Arithmetic how = arithmetic_of(node, how_);
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
      const NetValue& value = net_.values[node.inputs[slot]];
      if (is_hidden(node, value)) continue;
      const bool updated = std::any_of(node.updates.begin(), node.updates.end(),
                                       [&](const auto& update) { return update.first == slot; });
      const bool half = value.from == NetValue::From::kOutput
                            ? is_half(arithmetic_of(net_.nodes[value.node], how_))
                            : value.from != NetValue::From::kConstant && !updated && is_half(how);
      write_tensor(node, name, "input", slot, values.shown(node, slot, how), form_of(value.kind, half));
    }
    for (size_t slot = 0; slot < node.outputs.size(); ++slot)
      write_tensor(node, name, "output", slot, values.values[node.outputs[slot]],
                   form_of(net_.values[node.outputs[slot]].kind, is_half(how)));
  }

  [[nodiscard]] bool is_half(const Arithmetic& how) const { return form_.half_files && how.store == Store::kFloat16; }

  void write_tensor(const NetNode& node, const std::string& name, std::string_view io, size_t slot,
                    const Tensor& tensor, const Form& form) {
    const uint64_t time = 1'700'000'000'000'000 + 40 * time_++;
    if (form_.statistics) {
      table_ += statistic_row(node, name, time, io, slot, tensor, form);
      return;
    }
    const std::string literal = fmt::format("({})", shape_text(tensor.shape, true));
    write_file(
        fmt::format("{}{}.{}.0.0.{}.{}.{}.DefaultFormat.{}.npy", folder_, node.type, name, time, io, slot, form.name),
        test::build_npy({.literal = test::npy_literal(form.descr, literal), .data = form.bytes(tensor.v)}));
  }

  const Net& net_;
  const Arithmetic& how_;
  const DumpForm& form_;
  std::string folder_, table_;
  uint64_t time_ = 0;
};

class IrText {
 public:
  explicit IrText(const Net& net) : net_(net), names_(net.values.size()) {}

  std::string text() {
    std::string parameters, body;
    size_t count = 0;
    for (Ref ref = 0; ref < net_.values.size(); ++ref) {
      const NetValue& value = net_.values[ref];
      if (value.from == NetValue::From::kConstant) {
        names_[ref] = constant(value);
      } else if (value.from != NetValue::From::kOutput) {
        names_[ref] = fmt::format("%para{}_{}", ++count, value.name);
        parameters += declaration(names_[ref], value);
      }
    }
    for (const NetNode& node : net_.nodes) body += operator_text(node);
    if (net_.loss != kAbsent) body += fmt::format("  Return({})\n      : ({})\n", names_[net_.loss], type(net_.loss));
    return fmt::format(
        "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Total params: {}\n# Params:\n{}\nsubgraph attr:\n"
        "subgraph instance: kernel_graph0 : 0x1\nsubgraph @kernel_graph0() {{\n{}}}\n",
        count, parameters, body);
  }

 private:
  static std::string element(NumberKind kind) {
    return kind == NumberKind::kInt32   ? "Int32"
           : kind == NumberKind::kInt64 ? "Int64"
           : kind == NumberKind::kBool  ? "Bool"
                                        : "Float32";
  }

  static std::string declaration(const std::string& name, const NetValue& value) {
    const std::string type = element(value.kind);
    if (value.from == NetValue::From::kInput)
      return fmt::format("{}: <Tensor[{}], ({})>\n", name, type, shape_text(value.shape));
    return fmt::format("{}: <Ref[Tensor[{}]], ({}), ref_key={}, is_parameter, is_inplace>  :  has_default\n", name,
                       type, shape_text(value.shape), value.name);
  }

  static std::string constant(const NetValue& value) {
    const char* kind = value.kind == NumberKind::kBool ? "Bool" : value.kind == NumberKind::kInt64 ? "I64" : "F32";
    if (!value.written) return fmt::format("Tensor(shape=[], dtype=Float32, value={:.6g})", value.initial[0]);
    if (value.shape.empty()) return fmt::format("{}({:.6g})", kind, value.initial[0]);
    std::string tuple;
    for (const double one : value.initial)
      tuple += fmt::format("{}I64({})", tuple.empty() ? "" : ", ", static_cast<int64_t>(one));
    return "(" + tuple + ")";
  }

  [[nodiscard]] std::string type(Ref ref) const {
    const NetValue& value = net_.values[ref];
    if (value.from != NetValue::From::kConstant || !value.written)
      return fmt::format("<Tensor[{}], ({})>", element(value.kind), shape_text(value.shape));
    if (value.shape.empty()) return fmt::format("<{}, NoShape>", element(value.kind));
    return fmt::format("<Tuple[Int64*{}], TupleShape({})>", value.initial.size(),
                       fmt::join(std::vector<std::string>(value.initial.size(), "NoShape"), ", "));
  }

  std::string operator_text(const NetNode& node) {
    std::string operands, types;
    for (const Ref input : node.inputs) {
      operands += (operands.empty() ? "" : ", ") + names_[input];
      types += (types.empty() ? "" : ", ") + type(input);
    }
    const size_t id = next_++;
    std::string attributes;
    if (node.epsilon != 0) attributes = fmt::format(" primitive_attrs: {{epsilon: F32({:.6g})}}", node.epsilon);
    if (node.type.starts_with("MaxPool")) {
      attributes =
          " primitive_attrs: {kernel_size: (1, 1, 2, 2), strides: (1, 1, 2, 2), pad_mode: \"VALID\", format: \"NCHW\"}";
    }
    std::string results = type(node.outputs[0]);
    if (node.outputs.size() > 1) {
      std::string shapes;
      for (const Ref output : node.outputs)
        shapes += fmt::format("{}({})", shapes.empty() ? "" : ", ", shape_text(net_.values[output].shape));
      results = fmt::format("<Tuple[Tensor[Float32]*{}], TupleShape({})>", node.outputs.size(), shapes);
    }
    std::string text = fmt::format("  %{}(CNode_{}) = {}{}({}){}\n      : ({}) -> ({})\n", id, id, "PrimFunc_",
                                   node.type, operands, attributes, types, results);
    text +=
        fmt::format("      # Fullname with scope: ({})\n      # In file /home/user/net.py:{}, 8~20/        x = f(x)/\n",
                    node.name, node.line);
    names_[node.outputs[0]] = fmt::format("%{}", id);
    if (node.outputs.size() == 1) return text;
    for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
      const Ref output = node.outputs[slot];
      const size_t item = next_++;
      names_[output] = fmt::format("%{}", item);
      text += fmt::format(
          "  %{}(CNode_{}) = TupleGetItem(%{}, I64({}))\n      : ({}, <Int64, NoShape>) -> ({})\n"
          "      # Fullname with scope: ({}/TupleGetItem-op{})\n",
          item, item, id, slot, results, type(output), node.scope, item);
    }
    return text;
  }

  const Net& net_;
  std::vector<std::string> names_;
  size_t next_ = 0;
};

}  // namespace

std::string ir_of(const Net& net) { return IrText(net).text(); }

void write_dump(const fs::path& folder, const Net& net, const std::vector<StepValues>& steps, const Arithmetic& how,
                const DumpForm& form) {
  const fs::path rank = folder / "rank_0";
  DumpWriter writer(net, how, form);
  for (size_t step = 0; step < steps.size(); ++step)
    writer.write(rank / "Net" / "0" / std::to_string(step), steps[step]);
  if (!form.ir || net.loops) return;
  fs::create_directories(rank / "graphs");
  fs::create_directories(rank / ".dump_metadata");
  test::write_bytes(rank / ".dump_metadata" / "config.json", "{\"ms_version\":\"2.10.0\"}");
  test::write_bytes(rank / "graphs" / "ms_output_trace_code_graph_0.ir", ir_of(net));
}

}  // namespace msdump::noisy
