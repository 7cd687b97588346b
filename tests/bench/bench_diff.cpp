// msdump diff, and what it does before and after the comparison: whole processes against cat of the same files, and its
// steps alone.
//
//   bench_diff [--runs N] [--scale PERCENT] [--keep] [--only PART] [--msdump PATH]
//
//   tensor      two tensors of 256 MiB, all metrics but KL, by dtype      against cat of both on as many cores
//   small       5000 pairs of .npy of 33 KB                               against cat of them all
//   rows        150 000 rows of statistic.csv against as many, as CSV     against cat of both
//   operators   a million operators against a million: equal names; one in a hundred inserted and one removed
//   device      a million operators against those that a compiler for the device makes of them: renamed, renumbered, one in
//               ten inserted, some without a kernel; beside the same by equal names, and with one in a hundred removed
//   stress      what is quadratic where something is done by hand: 200 000 operators of repeated layers, half of them
//               without a partner, all of one name and type; 100 000 operators without one
//   divergence  300 000 tensors that were compared: where do the differences come from
// All data lie under $TMPDIR, which should be in memory (/dev/shm).
#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "compare/dumps/unpaired_tensors.h"
#include "compare/match/pairing.h"
#include "divergence/divergence.h"
#include "dump/index/tensor_list.h"
#include "npy/npy.h"
#include "tensor/dtype.h"
#include "whole_process.h"

namespace fs = std::filesystem;

namespace {

using namespace msdump;
using bench::Options;

// ---- whole processes

// Noise of either sign around 1; `shift` changes the last bits of one element in eight, which is within any tolerance.
std::string noise(DType dtype, size_t bytes, bool shift) {
  std::string data(bytes, '\0');
  const size_t width = static_cast<size_t>(info(dtype).bits) / 8;
  uint64_t state = 0x9E3779B97F4A7C15;
  for (size_t at = 0; at + 8 <= bytes; at += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    char text[8];
    std::memcpy(text, &state, sizeof text);
    for (size_t last = width - 1; last < sizeof text; last += width)
      text[last] = static_cast<char>((text[last] & 0x80) | 0x3F);
    if (shift && at % 32 == 0) text[0] = static_cast<char>(text[0] ^ 1);
    std::memcpy(data.data() + at, text, sizeof text);
  }
  return data;
}

void write_array(const fs::path& path, DType dtype, const std::string& block, int times) {
  const auto count = static_cast<int64_t>(block.size() * static_cast<size_t>(times) * 8) / info(dtype).bits;
  // Stored as numpy would have to: bfloat16 in MindSpore's own way.
  std::string header = npy::make_header(dtype == DType::kBfloat16 ? DType::kFloat16 : dtype, {count});
  if (dtype == DType::kBfloat16) header.replace(header.find("<f2"), 3, "<E2");
  std::ofstream out(path, std::ios::binary);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (int i = 0; i < times; ++i) out.write(block.data(), static_cast<std::streamsize>(block.size()));
}

std::string array_name(int number) {
  return fmt::format(
      "MatMul.Default_network-Net_layer{}-Dense_MatMul-op{}.0.0.17339054468{:05}.output.0.DefaultFormat.npy", number,
      number, number);
}

// Differences are no failure here.
std::vector<std::string> diff(const Options& options, const fs::path& scratch) {
  return {"sh", "-c",
          fmt::format("{} diff -q {}/a {}/b --csv || [ $? = 1 ]", options.msdump, scratch.string(), scratch.string())};
}

// On as many cores as msdump uses.
std::vector<std::string> cat(const fs::path& scratch) {
  return {"sh", "-c", fmt::format("cat {0}/a/* > /dev/null & cat {0}/b/* > /dev/null; wait", scratch.string())};
}

void make_folders(const fs::path& scratch) {
  fs::remove_all(scratch / "a");
  fs::remove_all(scratch / "b");
  fs::create_directories(scratch / "a");
  fs::create_directories(scratch / "b");
}

void one_tensor(const Options& options, const fs::path& scratch) {
  constexpr size_t kBlock = size_t{16} << 20;
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64}) {
    make_folders(scratch);
    write_array(scratch / "a" / array_name(0), dtype, noise(dtype, kBlock, true), options.scaled(16));
    write_array(scratch / "b" / array_name(0), dtype, noise(dtype, kBlock, false), options.scaled(16));
    bench::compare({fmt::format("tensor, {}", name_of(dtype)), "cat", diff(options, scratch), cat(scratch)}, options);
  }
}

