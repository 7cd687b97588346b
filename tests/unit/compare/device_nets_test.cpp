// Random networks on a host and on a device: what the pairing says, against what is so by construction.
#include <memory>

#include <fmt/format.h>

#include "compare/match/device/device_name.h"
#include "compare/match/pairing.h"
#include "support/catch.h"
#include "support/compare_run.h"
#include "support/device_net/device_net.h"
#include "support/growth.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::DeviceNet;
using test::NetTensor;

NetTensor tensor_in(const CompareSide& side, uint32_t index) {
  const TensorRecord& record = (*side.tensors)[index];
  const std::string path = side.index->path_of(side.index->files()[record.file]);
  return {path.substr(path.rfind('/') + 1), record.name.io,
          static_cast<uint32_t>(std::stoul(std::string(record.name.slot)))};
}

std::string text_of(const NetTensor& tensor) {
  return fmt::format("{} {}:{}", tensor.file, name_of(tensor.io), tensor.slot);
}

// Two dumps and their pairing, the device's first.
struct PairedNet {
  explicit PairedNet(const std::filesystem::path& dir)
      : device(test::join_dump(dir / "device", Headers::kAll)),
        host(test::join_dump(dir / "host", Headers::kAll)),
        a(test::side_of(device)),
        b(test::side_of(host)) {}
  [[nodiscard]] Pairing pairing() const { return pair_sides(a, b); }

  const test::JoinedDump device, host;
  const CompareSide a, b;
};

struct NetScore {
  size_t tensors = 0, right = 0, wrong_pairs = 0;
  std::vector<std::string> misses;

  void count(const DeviceNet& truth, const PairedNet& net, uint64_t seed) {
    tensors += truth.device.size() + truth.host.size();
    const Pairing pairing = net.pairing();
    for (const TensorPair& pair : pairing.tensors) {
      const bool both = pair.is_paired();
      bool good = false;
      std::string text = fmt::format("seed {}:", seed);
      if (pair.a != kNoId) {
        const NetTensor device = tensor_in(net.a, pair.a);
        const DeviceNet::Device& known = truth.device.at(device);
        good = both ? known.partner == tensor_in(net.b, pair.b) : known.alone.count(pair.alone) != 0;
        text += " " + text_of(device) + (known.partner ? " (is " + text_of(*known.partner) + ")" : "");
      }
      if (pair.b != kNoId) {
        const NetTensor host = tensor_in(net.b, pair.b);
        if (!both) good = truth.host.at(host).count(pair.alone) != 0;
        text += " = " + text_of(host);
      }
      if (!both) text += fmt::format(" alone {}", static_cast<int>(pair.alone));
      if (good) right += both ? 2 : 1;
      if (both && !good) ++wrong_pairs;
      if (!good) misses.push_back(text);
    }
  }
};

void check_seeds(uint64_t first, uint64_t last) {
  NetScore score;
  for (uint64_t seed = first; seed <= last; ++seed) {
    const test::ScratchDir scratch;
    const DeviceNet truth = test::write_device_net(seed, scratch.path());
    score.count(truth, PairedNet(scratch.path()), seed);
  }
  const double share = static_cast<double>(score.right) / static_cast<double>(score.tensors);
  const double wrong = static_cast<double>(score.wrong_pairs) / static_cast<double>(score.tensors);
  WARN(fmt::format("networks {} to {}: {} tensors, {:.2f} % paired or skipped rightly, {} wrong pairs ({:.3f} %)",
                   first, last, score.tensors, 100 * share, score.wrong_pairs, 100 * wrong));
  std::string misses;
  for (const std::string& miss : score.misses) misses += miss + "\n";
  INFO(misses);
  CHECK(share >= 0.99);
  CHECK(wrong < 0.001);
}

// Two dumps of statistics alone: rows of a type and a name.
class StatisticNets {
 public:
  void add(std::string_view type, std::string_view name, std::string& text) const {
    for (const char* const io : {"input", "output"})
      text += fmt::format("{},{},0,0,{},{},0,4,float32,\"(4)\",0,\n", type, name, 17 + text.size(), io);
  }
  // One tensor of an operator that has many.
  void add_slot(std::string_view type, std::string_view name, std::string_view io, size_t slot,
                std::string& text) const {
    text += fmt::format("{},{},0,0,17,{},{},4,float32,\"(4)\",0,\n", type, name, io, slot);
  }
  std::string device, host;

