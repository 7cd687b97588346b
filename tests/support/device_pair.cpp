#include "support/device_pair.h"

#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "compare/dumps/unpaired_tensors.h"
#include "graph/op_name.h"
#include "io/worker_pool.h"
#include "support/dump_builder.h"
#include "support/statistics_run.h"

namespace msdump {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kInsertedName = "trans_TransData_1";

// FNV-1a, then an LCG: the same numbers everywhere.
std::vector<float> values_of(const PairTensor& tensor, bool device) {
  uint64_t state = 14695981039346656037U;
  for (const char c : tensor.text) state = (state ^ static_cast<unsigned char>(c)) * 1099511628211U;
  std::vector<float> values;
  for (int64_t i = 0; i < tensor.elements; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    float value = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1);
    if (tensor.constant) value = *tensor.constant;
    if (device) value *= 1 + 1e-3F * std::sin(static_cast<float>(i));
    values.push_back(value * tensor.factor);
  }
  return values;
}

std::string bytes_of_tensor(const PairTensor& tensor, bool device) {
  if (tensor.integer) {
    std::string bytes;
    for (const float value : values_of(tensor, false)) test::put_u64(bytes, static_cast<uint64_t>(100 + 50 * value));
    return bytes;
  }
  const std::vector<float> values = values_of(tensor, device);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class DumpWriter {
 public:
  DumpWriter(fs::path dump, bool device, bool statistics)
      : dump_(std::move(dump)), device_(device), statistics_(statistics) {}

  void write(const std::vector<PairOp>& operators) {
    for (const PairOp& op : operators) write(op);
    for (const auto& [folder, rows] : rows_) {
      test::write_bytes(folder / "statistic.csv",
                        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,"
                        "Min Value\n" +
                            rows);
    }
  }

  void write_ir(const std::vector<PairOp>& operators) const {
    std::string text = "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Params:\n";
    text += "%para1_x: <Tensor[Float32], (48)>\n";
    text += "\nsubgraph attr:\nsubgraph instance: kernel_graph0 : 0x1\nsubgraph @kernel_graph0() {\n";
    std::map<std::string, size_t> made;
    for (size_t i = 0; i < operators.size(); ++i) {
      std::string operands;
      for (const PairTensor& input : operators[i].inputs) {
        const auto found = made.find(input.text);
        operands += (operands.empty() ? "" : ", ");
        operands += found == made.end() ? "%para1_x" : fmt::format("%{}", found->second);
      }
      text += test::node_text(fmt::format("%{}", i), operators[i].type, operands, operators[i].name);
      for (const PairTensor& output : operators[i].outputs) made[output.text] = i;
    }
    const fs::path rank = dump_ / "rank_0";
    fs::create_directories(rank / "graphs");
    fs::create_directories(rank / ".dump_metadata");
    test::write_bytes(rank / ".dump_metadata" / "config.json", "{\"ms_version\":\"2.10.0\"}");
    test::write_bytes(rank / "graphs" / "ms_output_trace_code_graph_0.ir", text + "}\n");
  }

 private:
  void write(const PairOp& op) {
    folder_ = dump_ / fmt::format("rank_{}", op.rank) / "Net" / "0" / std::to_string(op.step);
    fs::create_directories(folder_);
    stem_ = fmt::format("{}.{}.0.0.{}", op.type, normalised_op_name(op.name), 1'700'000'000'000'000 + time_++);
    const auto binary = [](const PairTensor& tensor) { return !tensor.original_op.empty(); };
    if (std::any_of(op.outputs.begin(), op.outputs.end(), binary)) return write_binary(op);
    write(op, op.inputs, "input");
    write(op, op.outputs, "output");
  }

  void write(const PairOp& op, const std::vector<PairTensor>& tensors, std::string_view io) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const PairTensor& tensor = tensors[i];
      const int slot = tensor.number.value_or(static_cast<int>(i));
      const std::string_view dtype = tensor.integer ? "Int64" : "Float32";
      if (statistics_) {
        rows_[folder_] +=
            fmt::format("{},{},0,0,{},{},{},{},{},\"({})\",1,-1\n", op.type, normalised_op_name(op.name),
                        1'700'000'000'000'000 + time_, io, slot, 4 * tensor.elements, dtype, tensor.elements);
        continue;
      }
      const std::string name = fmt::format("{}.{}.{}.DefaultFormat.{}.npy", stem_, io, slot, dtype);
      test::write_bytes(folder_ / name, test::npy_of(tensor.integer ? "<i8" : "<f4", {tensor.elements},
                                                     bytes_of_tensor(tensor, device_)));
    }
  }

  void write_binary(const PairOp& op) const {
    test::DumpSpec spec;
    spec.op_name = op.name;
    const auto add = [&](const PairTensor& tensor, test::TensorSpec::Part part) {
      test::TensorSpec made;
      made.part = part;
      made.shape = made.original_shape = test::Dims{static_cast<uint64_t>(tensor.elements)};
      made.data = bytes_of_tensor(tensor, device_);
      made.original_op = tensor.original_op;
      made.original_output = tensor.original_output;
      spec.tensors.push_back(std::move(made));
    };
    for (const PairTensor& tensor : op.inputs) add(tensor, test::TensorSpec::kInput);
    for (const PairTensor& tensor : op.outputs) add(tensor, test::TensorSpec::kOutput);
    test::write_bytes(folder_ / stem_, test::build_dump(spec));
  }

  const fs::path dump_;
  const bool device_, statistics_;
  fs::path folder_;
  std::string stem_;
  int time_ = 0;
  std::map<fs::path, std::string> rows_;
};

std::string text_of_tensor(const CompareSide& side, RecordId tensor) {
  if (tensor == kNoId) return {};
  const NameFacts& name = (*side.tensors)[tensor].name;
  return fmt::format("{}.{}{}", name.op_type, name.io == Io::kInput ? 'i' : 'o', name.slot);
}

}  // namespace

