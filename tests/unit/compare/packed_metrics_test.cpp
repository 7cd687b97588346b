#include "compare/pair/packed_metrics.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "compare/pair/metric_table.h"
#include "parts/facts.h"
#include "support/catch.h"

namespace msdump {
namespace {

std::string bytes_of(const auto& value) {
  FactWriter writer;
  writer.put(value);
  return writer.take();
}

struct Filler {
  std::mt19937& random;
  void operator()(auto&... members) { (fill(members), ...); }
  void fill(uint64_t& count) { count = random() % 3; }
  void fill(std::optional<uint64_t>& value) {
    if (random() % 2 == 0) value = random() % 3;
  }
  void fill(std::optional<double>& value) {
    constexpr std::array kValues = {
        0.0, -0.0, 1.5, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 5e-324};
    if (random() % 2 == 0) value = kValues[random() % kValues.size()];
  }
};

TEST_CASE("packed metrics are the same metrics, bit for bit, whichever have a value") {
  std::mt19937 random(48);
  Filler fill{random};
  for (int run = 0; run < 1000; ++run) {
    kernels::PairMetrics metrics;
    if (run > 0) kernels::visit_members(fill, metrics);
    const PackedMetrics packed = metrics;
    REQUIRE(bytes_of(kernels::PairMetrics(packed)) == bytes_of(metrics));
    CHECK(packed->count == metrics.count);
    CHECK(packed->worst == metrics.worst);
  }
}

TEST_CASE("packed metrics are the same facts as those that are not packed") {
  kernels::PairMetrics metrics;
  metrics.count = 7;
  metrics.max_b = 0.0;
  metrics.worst = 3;
  CHECK(bytes_of(PackedMetrics(metrics)) == bytes_of(metrics));
  const auto read = decode_result<PackedMetrics>(encode_result(Result<PackedMetrics>(metrics)));
  REQUIRE(read);
  CHECK(bytes_of(*read) == bytes_of(metrics));
}

}  // namespace
}  // namespace msdump