  void list() {
    static constexpr const char* kHead =
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
    for (const auto& [name, text] : {std::pair("device", &device), std::pair("host", &host)}) {
      scratch_->write(fmt::format("{}/statistic.csv", name), kHead + *text);
      dumps_.push_back(test::list_dump({scratch_->path() / name}));
    }
  }
  [[nodiscard]] Pairing pairing() const {
    CompareSide sides[2];
    for (size_t i = 0; i < 2; ++i) {
      sides[i].index = &dumps_[i].index;
      sides[i].tensors = &dumps_[i].tensors();
    }
    return pair_sides(sides[0], sides[1]);
  }

 private:
  std::unique_ptr<test::ScratchDir> scratch_ = std::make_unique<test::ScratchDir>();
  std::vector<test::ListedDump> dumps_;
};

// How the cost of pairing grows for nets of n operators; `add` writes the i-th of each side.
template <class Add>
double growth_of(size_t n, const Add& add) {
  const auto make = [&](size_t count) {
    StatisticNets nets;
    for (size_t i = 0; i < count; ++i) add(nets, i);
    nets.list();
    return nets;
  };
  return test::growth(n, make, [](const StatisticNets& nets) { CHECK(!nets.pairing().tensors.empty()); });
}

}  // namespace

TEST_CASE("a fused operator's name may begin with that of a part") {
  const std::vector<OriginalName> parts = {{"Default_a", "BatchNorm", 4, true}, {"Default_a", "ReLU", 5}};
  CHECK(parse_device_name("Default/a/BatchNorm-op4_UpdateV3Default/a/ReLU-op5").originals == parts);
  CHECK(parse_device_name("Default_a_BatchNorm-op4_UpdateV3Default_a_ReLU-op5").originals == parts);
  const std::vector<OriginalName> wholes = {{"Net_a", "MatMul", 4}, {"Net_a", "BiasAdd", 5}};
  CHECK(parse_device_name("Net/a/MatMul-op4Net/a/BiasAdd-op5").originals == wholes);
  CHECK(parse_device_name("Net/a/MatMul-op4_Net/a/BiasAdd-op5").originals == wholes);
}

TEST_CASE("the cost of pairing with a device does not grow with the square of the operators") {
  SECTION("in one scope") {
    CHECK(growth_of(300, [](StatisticNets& nets, size_t i) {
            nets.add("Relu", fmt::format("Default/a/ReLU-op{}", 7 * i), nets.device);
            nets.add("ReLU", fmt::format("Default/a/ReLU-op{}", i), nets.host);
          }) < test::kNotQuadratic);
  }
  SECTION("in one scope, some of them missing") {
    CHECK(growth_of(300, [](StatisticNets& nets, size_t i) {
            if (i % 10 != 0) nets.add("Relu", fmt::format("Default/a/ReLU-op{}", 7 * i), nets.device);
            nets.add("ReLU", fmt::format("Default/a/ReLU-op{}", i), nets.host);
          }) < test::kNotQuadratic);
  }
  SECTION("each in its scope") {
    CHECK(growth_of(300, [](StatisticNets& nets, size_t i) {
            nets.add("Relu", fmt::format("Default/a{}/ReLU-op{}", i, 7 * i), nets.device);
            nets.add("ReLU", fmt::format("Default/a{}/ReLU-op{}", i, i), nets.host);
          }) < test::kNotQuadratic);
  }
  SECTION("with other scopes on both sides") {
    CHECK(growth_of(300, [](StatisticNets& nets, size_t i) {
            nets.add("Relu", fmt::format("Default/a{}/ReLU-op{}", i, 7 * i), nets.device);
            nets.add("ReLU", fmt::format("Default/b{}/ReLU-op{}", i, i), nets.host);
          }) < test::kNotQuadratic);
  }
  SECTION("fused, with their names") {
    CHECK(growth_of(300, [](StatisticNets& nets, size_t i) {
            nets.add("MatMulV2", fmt::format("Default/a/MatMul-op{0}Default/a/BiasAdd-op{0}", 7 * i), nets.device);
            nets.add("MatMul", fmt::format("Default/a/MatMul-op{}", i), nets.host);
            nets.add("BiasAdd", fmt::format("Default/a/BiasAdd-op{}", i), nets.host);
          }) < test::kNotQuadratic);
  }
  SECTION("fused, known by their types") {
    CHECK(growth_of(300, [](StatisticNets& nets, size_t i) {
            if (i < 3) nets.add("Relu", fmt::format("Default/a/ReLU-op{}", i), nets.device);
            nets.add("FusedMulAdd", fmt::format("Default/a/FusedMulAdd-op{}", 7 * i), nets.device);
            nets.add("MatMulV2", fmt::format("Default/a/MatMulV2-op{}", 7 * i + 1), nets.device);
            nets.add("SoftmaxV2", fmt::format("Default/a/SoftmaxV2-op{}", 7 * i + 2), nets.device);
            nets.add("Mul", fmt::format("Default/a/Mul-op{}", i), nets.host);
            nets.add("Add", fmt::format("Default/a/Add-op{}", i), nets.host);
          }) < test::kNotQuadratic);
  }
  SECTION("split") {
    CHECK(growth_of(300, [](StatisticNets& nets, size_t i) {
            nets.add("BNTrainingReduce", fmt::format("Default/a/BNTrainingReduce-op{}", 7 * i), nets.device);
            nets.add("BNTrainingUpdate", fmt::format("Default/a/BNTrainingUpdate-op{}", 7 * i + 1), nets.device);
            nets.add("TransData", fmt::format("trans_TransData_{}", i), nets.device);
            nets.add("BatchNorm", fmt::format("Default/a/BatchNorm-op{}", i), nets.host);
          }) < test::kNotQuadratic);
  }
}

