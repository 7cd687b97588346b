// Where one series begins to behave otherwise.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "check/began/deviations.h"

#include "support/catch.h"

namespace msdump::check {
namespace {

constexpr SeriesScale kNorm{false, true, 0};

// Numbers around 1 that vary by a few per cent, the same each time.
std::vector<float> noise(size_t count, double width = 0.05, uint64_t seed = 1) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;  // of twelve uniform numbers: nearly normal
    for (int j = 0; j < 12; ++j) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      sum += static_cast<double>(seed >> 11U) * 0x1p-53;
    }
    values.push_back(static_cast<float>(std::exp(width * (sum - 6))));
  }
  return values;
}

template <class Function>
std::vector<float> changed(std::vector<float> values, size_t at, const Function& change) {
  for (size_t i = at; i < values.size(); ++i) values[i] = change(values[i], i - at);
  return values;
}

struct Found {
  size_t at = 0;
  SeriesChange change;
  double score = 0;
};

// The first that is sharp and strong, or with `slow` the first slow one.
std::optional<Found> first_of(const std::vector<float>& values, const SeriesScale& scale = kNorm, bool slow = false) {
  for (const Deviation& one : find_deviations(values, scale)) {
    if (one.slow == slow && one.score >= 6) return Found{one.at, one.change, one.score};
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("noise, a decay and a growing noise are no news") {
  CHECK_FALSE(first_of(noise(500)));
  CHECK_FALSE(first_of(noise(500), kNorm, true));
  CHECK_FALSE(first_of(changed(noise(500), 0, [](float x, size_t i) { return x / static_cast<float>(1 + i); })));
  CHECK_FALSE(first_of(noise(500, 0.6)));
}

TEST_CASE("a value that is far off once is a spike, and its size the factor") {
  const auto values = changed(noise(300), 120, [](float x, size_t i) { return i == 0 ? 15 * x : x; });
  const auto found = first_of(values);
  REQUIRE(found);
  CHECK(found->at == 120);
  CHECK(found->change.kind == ChangeKind::kSpike);
  CHECK(found->change.size.value() == Approx(15).epsilon(0.15));
}

TEST_CASE("a factor that stays is a level, whichever way it goes") {
  for (const float factor : {8.0F, 0.125F}) {
    const auto found = first_of(changed(noise(300), 60, [&](float x, size_t) { return factor * x; }));
    REQUIRE(found);
    CHECK(found->at == 60);
    CHECK(found->change.kind == ChangeKind::kLevel);
    CHECK(found->change.size.value() == Approx(factor).epsilon(0.1));
  }
}

TEST_CASE("a weight that moves ten times as fast from a step on has another slope") {
  const auto values = changed(std::vector<float>(200, 3), 0, [](float x, size_t i) {
    const auto step = static_cast<float>(i);
    return x + 0.001F * std::sin(step) * 0.01F + 0.0001F * step + (i < 100 ? 0 : 0.001F * (step - 99));
  });
  const auto found = first_of(values);
  REQUIRE(found);
  CHECK(found->at == 100);
  CHECK(found->change.kind == ChangeKind::kSlope);
  CHECK(found->change.size.value() > 1);
}

TEST_CASE("one step of a weight that is ten times as large is seen in its slope") {
  const auto values = changed(std::vector<float>(200, 3), 0, [](float x, size_t i) {
    const auto step = static_cast<float>(i);
    return x + 0.00001F * std::sin(step) + 0.001F * step + (i < 100 ? 0 : 0.009F);
  });
  const auto found = first_of(values);
  REQUIRE(found);
  CHECK(found->at == 100);
}

TEST_CASE("a weight that moves a tenth as fast is a decayed learning rate, and no news") {
  const auto values = changed(std::vector<float>(200, 3), 0, [](float x, size_t i) {
    const auto step = static_cast<float>(i);
    return x + 0.00001F * std::sin(step) + (i < 100 ? 0.001F * step : 0.1F + 0.0001F * (step - 100));
  });
  CHECK_FALSE(first_of(values));
}

TEST_CASE("values that scatter from a step on have another spread") {
  const auto values = changed(noise(300), 150, [](float x, size_t i) { return i % 2 == 0 ? 6 * x : x / 6; });
  const auto found = first_of(values);
  REQUIRE(found);
  CHECK(found->at == 150);
  CHECK(found->change.kind == ChangeKind::kSpread);
  CHECK(found->change.size.value() > 10);
}

TEST_CASE("a value that no longer changes is frozen, from the first that repeats; zeros from the first") {
  const auto stuck = changed(noise(100), 60, [](float, size_t) { return 1.25F; });
  REQUIRE(first_of(stuck));
  CHECK(first_of(stuck)->at == 61);
  CHECK(first_of(stuck)->change.kind == ChangeKind::kFreeze);
  CHECK(first_of(stuck)->change.size == 39);
  const auto cleared = changed(noise(100), 60, [](float, size_t) { return 0.0F; });
  CHECK(first_of(cleared)->at == 60);
  CHECK(first_of(cleared)->change.kind == ChangeKind::kFreeze);
  SECTION("not if it moves again") {
    CHECK_FALSE(first_of(changed(noise(100), 60, [](float x, size_t i) { return i < 20 ? 1.0F : x; })));
  }
  SECTION("not if it is what it did before") {
    CHECK_FALSE(first_of(changed(noise(100), 0, [](float x, size_t i) { return i % 40 > 10 ? 1.0F : x; })));
  }
  SECTION("not if the first value came as often") {
    auto values = stuck;
    for (size_t i = 0; i < 30; ++i) values[i] = 1.5F;
    CHECK_FALSE(first_of(values));
  }
  SECTION("not if it had hardly moved before") {
    const auto moved = [](size_t times) {
      return changed(noise(times + 30), times, [](float, size_t) { return 1.25F; });
    };
    CHECK_FALSE(first_of(moved(15)));
    CHECK(first_of(moved(16)));
  }
  SECTION("not in seven steps, in eight") {
    CHECK_FALSE(first_of(changed(noise(100), 93, [](float, size_t) { return 1.0F; })));
    CHECK(first_of(changed(noise(100), 92, [](float, size_t) { return 1.0F; })));
  }
  SECTION("not an extreme: another element may rest") { CHECK_FALSE(first_of(stuck, {false, false, 0})); }
}

TEST_CASE("the first value that is not finite is named, unless all were") {
  constexpr float kBad = std::numeric_limits<float>::quiet_NaN();
  const auto values = changed(noise(40), 30, [](float x, size_t i) { return i == 0 ? kBad : x; });
  const auto found = first_of(values);
  REQUIRE(found);
  CHECK(found->at == 30);
  CHECK(found->change.kind == ChangeKind::kNonFinite);
  CHECK_FALSE(found->change.size);
  CHECK_FALSE(first_of(std::vector<float>(40, kBad)));
}

TEST_CASE("a change before there are enough values to compare with is none") {
  CHECK_FALSE(first_of(changed(noise(60), 20, [](float x, size_t) { return 9 * x; })));
  CHECK(first_of(changed(noise(60), 21, [](float x, size_t) { return 9 * x; }))->at == 21);
}

TEST_CASE("the rounding of a table is no change") {
  const auto rounded = changed(noise(200), 0, [](float x, size_t i) {
    return i < 100 ? 3e-6F : x > 1 ? 4e-6F : 3e-6F;
  });
  CHECK_FALSE(first_of(rounded, {false, true, 1e-6}));
}

TEST_CASE("a number that rests nearly always, as that of a token, has to move by far") {
  const auto rests = [](float value) {
    return changed(std::vector<float>(200, 16), 150, [&](float x, size_t i) { return i == 0 ? value : x; });
  };
  CHECK_FALSE(first_of(rests(15)));
  CHECK(first_of(rests(160)));
}

TEST_CASE("a mean is compared with its usual magnitude") {
  std::vector<float> values = noise(200, 0.5);
  for (float& value : values) value = 0.01F * (value - 1);
  CHECK_FALSE(first_of(values, {true, false, 0}));
  values[150] = -5;
  const auto found = first_of(values, {true, false, 0});
  REQUIRE(found);
  CHECK(found->at == 150);
}

TEST_CASE("a slow rise is found from many values, and its step nearly") {
  const auto values =
      changed(noise(400, 0.1), 250, [](float x, size_t i) { return x * std::exp(0.03F * static_cast<float>(i + 1)); });
  CHECK_FALSE(first_of(values));
  const auto deviations = find_deviations(values, kNorm);
  const auto slow = std::find_if(deviations.begin(), deviations.end(),
                                 [](const Deviation& one) { return one.slow && one.score >= 6; });
  REQUIRE(slow != deviations.end());
  CHECK(slow->onset >= 244);
  CHECK(slow->onset <= 256);
}

TEST_CASE("a slow rise as fast as one long before is no news") {
  const auto rise = [](size_t begin, size_t at) {
    return 0.03F * static_cast<float>(at > begin ? std::min<size_t>(at - begin, 60) : 0);
  };
  const auto values =
      changed(noise(400, 0.1), 0, [&](float x, size_t i) { return x * std::exp(rise(40, i) + rise(250, i)); });
  CHECK_FALSE(first_of(values, kNorm, true));
  CHECK(first_of(changed(noise(400, 0.1), 0, [&](float x, size_t i) { return x * std::exp(rise(250, i)); }), kNorm,
                 true));
}

TEST_CASE("two slow rises are two changes") {
  const auto values = changed(noise(500, 0.1), 0, [](float x, size_t i) {
    const auto rise = [&](size_t begin, size_t most) {
      return i > begin ? static_cast<float>(std::min(i - begin, most)) : 0;
    };
    return x * std::exp(0.03F * rise(210, 20) + 0.06F * rise(380, 30));
  });
  std::vector<uint32_t> places;
  for (const Deviation& one : find_deviations(values, kNorm)) {
    if (one.slow) places.push_back(one.at);
  }
  REQUIRE(places.size() >= 2);
  CHECK(places.front() < 260);
  CHECK(places.back() > 340);
}

TEST_CASE("a jump that comes again after equal times is a season") {
  const auto seasonal = [](const std::vector<size_t>& places) {
    std::vector<float> values = noise(400);
    for (const size_t place : places) values[place] *= 5;
    const auto deviations = find_deviations(values, kNorm);
    const auto first = std::find_if(deviations.begin(), deviations.end(),
                                    [&](const Deviation& one) { return one.at == places.front() && one.score >= 6; });
    return first->season;
  };
  CHECK(seasonal({100, 180, 260, 340}));
  CHECK(seasonal({100, 181, 260}));
  CHECK_FALSE(seasonal({100, 180}));
  CHECK_FALSE(seasonal({100, 150, 260}));
}

TEST_CASE("series too short for anything are quiet") {
  for (size_t count = 0; count < 22; ++count) CHECK_FALSE(first_of(noise(count)));
  CHECK(find_deviations({}, kNorm).empty());
}

namespace {

const Deviation* first_parting(const std::vector<Deviation>& found) {
  const auto first =
      std::find_if(found.begin(), found.end(), [](const Deviation& one) { return !one.slow && one.score >= 6; });
  return first == found.end() ? nullptr : &*first;
}

std::vector<float> times(std::vector<float> values, size_t at, float factor) {
  return changed(std::move(values), at, [&](float x, size_t) { return factor * x; });
}

}  // namespace

TEST_CASE("two histories leave each other where their relation changes by more than each moves by itself") {
  const std::vector<float> a = noise(200, 0.05, 1), b = noise(200, 0.05, 2);
  const auto found = find_partings(times(a, 120, 8), b, kNorm);
  const Deviation* const first = first_parting(found);
  REQUIRE(first != nullptr);
  CHECK(first->at == 120);
  CHECK(first->change.kind == ChangeKind::kLevel);
  CHECK(first->change.size.value() == Approx(8).epsilon(0.15));
  CHECK(first_parting(find_partings(b, times(a, 120, 8), kNorm))->change.size.value() == Approx(0.125).epsilon(0.15));
  CHECK(first_parting(find_partings(a, b, kNorm)) == nullptr);
  SECTION("what both do is none") {
    CHECK(first_parting(find_partings(times(a, 120, 8), times(b, 120, 8), kNorm)) == nullptr);
  }
  SECTION("what one of them did before is no news") {
    // The relation is constant until 120, and either side has moved as far by then.
    const std::vector<float> moved = times(a, 80, 8);
    CHECK(first_parting(find_partings(times(moved, 120, 4), moved, kNorm)) == nullptr);
    CHECK(first_parting(find_partings(times(a, 120, 4), a, kNorm)) != nullptr);
  }
}

TEST_CASE("a slow parting is compared with slow movements of either history") {
  const auto slow = [](const std::vector<float>& a, const std::vector<float>& b) {
    const auto found = find_partings(a, b, kNorm);
    return std::any_of(found.begin(), found.end(), [](const Deviation& one) { return one.slow && one.score >= 6; });
  };
  const auto rise = [](std::vector<float> values, size_t begin) {
    return changed(std::move(values), begin,
                   [](float x, size_t i) { return x * std::exp(0.03F * static_cast<float>(std::min<size_t>(i, 60))); });
  };
  const std::vector<float> a = noise(400, 0.1, 1), b = noise(400, 0.1, 2);
  CHECK(slow(rise(a, 250), b));
  CHECK_FALSE(slow(rise(a, 250), rise(b, 250)));
  CHECK_FALSE(slow(rise(rise(a, 60), 250), rise(b, 60)));
}

TEST_CASE("what one side alone has is a parting: NaN, and a value that no longer changes") {
  const std::vector<float> a = noise(100, 0.05, 1), b = noise(100, 0.05, 2);
  const auto bad = changed(a, 60, [](float x, size_t i) { return i == 0 ? std::nanf("") : x; });
  const auto worse = changed(b, 40, [](float x, size_t i) { return i == 20 ? std::nanf("") : x; });
  const auto stuck = changed(a, 60, [](float, size_t) { return 1.0F; });
  for (const auto& [of, kind, at] :
       {std::tuple(bad, ChangeKind::kNonFinite, 60U), std::tuple(stuck, ChangeKind::kFreeze, 61U)}) {
    for (const bool swapped : {false, true}) {
      const auto found = swapped ? find_partings(b, of, kNorm) : find_partings(of, b, kNorm);
      REQUIRE(found.size() == 1);
      CHECK(found.front().at == at);
      CHECK(found.front().change.kind == kind);
    }
    CHECK(find_partings(of, of, kNorm).empty());
  }
  CHECK(find_partings(bad, worse, kNorm).empty());
  CHECK(find_partings(std::vector<float>(40, std::nanf("")), noise(40), kNorm).empty());
}

TEST_CASE("the difference of two means has no size") {
  std::vector<float> a = noise(200, 0.5, 1), b = noise(200, 0.5, 2);
  for (std::vector<float>* const values : {&a, &b}) {
    for (float& value : *values) value = 0.01F * (value - 1);
  }
  a[150] = -5;
  const auto found = find_partings(a, b, {true, false, 0});
  REQUIRE(first_parting(found) != nullptr);
  CHECK(first_parting(found)->at == 150);
  CHECK_FALSE(first_parting(found)->change.size);
}

}  // namespace msdump::check
