// Statistics that another process computed: taken as they are, in the order of the tensors, and the rest computed.
#include "stats/compute.h"

#include <map>

#include "parts/part_file.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

// Some facts, and what is kept beside them.
class SomeFacts : public FactStore {
 public:
  [[nodiscard]] std::optional<std::string_view> find(const FactKey& key) const override {
    const auto found = known.find(key);
    return found == known.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }
  void keep(const FactKey& key, std::string bytes) override { kept.emplace(key, std::move(bytes)); }

  std::map<FactKey, std::string> known, kept;
};

class Dump {
 public:
  Dump() : listed_(list()) {}

  // The value of each item as it arrives, "cut" for an error; items in the order of arrival.
  [[nodiscard]] std::vector<std::string> compute(FactStore* facts, unsigned jobs = 1) {
    std::vector<ComputeItem> items;
    for (const TensorRecord& tensor : listed_.tensors()) items.push_back({&tensor});
    WorkerPool pool(jobs);
    const CancelToken never;
    std::vector<std::string> arrived;
    ComputeOptions options;
    options.wanted.extremes = true;
    stats::compute(listed_.index, items, options, {pool, never, nullptr, facts},
                   [&](size_t item, Result<TensorStatistics>&& one) {
                     arrived.push_back(fmt::format("{} {}", item, one ? fmt::format("{}", one->max) : "cut"));
                   });
    return arrived;
  }

  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return listed_.tensors(); }

 private:
  test::ListedDump list() {
    for (const int i : {0, 1, 2, 3, 4}) {
      std::string file = test::npy_of("<f4", {1}, std::string_view("\0\0\x80\x3f", 4));
      if (i == 3) file.resize(file.size() - 1);
      scratch_.write(fmt::format("Mul.op{}.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy", i), file);
    }
    return test::list_dump({scratch_.path()}, Headers::kWhereNeeded);
  }

  test::ScratchDir scratch_;
  test::ListedDump listed_;
};

using Lines = std::vector<std::string>;
const Lines kAll = {"0 1", "1 1", "2 1", "3 cut", "4 1"};

TEST_CASE("Without a store all is computed, and with an empty one all is kept, failures too") {
  Dump dump;
  CHECK(dump.compute(nullptr) == kAll);
  SomeFacts facts;
  CHECK(dump.compute(&facts, 3) == kAll);
  CHECK(facts.kept.size() == 5);
  SomeFacts again;
  again.known = facts.kept;
  CHECK(dump.compute(&again) == kAll);
  CHECK(again.kept.empty());
}

TEST_CASE("What is known is handed on in its place, whatever is computed around it") {
  Dump dump;
  TensorStatistics other;
  other.max = 7;
  for (const std::vector<size_t>& known : {std::vector<size_t>{0}, {4}, {1, 2}, {0, 2, 4}, {3}, {0, 1, 2, 3, 4}}) {
    SomeFacts facts;
    Lines expected = kAll;
    for (const size_t i : known) {
      facts.known.emplace(statistics_key(dump.tensors()[i]), encode_result(Result<TensorStatistics>(other)));
      expected[i] = fmt::format("{} 7", i);
    }
    CHECK(dump.compute(&facts, 2) == expected);
    CHECK(facts.kept.size() == 5 - known.size());
  }
}

TEST_CASE("A fact that cannot be read is the failure of its tensor") {
  Dump dump;
  SomeFacts facts;
  facts.known.emplace(statistics_key(dump.tensors()[1]), "?");
  CHECK(dump.compute(&facts) == Lines{"0 1", "1 cut", "2 1", "3 cut", "4 1"});
}

TEST_CASE("All members of a tensor's statistics come back") {
  TensorStatistics one;
  one.dtype = DType::kBfloat16;
  one.shape = {2, 3};
  one.data_size = 1;
  one.stored_bytes = 2;
  one.note = "note";
  one.supported = false;
  one.max = 3, one.min = -4, one.avg = 0.1, one.l2norm = 5e-324;
  one.nothing_finite = true;
  one.count = 6, one.negative = 7, one.positive = 8, one.zero = 9, one.nan = 10, one.negative_inf = 11;
  one.positive_inf = 12;
  one.md5 = "m", one.sha1 = "s";
  one.codes = kernels::CodeCounts{13, 14, 15};
  one.mean_abs = 16;
  const auto read = decode_result<TensorStatistics>(encode_result(Result<TensorStatistics>(one)));
  REQUIRE(read);
  CHECK(read->dtype == one.dtype);
  CHECK(read->shape == one.shape);
  CHECK(std::tuple(read->data_size, read->stored_bytes, read->note, read->supported) ==
        std::tuple(one.data_size, one.stored_bytes, one.note, one.supported));
  CHECK(std::tuple(read->max, read->min, read->avg, read->l2norm, read->nothing_finite) ==
        std::tuple(one.max, one.min, one.avg, one.l2norm, one.nothing_finite));
  CHECK(std::tuple(read->count, read->negative, read->positive, read->zero, read->nan) ==
        std::tuple(one.count, one.negative, one.positive, one.zero, one.nan));
  CHECK(std::tuple(read->negative_inf, read->positive_inf, read->md5, read->sha1) ==
        std::tuple(one.negative_inf, one.positive_inf, one.md5, one.sha1));
  CHECK(read->codes == one.codes);
  CHECK(read->mean_abs == one.mean_abs);
}

}  // namespace
}  // namespace msdump::stats
