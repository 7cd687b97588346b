#include "profiles/result_writer.h"

#include <fmt/format.h>

#include "support/catch.h"

namespace msdump {
namespace {

struct Counts {
  int64_t rows = 0;
  Counts& operator+=(Counts&& more) {
    rows += more.rows;
    return *this;
  }
};

struct Written {
  std::string text;
  Result<Counts> counts;
};

template <class Make>
Written written(size_t count, const Make& make, const CancelToken& cancel = {}) {
  WorkerPool pool(2);
  std::string text;
  auto counts = write_rows_in_order<Counts>({pool, cancel}, count, "head\n", make, [&](std::string_view lines) {
    text += lines;
    return Status();
  });
  return {std::move(text), std::move(counts)};
}

Result<ProfileRows<Counts>> numbered_row(size_t i) { return ProfileRows<Counts>{fmt::format("{}\n", i), {1}}; }

}  // namespace

TEST_CASE("fields are quoted only when they must be") {
  std::string line;
  for (const char* const field : {"a b", "[4, 12]", "say \"so\"", "", "two\nlines", "a\rb"})
    append_csv_field(line, field, "\n");
  CHECK(line == "a b,\"[4, 12]\",\"say \"\"so\"\"\",,\"two\nlines\",a\rb");
  line.clear();
  append_csv_field(line, "a\rb", "\r\n");
  append_csv_field(line, "c\nd", "\r\n");
  CHECK(line == "\"a\rb\",\"c\nd\"");
}

TEST_CASE("rows are written after the header in order, and counted") {
  const Written all = written(100, numbered_row);
  std::string expected = "head\n";
  for (int i = 0; i < 100; ++i) expected += fmt::format("{}\n", i);
  CHECK(all.text == expected);
  REQUIRE(all.counts);
  CHECK(all.counts->rows == 100);
  CHECK(written(0, numbered_row).text == "head\n");
}

TEST_CASE("the first error ends the file after the rows before it") {
  const Written some = written(100, [](size_t i) -> Result<ProfileRows<Counts>> {
    if (i == 3) return fail(ErrorCode::kUsage, "stop");
    return numbered_row(i);
  });
  CHECK(some.text == "head\n0\n1\n2\n");
  REQUIRE_FALSE(some.counts);
  CHECK(some.counts.error().message == "stop");
}

TEST_CASE("a sink that fails ends the work, and so does an interruption") {
  WorkerPool pool(2);
  CancelToken cancel;
  int calls = 0;
  const auto counts = write_rows_in_order<Counts>({pool, cancel}, 100, "head\n", numbered_row, [&](std::string_view) {
    return ++calls < 3 ? Status() : Status(fail(ErrorCode::kWriteFailed, "disk full"));
  });
  REQUIRE_FALSE(counts);
  CHECK(counts.error().message == "disk full");
  CHECK(calls == 3);
  cancel.cancel();
  const Written none = written(100, numbered_row, cancel);
  REQUIRE_FALSE(none.counts);
  CHECK(none.counts.error().code == ErrorCode::kCancelled);
}

TEST_CASE("all failures are counted, a thousand are kept") {
  ProfileFailures failures, more;
  for (int i = 0; i < 600; ++i) failures.add(make_error(ErrorCode::kUsage, "a{}", i));
  for (int i = 0; i < 1200; ++i) more.add(make_error(ErrorCode::kUsage, "b{}", i));
  CHECK(more.kept.size() == 1000);
  failures.add(std::move(more));
  CHECK(failures.count == 1800);
  REQUIRE(failures.kept.size() == 1000);
  CHECK(failures.kept[599].message == "a599");
  CHECK(failures.kept[999].message == "b399");
}

}  // namespace msdump