void small(const Options& options, const fs::path& scratch) {
  make_folders(scratch);
  const std::string a = noise(DType::kFloat16, size_t{128} * 128 * 2, true);
  const std::string b = noise(DType::kFloat16, size_t{128} * 128 * 2, false);
  const int pairs = options.scaled(5000);
  for (int i = 0; i < pairs; ++i) {
    write_array(scratch / "a" / array_name(i), DType::kFloat16, a, 1);
    write_array(scratch / "b" / array_name(i), DType::kFloat16, b, 1);
  }
  bench::compare({fmt::format("small, {} pairs", pairs), "cat", diff(options, scratch), cat(scratch)}, options);
}

// Three rows an operator; of `without` operators each hundredth is left out.
void write_table(const fs::path& folder, int rows, double change, bool without) {
  std::ofstream out(folder / "statistic.csv");
  out << "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm "
         "Value\n";
  for (int i = 0; i < rows; ++i) {
    const int op = i / 3, slot = i % 3;
    if (without && op % 100 == 7) continue;
    const double value = 1.0 + i % 977 / 100.0 * (1 + change);
    out << fmt::format(
        "MatMul,Default_network-TrainOneStepCell_backbone_decoder_layers_{}_attention_MatMul-op{},0,0,{},{},{},"
        "33554432,float32,\"({},1024,8)\",{:.6g},{:.6g},{:.6g},\n",
        op % 96, op, 1733905446819790 + op, slot == 2 ? "output" : "input", slot % 2, 1024 + i % 7, value, -value,
        value * 1000);
  }
}

void rows(const Options& options, const fs::path& scratch) {
  const int rows = options.scaled(150'000);
  for (const bool without : {false, true}) {
    make_folders(scratch);
    write_table(scratch / "a", rows, 1e-6, without);
    write_table(scratch / "b", rows, 0, false);
    bench::compare(
        {fmt::format("{} rows{}", rows, without ? ", 1 % alone" : ""), "cat", diff(options, scratch), cat(scratch)},
        options);
  }
}

// ---- steps

struct Spent {
  double wall = 0, cpu = 0;  // of all threads; on a machine that others use the second tells more
};

Spent spent_on(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t before = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC};
}

void print(const std::string& name, const Spent& spent, const std::string& what) {
  fmt::print("{:36} {:7.3f} s, CPU {:7.3f} s   {}\n", name, spent.wall, spent.cpu, what);
  std::fflush(stdout);
}

// The tensors of one side, made in memory: nothing is read.
class MadeSide {
 public:
  explicit MadeSide(const fs::path& folder) : index_(made_index(folder)) {}

  void add(std::string_view type, std::string_view name, uint32_t inputs = 0, const Shape* shape = nullptr) {
    TensorRecord record;
    record.has_elements = false;
    record.shape = shape;
    record.name.op_type = texts_.keep(type);
    record.name.op_name = texts_.keep(name);
    record.name.dtype = DType::kFloat32;
    record.name.io = Io::kInput;
    for (uint32_t slot = 0; slot < inputs; ++slot) {
      record.name.slot = std::string_view("0123456789").substr(slot % 10, 1);
      tensors_.push_back(record);
    }
    record.name.io = Io::kOutput;
    record.name.slot = "0";
    tensors_.push_back(record);
  }

  [[nodiscard]] CompareSide side() const {
    CompareSide side;
    side.index = &index_;
    side.tensors = &tensors_;
    return side;
  }

