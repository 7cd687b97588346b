// Fused operators of a device against the operators that they stand for.
#include "divergence/partner_questions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "divergence/computed_outputs.h"
#include "io/worker_pool.h"
#include "support/catch.h"
#include "support/compare_run.h"
#include "support/must.h"
#include "support/paths.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;

struct FileValues {
  std::vector<int64_t> shape;
  std::vector<float> data;
};

// Numbers around 1, other ones for each seed.
FileValues file_numbers(std::vector<int64_t> shape, uint64_t seed) {
  int64_t count = 1;
  for (const int64_t length : shape) count *= length;
  FileValues values{std::move(shape), {}};
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    values.data.push_back(static_cast<float>(0.5 + static_cast<double>(seed >> 40) / 16777216.0));
  }
  return values;
}

// Writes the files of the operators of one dump.
class PairWriter {
 public:
  explicit PairWriter(fs::path dump) : dump_(std::move(dump)) {}

  void op(const std::string& type, const std::string& name, const std::vector<FileValues>& inputs,
          const FileValues& output) {
    for (size_t i = 0; i < inputs.size(); ++i) write(type, name, "input", i, inputs[i]);
    write(type, name, "output", 0, output);
    time_ += 10;
  }
  // Of the operators that follow.
  void begin_step(int step) {
    step_ = step;
    fs::create_directories(dump_ / "rank_0" / "Net" / "0" / std::to_string(step));
  }
  void ir(const std::string& nodes, const std::string& parameters = {}) const {
    const fs::path rank = dump_ / "rank_0";
    test::write_bytes(rank / ".dump_metadata" / "config.json", "{\"ms_version\":\"2.10.0\"}");
    std::string text = test::ir_text(nodes);
    text.insert(text.find("\nsubgraph attr"), parameters);
    test::write_bytes(rank / "graphs" / "ms_output_trace_code_graph_0.ir", text);
  }

 private:
  void write(const std::string& type, const std::string& name, std::string_view io, size_t slot,
             const FileValues& values) {
    const std::string file = fmt::format("{}.{}.0.0.{}.{}.{}.DefaultFormat.Float32.npy", type, name,
                                         1'700'000'000'000'000 + time_++, io, slot);
    const std::string bytes(reinterpret_cast<const char*>(values.data.data()), 4 * values.data.size());
    test::write_bytes(dump_ / "rank_0" / "Net" / "0" / std::to_string(step_) / file,
                      test::npy_of("<f4", values.shape, bytes));
  }

  const fs::path dump_;
  int time_ = 0, step_ = 0;
};

// Both dumps of a network, compared.
class FusedPair {
  const test::ScratchDir scratch_;

 public:
  PairWriter device{scratch_.path() / "a"}, host{scratch_.path() / "b"};

  FusedPair() {
    for (const char* const side : {"a", "b"}) {
      fs::create_directories(scratch_.path() / side / "rank_0" / "Net" / "0" / "0");
      fs::create_directories(scratch_.path() / side / "rank_0" / "graphs");
      fs::create_directories(scratch_.path() / side / "rank_0" / ".dump_metadata");
    }
  }

  // By a type that only devices have.
  void mark_device() {
    const FileValues moved = file_numbers({7}, 99);
    device.op("TransData", "trans_TransData_1", {moved}, moved);
  }

  // The state of the only output that the reference's operator of this name has.
  [[nodiscard]] ComputedState state_of(std::string_view name) {
    compute();
    for (TensorId pair{0}; pair < compared_->pairing().tensors.size(); ++pair) {
      const TensorPair& tensors = compared_->pairing().tensors[pair];
      if (!tensors.is_paired() || (*compared_->b().tensors)[tensors.b].name.io != Io::kOutput) continue;
      if (compared_->pairing().b[compared_->pairing().operators[tensors.op].b].name == name)
        return computed_.state(pair);
    }
    FAIL("no output of " << name);
    return ComputedState::kUnknown;
  }
  [[nodiscard]] const ComputedOutputs& computed() {
    compute();
    return computed_;
  }
  [[nodiscard]] const Pairing& pairing() const { return compared_->pairing(); }

 private:
  void compute() {
    if (compared_) return;
    compared_ = std::make_unique<test::ComparedDumps>(scratch_.path() / "a", scratch_.path() / "b");
    WorkerPool pool(1);
    const CancelToken cancel;
    computed_ = test::must(compute_outputs(compared_->a(), compared_->b(), compared_->pairing(), compared_->diffs(),
                                           recompute::Extent::kSampled, RunContext{pool, cancel}));
  }

