#include "stats/dialect.h"

#include <string>

#include "support/catch.h"

namespace msdump::stats {
namespace {

using enum StatisticColumn;

const Dialect& dialect(const char* version) {
  const auto found = dialect_from_text(version);
  REQUIRE(found);
  return **found;
}

TEST_CASE("each version that changed statistic.csv has a dialect, without gaps between them") {
  const auto dialects = all_dialects();
  for (size_t i = 1; i < dialects.size(); ++i) CHECK(dialects[i].from == dialects[i - 1].to);
  CHECK(&dialect("1.6.0") == &dialect("2.2.13"));
  CHECK(&dialect("2.2.13") != &dialect("2.2.14"));
  CHECK(&dialect("2.2.14") == &dialect("2.3.0rc2"));
  CHECK(&dialect("2.3.0rc2") != &dialect("2.3.0"));
  CHECK(&dialect("2.3.1") != &dialect("2.4.0"));
  CHECK(&dialect("2.4.10") != &dialect("2.5.0"));
  CHECK(&dialect("2.5.0") == &dialect("2.7.0"));
  CHECK(&dialect("2.7.0") != &dialect("2.7.1"));
  CHECK(&dialect("2.7.1") == &newest_dialect());
  CHECK(&dialect("9.9") == &newest_dialect());
}

TEST_CASE("what is no version, or wrote no statistic.csv, has no dialect") {
  for (const char* text : {"", "auto", "2", "2.", "v2.5", "new", "1.5.0", "0.7"}) {
    INFO(text);
    const auto found = dialect_from_text(text);
    REQUIRE(!found);
    CHECK(found.error().code == ErrorCode::kUsage);
  }
}

TEST_CASE("columns are fixed up to 2.3rc, with MD5 from 2.2.14 on") {
  CHECK(default_columns(dialect("2.0.0")).size() == 10);
  CHECK(default_columns(dialect("2.2.14")).back() == kMd5);
  CHECK(default_columns(dialect("2.5.0")) == std::vector{kMax, kMin, kL2Norm});
}

TEST_CASE("repeated columns are written twice up to 2.7.0 and once from 2.7.1 on") {
  const std::vector repeated = {kL2Norm, kMax, kL2Norm};
  CHECK(effective_columns(dialect("2.7.0"), repeated) == repeated);
  CHECK(effective_columns(dialect("2.7.1"), repeated) == std::vector{kL2Norm, kMax});
}

TEST_CASE("from 2.7.1 on chunks are slices of 20480 elements") {
  const Chunks chunks = chunks_of(newest_dialect(), 3 * 20480 + 1);
  CHECK(chunks.count == 4);
  CHECK(chunks.size == 20480);
  CHECK(chunks.last == 1);
  CHECK(chunks.begin(3) == 3 * 20480);
  CHECK(chunks_of(newest_dialect(), 20480).count == 1);
  CHECK(chunks_of(newest_dialect(), 2 * 20480 - 1).count == 2);
  CHECK(chunks_of(newest_dialect(), 2 * 20480).count == 2);
}

TEST_CASE("chunks cover every element once, whatever the dialect") {
  for (const Dialect& each : all_dialects()) {
    for (const int64_t count : {0, 1, 9999, 10000, 10001, 19999, 20480, 20481, 319999, 320001, 1000003, 67108864}) {
      INFO(each.name << " " << count);
      const Chunks chunks = chunks_of(each, count);
      CHECK(chunks.count >= 1);
      int64_t sum = 0;
      for (int64_t i = 0; i < chunks.count; ++i) {
        CHECK(chunks.begin(i) == sum);
        sum += chunks.elements(i);
      }
      CHECK(sum == count);
    }
  }
}

TEST_CASE("what is particular to each dialect") {
  std::vector<std::string> lines;
  for (const Dialect& each : all_dialects()) {
    std::string line(each.name);
    line += each.rule == Rule::kA ? " A" : each.rule == Rule::kB ? " B" : " C";
    const auto add = [&](bool has, const char* word) { line += has ? word : ""; };
    add(each.fixed_columns, " fixed");
    add(each.with_md5, " md5");
    add(each.comma_at_end, " comma");
    add(each.square_brackets, " square");
    add(each.drops_repeats, " once");
    add(each.nan_survives_merge, " nan");
    add(each.slices, " slices");
    add(each.float_count, " float");
    add(each.widened_bfloat16, " widened");
    lines.push_back(line);
  }
  CHECK(lines == std::vector<std::string>{"1.6.0 to 2.2.13 A fixed", "2.2.14 to 2.3.0rc A fixed md5 widened",
                                          "2.3.0 to 2.3.1 B comma", "2.4 C comma float",
                                          "2.5.0 to 2.7.0 C comma nan float",
                                          "2.7.1 and later C comma square once nan slices float"});
}

TEST_CASE("before 2.7.1 there are at most 32 chunks, of at least 10000 elements") {
  const auto chunks = [](int64_t count) {
    const Chunks all = chunks_of(dialect("2.7.0"), count);
    return std::vector<int64_t>{all.count, all.size, all.last, all.merged ? 1 : 0};
  };
  CHECK(chunks(0) == std::vector<int64_t>{1, 0, 0, 0});
  CHECK(chunks(10000) == std::vector<int64_t>{1, 10000, 10000, 0});
  CHECK(chunks(10001) == std::vector<int64_t>{1, 10001, 10001, 1});
  CHECK(chunks(20001) == std::vector<int64_t>{2, 10000, 10001, 1});
  CHECK(chunks(319999) == std::vector<int64_t>{31, 10322, 10339, 1});
  CHECK(chunks(640001) == std::vector<int64_t>{32, 20000, 20001, 1});
}

}  // namespace
}  // namespace msdump::stats