PairTensor PairTensor::sized(int64_t count) const {
  PairTensor made = *this;
  made.elements = count;
  return made;
}
PairTensor PairTensor::ints(int64_t count) const {
  PairTensor made = sized(count);
  made.integer = true;
  return made;
}
PairTensor PairTensor::all(float value) const {
  PairTensor made = *this;
  made.constant = value;
  return made;
}
PairTensor PairTensor::times(float by) const {
  PairTensor made = *this;
  made.factor = by;
  return made;
}
PairTensor PairTensor::once(std::string op, uint32_t output) const {
  PairTensor made = *this;
  made.original_op = std::move(op);
  made.original_output = output;
  return made;
}
PairTensor PairTensor::slot(int at) const {
  PairTensor made = *this;
  made.number = at;
  return made;
}

DevicePair::DevicePair(const std::vector<PairOp>& device, const std::vector<PairOp>& host,
                       const DevicePairOptions& options)
    : options_(options) {
  std::vector<PairOp> all = device;
  if (options.with_trans_data) all.push_back({"TransData", std::string(kInsertedName), {"inserted"}, {"inserted"}});
  const fs::path of_device = scratch_.path() / "device", of_host = scratch_.path() / "host";
  DumpWriter(of_device, true, options.statistics).write(all);
  DumpWriter writer(of_host, false, false);
  writer.write(host);
  if (options.ir) writer.write_ir(host);
  compared_ = options.device_is_a ? std::make_unique<test::ComparedDumps>(of_device, of_host)
                                  : std::make_unique<test::ComparedDumps>(of_host, of_device);
}

std::string DevicePair::text_of(const TensorPair& pair) const {
  const std::string a = text_of_tensor(compared_->a(), pair.a), b = text_of_tensor(compared_->b(), pair.b);
  return options_.device_is_a ? fmt::format("{}={}", a, b) : fmt::format("{}={}", b, a);
}

bool DevicePair::is_default(const TensorPair& pair) const { return pairing().op_name(pair.op) == kInsertedName; }

Texts DevicePair::tensors() const {
  Texts texts;
  for (const TensorPair& pair : pairing().tensors) {
    if (!is_default(pair)) texts.push_back(text_of(pair));
  }
  return texts;
}

Texts DevicePair::alone() const {
  WorkerPool pool(1);
  const std::vector<Error> none;
  const UnpairedReasons unpaired({{compared_->a(), none}, {compared_->b(), none}}, pairing(), pool);
  Texts texts;
  for (const TensorPair& pair : pairing().tensors) {
    if (is_default(pair) || (pair.is_paired())) continue;
    const TensorDiff diff = unpaired.explain(pair);
    const char* const mark = diff.verdict == Verdict::kSkipped ? "" : "?";
    texts.push_back(fmt::format("{}{}: {}", mark, text_of(pair), *diff.reason));
  }
  return texts;
}

Texts DevicePair::operators() const {
  Texts texts;
  for (const OpPair& pair : pairing().operators) {
    if (!pair.is_paired()) continue;
    const std::string& a = pairing().a[pair.a].name;
    const std::string& b = pairing().b[pair.b].name;
    texts.push_back(normalised_op_name(options_.device_is_a ? a + "=" + b : b + "=" + a));
  }
  return texts;
}

}  // namespace msdump