TEST_CASE("the cost of pairing with a device does not grow with the square of the tensors of an operator") {
  const auto both = [](StatisticNets& nets, std::string_view type, std::string_view io, size_t i) {
    nets.add_slot(type, "Default/a/Op-op7", io, i, nets.device);
    nets.add_slot(type, "Default/a/Op-op1", io, i, nets.host);
  };
  const auto device_types = [](StatisticNets& nets, size_t i) {
    if (i == 0) nets.add("TransData", "trans_TransData_0", nets.device);
  };
  SECTION("inputs that no table knows") {
    CHECK(growth_of(2000, [&](StatisticNets& nets, size_t i) {
            device_types(nets, i);
            both(nets, "Unknown", "input", i);
          }) < test::kNotQuadratic);
  }
  SECTION("outputs") {
    CHECK(growth_of(2000, [&](StatisticNets& nets, size_t i) {
            device_types(nets, i);
            both(nets, "Unknown", "output", i);
          }) < test::kNotQuadratic);
  }
  SECTION("inputs that may be attributes, of a type that the table knows") {
    CHECK(growth_of(2000, [&](StatisticNets& nets, size_t i) {
            device_types(nets, i);
            nets.add_slot("MatMulV2", "Default/a/MatMul-op7", "input", i, nets.device);
            nets.host += fmt::format("MatMul,Default/a/MatMul-op1,0,0,17,input,{},4,int32,\"()\",0,\n", i);
          }) < test::kNotQuadratic);
  }
  SECTION("inputs of operators that are fused") {
    CHECK(growth_of(2000, [&](StatisticNets& nets, size_t i) {
            device_types(nets, i);
            nets.add_slot("MatMulV2", "Default/a/MatMul-op7Default/a/BiasAdd-op8", "input", i, nets.device);
            nets.add_slot("MatMul", "Default/a/MatMul-op1", "input", i, nets.host);
            nets.add_slot("MatMul", "Default/a/MatMul-op1", "output", i, nets.host);
            nets.add_slot("BiasAdd", "Default/a/BiasAdd-op2", "input", i, nets.host);
          }) < test::kNotQuadratic);
  }
}

// In one large scope or in many; with files, whose values are read.
TEST_CASE("the cost of pairing by values does not grow with the square of the operators") {
  const bool one_scope = GENERATE(true, false);
  const test::ScratchDir scratch;
  const auto make = [&](size_t count) {
    const std::string dir = scratch.make_dir(std::to_string(count));
    const auto n = static_cast<uint32_t>(count);
    test::DeviceNetOptions options{one_scope ? 1U : n / 5, one_scope ? n : 5U, true};
    (void)test::write_device_net(7, dir, options);
    return std::make_unique<PairedNet>(dir);
  };
  CHECK(test::growth(40, make, [](const auto& net) { CHECK(!net->pairing().tensors.empty()); }) < test::kNotQuadratic);
}

TEST_CASE("tensors of random networks are paired with those of the device: networks 1 to 50") { check_seeds(1, 50); }

TEST_CASE("tensors of random networks are paired with those of the device: networks 51 to 100") {
  check_seeds(51, 100);
}

}  // namespace msdump
