#include "ir/model/ir_graph.h"

#include <set>
#include <string>

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("equal texts have equal handles and others do not") {
  InternPool pool;
  const Text first = pool.intern("Conv2D");
  CHECK(pool.intern("Conv2D") == first);
  CHECK(pool.intern("Conv2d") != first);
  CHECK(pool.intern("") == Text::kEmpty);
  CHECK(pool.view(first) == "Conv2D");
  CHECK(pool.view(Text::kEmpty).empty());
}

TEST_CASE("a kept text is there without being looked up") {
  InternPool pool;
  const Text first = pool.keep("CNode_1"), second = pool.keep("CNode_1");
  CHECK(first != second);
  CHECK(pool.view(first) == pool.view(second));
}

TEST_CASE("many texts keep their handles while the table grows") {
  InternPool pool;
  std::set<Text> handles;
  for (int i = 0; i < 50'000; ++i) handles.insert(pool.intern("scope/" + std::to_string(i)));
  CHECK(handles.size() == 50'000);
  bool same = true;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = "scope/" + std::to_string(i);
    same = same && pool.view(pool.intern(text)) == text;
  }
  CHECK(same);
}

TEST_CASE("texts of all lengths differ by each of their bytes") {
  InternPool pool;
  for (size_t length = 1; length < 70; ++length) {
    const std::string text(length, 'a');
    const Text handle = pool.intern(text);
    for (size_t i = 0; i < length; ++i) {
      std::string other = text;
      other[i] = 'b';
      REQUIRE(pool.intern(other) != handle);
    }
    REQUIRE(pool.intern(text) == handle);
  }
}

TEST_CASE("a text longer than a chunk lies in one piece") {
  InternPool pool;
  pool.intern("before");
  std::string large(300'000, 'x');
  large.back() = 'y';
  const Text handle = pool.intern(large);
  const Text behind = pool.intern("behind");
  InternPool moved = std::move(pool);
  CHECK(moved.view(handle) == large);
  CHECK(moved.view(behind) == "behind");
}

TEST_CASE("lists of numbers are interned like texts") {
  InternPool pool;
  const std::vector<uint32_t> numbers = {7, 0, 4'000'000'000};
  const List list = pool.intern(numbers);
  CHECK(pool.intern(numbers) == list);
  CHECK(std::vector<uint32_t>(pool.view(list).begin(), pool.view(list).end()) == numbers);
  CHECK(pool.intern(std::span<const uint32_t>()) == List::kEmpty);
  CHECK(pool.view(List::kEmpty).empty());
  CHECK(pool.intern(std::vector<uint32_t>{0}) != List::kEmpty);
}

TEST_CASE("a handle map keeps the last value of each key") {
  HandleMap map;
  CHECK_FALSE(map.find(1));
  for (uint32_t key = 1; key < 10'000; ++key) map.set(key * 3, key);
  map.set(30, 0);
  CHECK(map.find(30) == 0U);
  CHECK(map.find(9'999 * 3) == 9'999U);
  CHECK_FALSE(map.find(31));
}

}  // namespace
}  // namespace msdump
