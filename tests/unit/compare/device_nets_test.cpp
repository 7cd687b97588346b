// Random networks on a host and on a device: what the pairing says, against what is so by construction.
#include <fmt/format.h>

#include "compare/match/pairing.h"
#include "support/catch.h"
#include "support/compare_run.h"
#include "support/device_net.h"
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
      const bool both = pair.a != kNoTensor && pair.b != kNoTensor;
      bool good = false;
      std::string text = fmt::format("seed {}:", seed);
      if (pair.a != kNoTensor) {
        const NetTensor device = tensor_in(net.a, pair.a);
        const DeviceNet::Device& known = truth.device.at(device);
        good = both ? known.partner == tensor_in(net.b, pair.b) : known.alone.count(pair.alone) != 0;
        text += " " + text_of(device) + (known.partner ? " (is " + text_of(*known.partner) + ")" : "");
      }
      if (pair.b != kNoTensor) {
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

}  // namespace

TEST_CASE("tensors of random networks are paired with those of the device: networks 1 to 50") { check_seeds(1, 50); }

TEST_CASE("tensors of random networks are paired with those of the device: networks 51 to 100") {
  check_seeds(51, 100);
}

}  // namespace msdump
