#include "tables/statistic_csv.h"

#include "base/text.h"
#include "support/catch.h"

namespace msdump {
namespace {

using enum StatisticColumn;

TEST_CASE("every column is found by each of its spellings in any case") {
  CHECK(all_statistic_columns().size() == 13);
  for (const auto& entry : all_statistic_columns()) {
    CHECK(info(entry.column).title == entry.title);
    CHECK(statistic_column_from_title(to_upper(entry.title)) == entry.column);
    CHECK(statistic_column_from_category(to_upper(entry.category)) == entry.column);
    CHECK(statistic_column_from_key(to_upper(entry.key)) == entry.column);
    for (const auto name : {entry.title, entry.category, entry.key}) {
      CHECK(statistic_column_from_name(name) == entry.column);
    }
  }
}

TEST_CASE("titles of other writers are known") {
  CHECK(statistic_column_from_title("Nan Count") == kNan);
  CHECK(statistic_column_from_title("MD5 Value") == kMd5);
  CHECK(statistic_column_from_title("l2norm") == kL2Norm);
}

TEST_CASE("hash means SHA1 unless it says md5") {
  CHECK(statistic_column_from_category("hash") == kSha1);
  CHECK(statistic_column_from_category("hash:sha1") == kSha1);
  CHECK(statistic_column_from_category("hash:md5") == kMd5);
  CHECK(statistic_column_from_category("md5") == kMd5);
  CHECK(statistic_column_from_name("Hash") == kSha1);
  CHECK(statistic_column_from_name("sha1") == kSha1);
}

TEST_CASE("a spelling is not taken for another kind of spelling") {
  CHECK_FALSE(statistic_column_from_title("negative_zero_count"));
  CHECK_FALSE(statistic_column_from_category("Max Value"));
  CHECK_FALSE(statistic_column_from_category("sha1"));  // MindSpore does not know it
  CHECK_FALSE(statistic_column_from_key("hash"));
  CHECK_FALSE(statistic_column_from_name(""));
  CHECK_FALSE(statistic_column_from_name("maximum"));
  CHECK_FALSE(statistic_column_from_name("max "));
}

}  // namespace
}  // namespace msdump