  std::unique_ptr<test::ComparedDumps> compared_;
  ComputedOutputs computed_;
};

FileValues product_and_sum(const FileValues& a, const FileValues& b, const FileValues& c, float factor) {
  FileValues result = a;
  for (size_t i = 0; i < a.data.size(); ++i) result.data[i] = a.data[i] * b.data[i] + factor * c.data[i];
  return result;
}

// a b + factor c, computed from other values than the reference's: the inputs differ, and so does the output.
std::unique_ptr<FusedPair> multiply_add(float factor) {
  auto pair = std::make_unique<FusedPair>();
  const FileValues a = file_numbers({48}, 1), b = file_numbers({48}, 2), c = file_numbers({48}, 3);
  FileValues other = a;
  for (float& value : other.data) value *= 1.01F;
  FileValues product = a;
  for (size_t i = 0; i < a.data.size(); ++i) product.data[i] = a.data[i] * b.data[i];
  pair->host.op("Mul", "Default_n_Mul-op0", {a, b}, product);
  pair->host.op("Add", "Default_n_Add-op0", {product, c}, product_and_sum(a, b, c, 1));
  pair->host.ir(test::node_text("%0", "Mul", "%para1_x, %para2_w", "Default/n/Mul-op0") +
                test::node_text("%1", "Add", "%0, %para2_w", "Default/n/Add-op0"));
  pair->mark_device();
  pair->device.op("FusedMulAdd", "Default_n_FusedMulAdd-op9", {other, b, c}, product_and_sum(other, b, c, factor));
  return pair;
}

// A convolution of 1 x 1 and a batch normalisation; the device folded that with `epsilon` and writes `factor` times the output.
std::unique_ptr<FusedPair> convolution(double epsilon, float factor) {
  auto pair = std::make_unique<FusedPair>();
  const FileValues x = file_numbers({1, 2, 3, 5}, 1), w = file_numbers({3, 2, 1, 1}, 2);
  const FileValues gamma = file_numbers({3}, 3), beta = file_numbers({3}, 4), mean = file_numbers({3}, 5),
                   variance = file_numbers({3}, 6);
  const auto convolved = [&](const FileValues& filter, const std::vector<float>& bias, float times) {
    FileValues y{{1, 3, 3, 5}, std::vector<float>(45)};
    for (size_t o = 0; o < 3; ++o) {
      for (size_t i = 0; i < 15; ++i)
        y.data[o * 15 + i] =
            times * (filter.data[o * 2] * x.data[i] + filter.data[o * 2 + 1] * x.data[15 + i] + bias[o]);
    }
    return y;
  };
  const auto folded = [&](double eps, FileValues& filter, std::vector<float>& bias) {
    for (size_t o = 0; o < 3; ++o) {
      const auto scale = static_cast<float>(gamma.data[o] / std::sqrt(variance.data[o] + eps));
      for (size_t c = 0; c < 2; ++c) filter.data[o * 2 + c] *= scale;
      bias.push_back(beta.data[o] - mean.data[o] * scale);
    }
  };
  FileValues filter = w, own_filter = w;
  std::vector<float> bias, own_bias;
  folded(1e-5, filter, bias);
  folded(epsilon, own_filter, own_bias);
  const FileValues y = convolved(w, {0, 0, 0}, 1), normalised = convolved(filter, bias, 1);
  pair->host.op("Conv2D", "Default_n_Conv2D-op0", {x, w}, y);
  pair->host.op("BatchNorm", "Default_n_BatchNorm-op0", {y, gamma, beta, mean, variance}, normalised);
  const std::string conv = test::node_text("%0", "Conv2D", "%para1_x, %para2_w", "Default/n/Conv2D-op0");
  const std::string attributes =
      " primitive_attrs: {stride: (1, 1, 1, 1), pad_list: (0, 0, 0, 0), pad_mode: \"valid\", group: I64(1), dilation: "
      "(1, 1, 1, 1), format: \"NCHW\"}";
  pair->host.ir(std::string(conv).insert(conv.find('\n'), attributes) +
                test::node_text("%1", "BatchNorm",
                                "%0, %para2_w, %para2_w, %para2_w, %para2_w, Bool(0), F32(1e-05), F32(0.1), I64(0)",
                                "Default/n/BatchNorm-op0") +
                test::node_text("%2", "TupleGetItem", "%1, I64(0)", "Default/n/TupleGetItem-op0") +
                test::node_text("%3", "ReLU", "%2", "Default/n/ReLU-op0"));
  // Only outputs that something reads are known to be written.
  const auto positive = [](FileValues values) {
    for (float& value : values.data) value = std::max(value, 0.0F);
    return values;
  };
  pair->host.op("ReLU", "Default_n_ReLU-op0", {normalised}, positive(normalised));
  const FileValues written = convolved(own_filter, own_bias, factor);
  pair->mark_device();
  pair->device.op("Conv2D", "Default_n_Conv2D-op5Default_n_BatchNorm-op6", {x, own_filter, {{3}, own_bias}}, written);
  pair->device.op("Relu", "Default_n_ReLU-op7", {written}, positive(written));
  return pair;
}

// kByCopyOfSmall: float16 holds the numbers of bfloat16, too. kByCopyOfMany: more elements than are read at once.
enum class Shown : uint8_t { kByReader, kByCopy, kByCopyOfFew, kByCopyOfSmall, kByCopyOfMany, kByStepBefore };

// Momentum in place: files have what it left behind. The candidate has other gradients, and `rate` times the learning rate. The
// reference's accumulator starts the second step at `kept` times what the first one left. `right` updates beside it are right.
std::unique_ptr<FusedPair> update(Shown shown, float rate, float kept = 1, int right = 0) {
  auto pair = std::make_unique<FusedPair>();
  const auto write = [&](PairWriter& dump, float gradients, float of_rate, float of_state) {
    const bool copies = &dump == &pair->device && shown != Shown::kByReader && shown != Shown::kByStepBefore;
    const auto copy_of = [](FileValues values) {
      for (float& value : values.data) {  // to bfloat16, ties to even
        const auto bits = std::bit_cast<uint32_t>(value);
        value = std::bit_cast<float>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF'0000U);
      }
      return values;
    };
    const int64_t count = shown == Shown::kByCopyOfFew ? 3 : shown == Shown::kByCopyOfMany ? 70'000 : 40;
    const auto numbers = [&](uint64_t seed) {
      FileValues values = file_numbers({count}, seed);
      for (float& value : values.data) value *= shown == Shown::kByCopyOfSmall ? 0x1p-16F : 1;
      return values;
    };
    FileValues var = numbers(1), acc = numbers(2);
    const FileValues lr{{}, {0.01F}}, momentum{{}, {0.9F}};
    const auto step = [&](uint64_t seed) {
      FileValues grad = numbers(seed);
      const FileValues read = copies ? copy_of(var) : var;
      if (shown != Shown::kByStepBefore) dump.op("ReLU", "Default_n_ReLU-op0", {read}, read);
      for (size_t i = 0; i < var.data.size(); ++i) {
        grad.data[i] *= gradients;
        acc.data[i] = 0.9F * acc.data[i] + grad.data[i];
        // As in a first step: the state is a gradient of 16 bits.
        if (seed == 3 && shown == Shown::kByStepBefore) acc.data[i] = std::nearbyint(acc.data[i] * 128) / 128;
        var.data[i] -= of_rate * 0.01F * acc.data[i];
      }
      dump.op("ApplyMomentum", "Default_opt_ApplyMomentum-op0", {var, acc, lr, grad, momentum}, var);
    };
    step(3);
    for (int i = 1; i <= right; ++i) {
      FileValues weight = numbers(10 + static_cast<uint64_t>(i)), state = numbers(2);
      FileValues grad = numbers(3);
      const FileValues read = copies ? copy_of(weight) : weight;
      dump.op("ReLU", fmt::format("Default_m{}_ReLU-op0", i), {read}, read);
      for (size_t k = 0; k < state.data.size(); ++k) {
        grad.data[k] *= gradients;
        state.data[k] = 0.9F * state.data[k] + grad.data[k];
        weight.data[k] -= 0.01F * state.data[k];
      }
      dump.op("ApplyMomentum", fmt::format("Default_opt{}_ApplyMomentum-op0", i), {weight, state, lr, grad, momentum},
              weight);
    }
    const FileValues other = file_numbers({40}, 5);
    if (shown == Shown::kByCopyOfFew) {  // most outputs show what the device computes with
      for (const char* const name : {"Default_n_ReLU-op1", "Default_n_ReLU-op2"})
        dump.op("ReLU", name, {other}, copies ? copy_of(other) : other);
    }
    if (shown != Shown::kByStepBefore) return;
    for (float& value : acc.data) value *= of_state;
    dump.begin_step(1);
    step(4);
  };
  write(pair->host, 1, 1, kept);
  write(pair->device, 1.01F, rate, 1);
  std::string others, parameters;
  for (int i = 1; i <= right; ++i) {
    const std::string weight = fmt::format("%para{}_w{}", 2 * i + 1, i),
                      state = fmt::format("%para{}_s{}", 2 * i + 2, i);
    for (const std::string& parameter : {weight, state})
      parameters += parameter + fmt::format(": <Ref[Tensor[Float32]], (2, 2), ref_key={}>\n", parameter);
    others += test::node_text(fmt::format("%{}", 2 * i + 2), "ReLU", weight, fmt::format("Default/m{}/ReLU-op0", i)) +
              test::node_text(fmt::format("%{}", 2 * i + 3), "ApplyMomentum",
                              fmt::format("{}, {}, F32(0.01), %para2_x, F32(0.9)", weight, state),
                              fmt::format("Default/opt{}/ApplyMomentum-op0", i));
  }
  for (PairWriter* const dump : {&pair->device, &pair->host}) {
    dump->ir(test::node_text("%0", "ReLU", "%para1_w", "Default/n/ReLU-op0") +
                 test::node_text("%1", "ApplyMomentum", "%para1_w, %para2_x, F32(0.01), %para2_x, F32(0.9)",
                                 "Default/opt/ApplyMomentum-op0") +
                 test::node_text("%2", "ReLU", "%para2_x", "Default/n/ReLU-op1") +
                 test::node_text("%3", "ReLU", "%para2_x", "Default/n/ReLU-op2") + others,
             parameters);
  }
  return pair;
}

}  // namespace

