#include "base/compact.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/text_pool.h"
#include "support/catch.h"

namespace msdump {
namespace {

template <class T>
void check_value(T value) {
  const CompactOptional<T> compact = value;
  CHECK(compact.has_value());
  CHECK(std::bit_cast<uint64_t>(*compact) == std::bit_cast<uint64_t>(value));
  CHECK(CompactOptional<T>(std::optional(value)).has_value());
  CHECK(compact.plain().has_value());
}

TEST_CASE("a compact optional has every value but one") {
  static_assert(sizeof(CompactOptional<double>) == 8);
  for (const double value : {0.0, -0.0, 1.5, -std::numeric_limits<double>::infinity(), std::nan(""), -std::nan("1")})
    check_value(value);
  for (const int64_t value : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN}) check_value(value);
  for (const uint64_t value : {uint64_t{0}, UINT64_MAX, uint64_t{1} << 63}) check_value(value);
  CHECK_FALSE(CompactOptional<double>());
  CHECK_FALSE(CompactOptional<int64_t>(std::nullopt));
  CHECK_FALSE(CompactOptional<uint64_t>(std::optional<uint64_t>()).plain());
  CHECK(CompactOptional<int64_t>().value_or(7) == 7);
}

TEST_CASE("compact optionals are equal as plain ones are") {
  const CompactOptional<double> none, nan = std::nan(""), zero = 0.0, negative = -0.0;
  CHECK(none == CompactOptional<double>());
  CHECK_FALSE(none == zero);
  CHECK(zero == negative);
  CHECK_FALSE(nan == nan);
  CHECK_FALSE(none == 0.0);
  CHECK(zero == 0.0);
}

TEST_CASE("compact optionals compare with plain ones as these do with each other") {
  const CompactOptional<int64_t> none, one = 1;
  const std::optional<int64_t> plain_none, plain_one = 1;
  CHECK(none == plain_none);
  CHECK(plain_none == none);
  CHECK(one == plain_one);
  CHECK(plain_one != none);
  CHECK(none < one);
  CHECK(none < plain_one);
  CHECK(plain_none < one);
  CHECK_FALSE(one < plain_none);
}

TEST_CASE("copies of a shared text have one text, also of one that is not owned") {
  const SharedText owned = std::string("a text that no small buffer holds"), copy = owned;
  CHECK(copy.view().data() == owned.view().data());
  CHECK(copy == "a text that no small buffer holds");
  const std::string outlives = "other";
  CHECK(SharedText::of(outlives).view().data() == outlives.data());
  CHECK(std::string(SharedText()).empty());
}

TEST_CASE("copies of a shared value have one value, also of one that is not owned") {
  const Shared<std::string> owned = std::string("text"), copy = owned;
  CHECK(&*owned == &*copy);
  CHECK(copy == "text");
  const std::string outlives = "other";
  CHECK(&*Shared<std::string>::of(outlives) == &outlives);
  CHECK(Shared<std::string>()->empty());
}

TEST_CASE("a pool of texts keeps equal ones once, where they stay") {
  TextPool pool;
  const std::string_view first = pool.share("name"), kept = pool.keep("name"), again = pool.share("name");
  CHECK(first.data() == again.data());
  CHECK(kept.data() != first.data());
  CHECK(pool.share("other") == "other");
  CHECK(pool.share("").empty());
  const TextArena texts = std::move(pool).take();
  CHECK(first == "name");
}

}  // namespace
}  // namespace msdump