 private:
  static DumpIndex made_index(const fs::path& folder) {
    fs::create_directories(folder);
    std::ofstream(folder / "statistic.csv") << "";
    return std::move(*DumpIndex::build({folder.string()}, {}));
  }

  DumpIndex index_;
  TextArena texts_;
  std::vector<TensorRecord> tensors_;
};

constexpr int kOpsOfLayer = 40;
constexpr std::string_view kTypes[] = {"MatMul", "Add", "Mul", "Cast", "SiLU", "Transpose", "Reshape"};

// Operator `i` of repeated layers, numbered `number`.
void add_layer_op(MadeSide& side, int i, int number) {
  const int in_layer = i % kOpsOfLayer;
  const std::string_view type = kTypes[static_cast<size_t>(in_layer) % std::size(kTypes)];
  side.add(type, fmt::format("Default/network-TrainOneStepCell/_backbone-Llama/layers-CellList/{}-Block/w{}/{}-op{}",
                             i / kOpsOfLayer, in_layer / 4, type, number));
}

struct Paired {
  Pairing pairing;
  size_t pairs = 0;
};

Paired measure_pairing(const std::string& name, const MadeSide& a, const MadeSide& b) {
  Paired result;
  const Spent spent = spent_on([&] { result.pairing = pair_sides(a.side(), b.side()); });
  for (const OpPair& pair : result.pairing.operators) result.pairs += pair.how != PairedBy::kNothing ? 1 : 0;
  print(name, spent,
        fmt::format("{} against {}, {} paired", result.pairing.a.size(), result.pairing.b.size(), result.pairs));
  return result;
}

void operators(const Options& options, const fs::path& scratch) {
  const int count = options.scaled(1'000'000);
  MadeSide reference(scratch / "b"), same(scratch / "a"), changed(scratch / "c");
  int number = 0;
  for (int i = 0; i < count; ++i) {
    add_layer_op(reference, i, i);
    add_layer_op(same, i, i);
    if (i % 200 == 11) changed.add("Print", fmt::format("Default/Print-op{}", number++));
    if (i % 200 != 150) add_layer_op(changed, i, number++);
  }
  measure_pairing("operators, equal names", same, reference);
  measure_pairing("operators, 1 % inserted or removed", changed, reference);
}

// What a compiler for the device calls a type; empty: it has no kernel.
std::string_view device_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kDeviceTypes[] = {
      {"MatMul", "MatMulV2"}, {"SiLU", "Swish"}, {"Transpose", "TransposeD"}, {"Reshape", ""}};
  for (const auto& [host, device] : kDeviceTypes) {
    if (host == type) return device;
  }
  return type;
}

// Both sides number operators in their own way. `per_scope`: operators that have a scope in common.
void device(const Options& options, const fs::path& scratch) {
  const int count = options.scaled(1'000'000);
  const Shape shape = {8, 1024};
  for (const int per_scope : {4, 40, 4000}) {
    MadeSide host(scratch / "a"), same(scratch / "b"), changed(scratch / "c"), compiled(scratch / "d");
    for (int i = 0; i < count; ++i) {
      const std::string_view type = kTypes[static_cast<size_t>(i) % std::size(kTypes)];
      const auto name_of = [&](int number) {
        return fmt::format("Default/network-TrainOneStepCell/_backbone-Llama/layers-CellList/{}-Block/{}-op{}",
                           i / per_scope, type, number);
      };
      host.add(type, name_of(i), 2, &shape);
      same.add(type, name_of(i), 2, &shape);
      if (i % 100 != 50) changed.add(type, name_of(i - i / 100), 2, &shape);
      if (!device_type(type).empty()) compiled.add(device_type(type), name_of(i / 2), 2, &shape);
      if (i % 10 == 0) compiled.add("TransData", fmt::format("trans_TransData_{}", i), 1, &shape);
    }
    measure_pairing(fmt::format("{} a scope, equal names", per_scope), same, host);
    measure_pairing(fmt::format("{} a scope, 1 % removed", per_scope), changed, host);
    measure_pairing(fmt::format("{} a scope, a device's", per_scope), compiled, host);
  }
}