TEST_CASE("a fused operator is right if its members lead from what it read to what it wrote") {
  const auto right = multiply_add(1);
  CHECK(right->state_of("Default/n/Add-op0") == ComputedState::kRight);
  CHECK(right->computed().wrong.empty());
  // The product is within it, and not missing.
  const auto& operators = right->pairing().operators;
  const auto is_product = [&](OperatorId op) { return right->pairing().b[operators[op].b].type == "Mul"; };
  const std::set<OperatorId>& fused = right->computed().fused;
  CHECK(std::any_of(fused.begin(), fused.end(), is_product));
  const auto wrong = multiply_add(1.5F);
  CHECK(wrong->state_of("Default/n/Add-op0") == ComputedState::kWrong);
}

TEST_CASE("a folded filter is what the reference's parameters lead to, whatever the filter was") {
  const auto right = convolution(1e-5, 1);
  CHECK(right->computed().folded.size() == 2);
  CHECK(right->computed().misfolded.empty());
  CHECK(right->computed().wrong.empty());

  const auto other_epsilon = convolution(0.1, 1);
  CHECK(other_epsilon->state_of("Default/n/BatchNorm-op0") == ComputedState::kRight);  // of its own filter
  CHECK(other_epsilon->computed().folded.size() == 2);
  CHECK(other_epsilon->computed().misfolded.size() == 1);

  const auto wrong = convolution(1e-5, 2);
  CHECK(wrong->state_of("Default/n/BatchNorm-op0") == ComputedState::kWrong);
  CHECK(wrong->computed().misfolded.empty());
}

