// Expected digests: hashlib of Python.
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

using enum StatisticColumn;

std::string bytes_of_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// -1, 2, 5, ...
std::vector<float> steps_of_three(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) * 3 - 1;
  return values;
}

// Statistics of a tensor that MindSpore says is of `dtype`, stored as `descr`.
TensorStatistics statistics_as(const std::string& dtype, std::string_view descr, const Shape& shape,
                               const std::string& bytes, const char* version,
                               std::vector<StatisticColumn> columns = test::StatisticsRequest::all_columns()) {
  const test::ScratchDir scratch;
  scratch.write("Add.a.1.2.1700000000000001.output.0.DefaultFormat." + dtype + ".npy",
                test::npy_of(descr, shape, bytes));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  auto results =
      test::compute_statistics(dump, {.dialect = dialect_from_text(version).value(), .columns = std::move(columns)});
  REQUIRE(results.size() == 1);
  REQUIRE(results[0]);
  return std::move(*results[0]);
}

TEST_CASE("MD5 is of all bytes; SHA1 of more than 20480 elements is of the digests of its slices") {
  struct Case {
    size_t count;
    const char *md5, *sha1;
  };
  for (const Case& one :
       {Case{0, "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        Case{20480, "15520dcb76c1bfcfcb0a2928a3747c8c", "965fc2070788b5cdc0f04ab506c68dbf1fb245d2"},
        Case{20481, "7a379578533752752ce33774adaf6d05", "46dc2f3f2a258c0ec593acdfa879eac0513fd945"},
        Case{50000, "c8e178fe1b5b9828bb0eb1f5f571e668", "4455c527131d59e9019ab540a139145851096611"}}) {
    INFO(one.count);
    const auto values = steps_of_three(one.count);
    const auto both = test::statistics_of("<f4", values, {});
    CHECK(both.md5 == one.md5);
    CHECK(both.sha1 == one.sha1);
    const auto md5 = test::statistics_of("<f4", values, {.columns = {kMd5}});
    CHECK((md5.md5 == one.md5 && md5.sha1.empty()));
    const auto sha1 = test::statistics_of("<f4", values, {.columns = {kSha1}});
    CHECK((sha1.sha1 == one.sha1 && sha1.md5.empty()));
  }
}

TEST_CASE("a dialect that merges running means gives digests without them") {
  const auto got = test::statistics_of("<f4", steps_of_three(20481),
                                       {.dialect = dialect_from_text("2.3.0").value(), .columns = {kMd5}});
  CHECK(got.md5 == "7a379578533752752ce33774adaf6d05");
}

TEST_CASE("digests and size of a bfloat16 tensor are those of its 2 bytes, in 2.2.14 of its float32 copy") {
  const std::string floats = bytes_of_floats({1.5F, -2.0F, 3.25F});
  std::string halves;
  for (size_t i = 0; i < floats.size(); i += 4) halves += floats.substr(i + 2, 2);
  struct Case {
    const char* descr;
    const std::string& bytes;
  };
  for (const Case& one : {Case{"<f4", floats}, Case{"<E2", halves}}) {
    INFO(one.descr);
    const auto now = statistics_as("bfloat16", one.descr, {3}, one.bytes, "2.10.0");
    CHECK(now.dtype == DType::kBfloat16);
    CHECK(now.data_size == 6);
    CHECK(now.md5 == "1b0a246fd5e51ef4c4cd5535ad872043");
    CHECK(now.sha1 == "aa61178f21609f1d63bd6e336d800e8f8a1ed50e");
    CHECK(now.max == 3.25);
    const auto widened = statistics_as("bfloat16", one.descr, {3}, one.bytes, "2.2.14");
    CHECK(widened.data_size == 12);
    CHECK(widened.md5 == "814781a0730d10845b51976ba4c49416");
    CHECK(widened.max == 3.25);
  }
  const auto plain = statistics_as("float32", "<f4", {3}, floats, "2.10.0");
  CHECK(plain.data_size == 12);
  CHECK(plain.md5 == "814781a0730d10845b51976ba4c49416");
}

TEST_CASE("MD5 of 4-bit integers is of as many of their unpacked bytes as the packed tensor has") {
  const auto got = statistics_as("int4", "|i1", {5}, std::string("\1\xfe\3\7\5", 5), "2.10.0");
  CHECK(got.dtype == DType::kInt4);
  CHECK(got.data_size == 3);
  CHECK(got.count == 5);
  CHECK(got.min == -2);
  CHECK(got.md5 == "1c920a28f74ea87c63e811af84dc8a46");
  CHECK(got.sha1 == "f8846e0b457e30acd92e8bfa1b5bd72d7864e394");
}

TEST_CASE("complex numbers have digests and no statistics") {
  const std::string bytes = bytes_of_floats({1, 2, 3, 4});
  const auto got = statistics_as("complex64", "<c8", {1, 2}, bytes, "2.10.0");
  CHECK_FALSE(got.supported);
  CHECK(got.shape == Shape{1, 2});
  CHECK(got.data_size == 16);
  CHECK(got.md5 == "b4ad64bc24f643726bddf5606af738da");
  CHECK(statistics_as("complex64", "<c8", {1, 2}, bytes, "2.10.0", {kMd5}).md5 == got.md5);
  CHECK(statistics_as("complex64", "<c8", {1, 2}, bytes, "2.10.0", {kSha1}).sha1 == got.sha1);
}

TEST_CASE("elements of no fixed width have digests of their bytes and no statistics") {
  const auto got = statistics_as("string", "|u1", {5}, "hello", "2.10.0");
  CHECK_FALSE(got.supported);
  CHECK(got.dtype == DType::kString);
  CHECK(got.data_size == 5);
  CHECK(got.md5 == "5d41402abc4b2a76b9719d911017c592");
  CHECK(got.sha1 == "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d");
}

}  // namespace
}  // namespace msdump::stats
