#include "base/containers.h"

#include "support/catch.h"

namespace msdump {
namespace {

ProblemList problems_from(int first, int count) {
  ProblemList list;
  for (int i = first; i < first + count; ++i) list.add(make_error(ErrorCode::kBadCsv, "row {}", i).with_path("a.csv"));
  return list;
}

TEST_CASE("a capped list keeps the first items and counts all") {
  constexpr int kMost = ProblemList::kMost;
  CHECK(problems_from(0, 0).empty());
  CHECK_FALSE(problems_from(0, kMost - 1).is_full());
  ProblemList list = problems_from(0, kMost + 5);
  CHECK(list.is_full());
  CHECK(list.size() == ProblemList::kMost);
  CHECK(list.count() == kMost + 5);
  CHECK(list.first().back().message == "row 19");
  ProblemList joined = problems_from(0, kMost - 1);
  joined.add(list);
  CHECK(joined.size() == ProblemList::kMost);
  CHECK(joined.count() == 2 * kMost + 4);
  CHECK(joined[ProblemList::kMost - 1].message == "row 0");
  list.clear();
  CHECK(list.count() == 0);
}

TEST_CASE("the errors of a capped list say how many more there are") {
  CHECK(errors_of({}).empty());
  CHECK(errors_of(problems_from(0, 20)).size() == 20);
  const std::vector<Error> all = errors_of(problems_from(0, 21));
  REQUIRE(all.size() == 21);
  CHECK(all.back().message == "1 more like these");
  CHECK(all.back().path == "a.csv");
  CHECK(all.back().code == ErrorCode::kBadCsv);
  const std::vector<Error> few = errors_of(problems_from(0, 7), 3);
  REQUIRE(few.size() == 4);
  CHECK(few[2].message == "row 2");
  CHECK(few[3].message == "4 more like these");
}

}  // namespace
}  // namespace msdump