TEST_CASE("an update is computed again from what a reader before it, or the step before, shows of its state") {
  const Shown shown = GENERATE(Shown::kByReader, Shown::kByStepBefore);
  CHECK(update(shown, 1)->computed().wrong.empty());
  CHECK(!update(shown, 1)->computed().right.empty());
  CHECK(!update(shown, 0.5F)->computed().wrong.empty());
}

TEST_CASE("a state that the reference did not keep from step to step shows nothing") {
  CHECK(update(Shown::kByStepBefore, 0.5F, 2)->computed().wrong.empty());
}

TEST_CASE("an update must follow from the copy of its parameter in 16 bits, to half a unit of the copy") {
  const auto is_update = [](const auto& one) { return one.second.output.name == "var"; };
  const auto any_update = [&](const auto& outputs) { return std::any_of(outputs.begin(), outputs.end(), is_update); };
  const Shown shown = GENERATE(Shown::kByCopy, Shown::kByCopyOfFew, Shown::kByCopyOfSmall, Shown::kByCopyOfMany);
  const auto right = update(shown, 1);
  CHECK(any_update(right->computed().right));
  if (shown == Shown::kByCopyOfFew) return;
  // It is wrong only if four others follow from theirs: a device may make its copies in another way.
  const int others = GENERATE(3, 4);
  const auto wrong = update(shown, 1.7F, 1, others);
  CHECK(std::count_if(wrong->computed().right.begin(), wrong->computed().right.end(), is_update) == others);
  CHECK(any_update(wrong->computed().wrong) == (others == 4));
}

}  // namespace msdump
