// Statistics of a tensor that is read for something else are those of the pass over all tensors.
#include "stats/tensor_scan.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parts/part_file.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

constexpr int64_t kElements = 400003;  // twenty slices, and a part of one

struct Scanned {
  Scanned() {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random);
    values[5] = values[200000] = NAN;
    values[300000] = -HUGE_VALF;
    values[300001] = 1e-40F;
    scratch.write("a.npy",
                  test::npy_of("<f4", {kElements}, {reinterpret_cast<const char*>(values.data()), 4 * kElements}));
    dump.emplace(test::list_dump({scratch.path()}));
    tensor.emplace(HostTensor::open(dump->index, dump->tensors().front(), {}).value());
    scan.emplace(*tensor, dump->tensors().front(), options);
  }

  // True if these elements are at hand, and are those of the file.
  bool has(int64_t first) {
    const auto elements = scan->elements(first);
    REQUIRE(elements);
    return !elements->empty() &&
           std::memcmp(elements->data(), &values[static_cast<size_t>(first)], elements->size()) == 0;
  }
  // Reads on to the end.
  void complete(int64_t first) {
    while (!scan->is_complete()) {
      const auto elements = scan->elements(first);
      REQUIRE((elements && !elements->empty()));
      first += static_cast<int64_t>(elements->size() / 4);
    }
    CHECK(first == kElements);
  }

  std::vector<float> values = std::vector<float>(kElements);
  ComputeOptions options{
      .exact = true,
      .wanted = {.sum = true, .squares = true, .extremes = true, .counts = true, .codes = true, .mean_abs = true},
      .finite_only = true};
  const test::ScratchDir scratch;
  std::optional<test::ListedDump> dump;
  std::optional<HostTensor> tensor;
  std::optional<TensorScan> scan;
};

TEST_CASE("a scan has the statistics of the pass over all tensors, whatever was asked for in between") {
  Scanned one;
  CHECK(one.has(0));
  CHECK(one.has(4711));
  CHECK_FALSE(one.has(kElements - 1));  // only what follows is read
  CHECK_FALSE(one.has(kElements));
  CHECK(one.has(0));
  CHECK_FALSE(one.scan->is_complete());
  one.complete(0);
  CHECK_FALSE(one.has(0));
  CHECK(one.has(kElements - 1));
  const Result<TensorNumbers> numbers = one.scan->finish();
  REQUIRE(numbers);
  CHECK((numbers->count == 400003U && numbers->nan == 2U && numbers->negative_inf == 1U));
  WorkerPool pool(2);
  const CancelToken never;
  const std::vector<ComputeItem> items = {{&one.dump->tensors().front()}};
  compute(one.dump->index, items, one.options, {pool, never},
          [&](size_t, Result<TensorNumbers>&& expected) { CHECK(encode_result(numbers) == encode_result(expected)); });
}

TEST_CASE("a scan of a file that is written to has no statistics") {
  Scanned one;
  one.complete(0);
  std::filesystem::last_write_time(one.scratch.file("a.npy"), std::filesystem::file_time_type::clock::now());
  CHECK_FALSE(one.scan->finish());
}

}  // namespace
}  // namespace msdump::stats