void stress(const Options& options, const fs::path& scratch) {
  const int count = options.scaled(200'000);
  {
    MadeSide a(scratch / "a"), b(scratch / "b");  // layers without numbers of their own: nothing is unique
    for (int i = 0; i < count; ++i) {
      const auto add = [&](MadeSide& side, int number) {
        const std::string_view type = kTypes[static_cast<size_t>(i % kOpsOfLayer) % std::size(kTypes)];
        side.add(type, fmt::format("Default/network/layer-Block/{}-op{}", type, number));
      };
      add(b, i);
      if (i != count / 3) add(a, i < count / 3 ? i : i - 1);
      if (i == count / 2) a.add("Print", "Default/Print-op0");
    }
    measure_pairing("stress, repeated layers", a, b);
  }
  {
    MadeSide a(scratch / "a"), b(scratch / "b");
    a.add("Print", "Default/Print-op0");
    b.add("Assert", "Default/Assert-op0");
    for (int i = 0; i < count; ++i) {
      a.add("MatMul", fmt::format("Default/MatMul-op{}", i + 1));
      b.add("MatMul", fmt::format("Default/MatMul-op{}", i));
    }
    a.add("Assert", "Default/Assert-op1");
    b.add("Print", "Default/Print-op1");
    measure_pairing("stress, all alike", a, b);
  }
  {
    MadeSide a(scratch / "a"), b(scratch / "b");
    for (int i = 0; i < count; ++i) {
      add_layer_op(b, i, i);
      if (i % 2 == 0) {
        add_layer_op(a, i, i / 2);
      } else {
        a.add("Custom", fmt::format("Default/other/{}/Custom-op{}", i, i));
      }
    }
    measure_pairing("stress, half without a partner", a, b);
  }
  {
    // Each operator becomes unique only after the one before it, and nothing is equal at the ends of a gap.
    MadeSide a(scratch / "a"), b(scratch / "b");
    for (int i = 0; i < count / 4; ++i) {
      for (const int name : {i + 1, i}) {
        a.add("A", fmt::format("Default/{}A{}/A-op0", name, i));
        b.add("B", fmt::format("Default/{}B{}/B-op0", name, i));
        if (name == 0) continue;
        a.add("Mul", fmt::format("Default/scope{}/Mul-op{}", name, i));
        b.add("Mul", fmt::format("Default/scope{}/Mul-op{}", name, i + 1));
      }
    }
    measure_pairing("stress, unique one after the other", a, b);
  }
  MadeSide a(scratch / "a"), b(scratch / "b");
  const int alone = options.scaled(100'000);
  for (int i = 0; i < alone; ++i) {
    a.add("Custom",
          fmt::format("Default/network-TrainOneStepCell/_backbone-Llama/layers-CellList/{}-Block/x{}/Add-op{}",
                      i / kOpsOfLayer, i % 7, i));
    add_layer_op(b, i, i);
  }
  const Paired paired = measure_pairing("stress, nothing has a partner", a, b);
  size_t found = 0;
  const Spent spent = spent_on([&] {
    WorkerPool pool(2);
    const std::vector<SequencedOpId> nearest = nearest_names(paired.pairing, pool);
    for (const SequencedOpId one : nearest) found += one == kNoId ? 0U : 1U;
  });
  print("stress, nearest names", spent,
        fmt::format("{} without a partner, {} nearest names", paired.pairing.operators.size(), found));
}

// Values that tell tensors apart, so that edges are found by them: the output of an operator is the next one's input.
TensorDiff made_diff(uint32_t value, Verdict verdict) {
  TensorDiff diff;
  diff.verdict = verdict;
  diff.by_statistics = true;
  diff.shape = Shape{1024};
  diff.scale = 1;
  kernels::PairMetrics metrics;
  metrics.max_b = 1.0 + value;
  metrics.min_b = -1.0 - value;
  metrics.mean_b = 0.25;
  diff.metrics = metrics;
  diff.relative_error = verdict == Verdict::kDiffer ? 0.1 : verdict == Verdict::kClose ? 1e-2 : 0.0;
  diff.dtype_a = diff.dtype_b = DType::kFloat32;
  return diff;
}

// `verdict_of` what an operator reads first, reads second, or writes.
enum class Part : uint8_t { kMainInput, kOtherInput, kOutput };

void measure_divergence(const std::string& name, const MadeSide& a, const MadeSide& b,
                        const std::function<Verdict(uint32_t, Part)>& verdict_of) {
  const Pairing pairing = pair_sides(a.side(), b.side());
  std::vector<TensorDiff> diffs;
  for (const TensorPair& pair : pairing.tensors) {
    if (!pair.is_paired()) {
      diffs.emplace_back().verdict = Verdict::kUnmatched;
      continue;
    }
    const NameFacts& facts = (*b.side().tensors)[pair.b].name;
    const Part part = facts.io == Io::kOutput ? Part::kOutput
                      : facts.slot == "0"     ? Part::kMainInput
                                              : Part::kOtherInput;
    const uint32_t value = part == Part::kMainInput ? pair.op
                           : part == Part::kOutput  ? pair.op + 1
                                                    : 1'000'000 + pair.op;
    diffs.push_back(made_diff(value, verdict_of(pair.op, part)));
  }
  DivergenceReport report;
  const Spent spent = spent_on([&] { report = find_divergences(a.side(), b.side(), pairing, diffs, ModuleTree()); });
  print(name, spent, fmt::format("{} tensors, {} roots", diffs.size(), report.roots.size()));
}

void divergence(const Options& options, const fs::path& scratch) {
  const int count = options.scaled(100'000);
  MadeSide a(scratch / "a"), b(scratch / "b"), other(scratch / "c");
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("Default/network/layers-CellList/{}-Block/MatMul-op{}", i / kOpsOfLayer, i);
    a.add("MatMul", name, 2);
    b.add("MatMul", name, 2);
    other.add("MatMul", name, 2);
    if (i % 100 == 50) other.add("Print", fmt::format("Default/Print-op{}", i), 2);
  }
  const auto middle = static_cast<uint32_t>(count / 2);
  const auto differs_if = [](bool wrong) { return wrong ? Verdict::kDiffer : Verdict::kSame; };
  const auto one_in_hundred = [&](uint32_t op, Part part) {
    return differs_if((op % 100 == 7 && part == Part::kOutput) || (op % 100 == 8 && part == Part::kMainInput));
  };
  measure_divergence("divergence, one root", a, b, [&](uint32_t op, Part part) {
    return differs_if(part != Part::kOtherInput && (op > middle || (op == middle && part == Part::kOutput)));
  });
  measure_divergence("divergence, a root in a hundred", a, b, one_in_hundred);
  measure_divergence("divergence, sources not known", a, b,
                     [&](uint32_t op, Part part) { return differs_if(op % 100 == 7 && part == Part::kOtherInput); });
  measure_divergence("divergence, operators of one side", other, b, one_in_hundred);
  measure_divergence("divergence, sources a little off", other, b,
                     [](uint32_t, Part part) { return part == Part::kOtherInput ? Verdict::kClose : Verdict::kSame; });
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = bench::parse(argc, argv);
  const bench::Scratch scratch(options);
  if (options.wants("tensor")) one_tensor(options, scratch.path());
  if (options.wants("small")) small(options, scratch.path());
  if (options.wants("rows")) rows(options, scratch.path());
  if (options.wants("operators")) operators(options, scratch.path());
  if (options.wants("device")) device(options, scratch.path());
  if (options.wants("stress")) stress(options, scratch.path());
  if (options.wants("divergence")) divergence(options, scratch.path());
  return 0;
}
