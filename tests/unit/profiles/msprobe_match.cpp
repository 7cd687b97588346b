#include "profiles/msprobe/match.h"

#include "support/catch.h"
#include "support/made_items.h"

namespace msdump {
namespace {

using Strings = std::vector<std::string>;
using test::items_of;

// "A=B" and "A=-".
Strings print(const std::vector<MsprobePair>& pairs, const Strings& target, const Strings& golden) {
  Strings all;
  for (const MsprobePair& pair : pairs) {
    all.push_back(target[pair.target] + "=" + (pair.golden ? golden[*pair.golden] : "-"));
  }
  return all;
}

TEST_CASE("items of one key are paired in the order of the target") {
  const Strings target{"b", "a", "c"}, golden{"a", "x", "b", "a"};
  CHECK(print(match_exactly(target, items_of(golden)).value(), target, golden) == Strings{"b=b", "a=a", "a=a", "c=-"});
}

TEST_CASE("names that repeat on both sides do not make more pairs than memory holds") {
  const Strings names(5000, "T.f.0.forward.input.0");
  const auto pairs = match_exactly(names, items_of(names));
  REQUIRE_FALSE(pairs);
  CHECK(pairs.error().code == ErrorCode::kTooLarge);
  CHECK(match_exactly({names[0]}, items_of(names))->size() == 5000);
}

TEST_CASE("the fuzzy match passes over call numbers and over what has no partner") {
  const auto match = [](const Strings& target, const Strings& golden) {
    return print(match_fuzzily(target, items_of(golden)), target, golden);
  };
  const std::string f0 = "T.f.0.forward.input.0", f1 = "T.f.1.forward.input.0", g0 = "T.g.0.forward.input.0",
                    h0 = "T.h.0.forward.input.0";
  CHECK(match({f1}, {f0}) == Strings{f1 + "=" + f0});
  CHECK(match({g0, f1}, {f0, g0}) == Strings{g0 + "=-", f1 + "=" + f0});
  CHECK(match({h0, g0}, {g0, f0}) == Strings{h0 + "=-", g0 + "=" + g0});
  CHECK(match({f0}, {g0, h0, f1}) == Strings{f0 + "=" + f1});
  CHECK(match({f0, g0}, {h0}) == Strings{f0 + "=-", g0 + "=-"});
  // The walk ends when one queue runs dry: the third item is lost.
  CHECK(match({f0, g0, h0}, {f0}) == Strings{f0 + "=" + f0, g0 + "=-"});
  CHECK(match({"x.0.debug"}, {"x.1.debug"}) == Strings{"x.0.debug=-"});
  CHECK(match({"M.a.L.backward.1.input.0"}, {"M.a.L.backward.2.input.0"}) == Strings{"M.a.L.backward.1.input.0=-"});
}

TEST_CASE("dtypes match when they are equal or both floats, across frameworks by family") {
  CHECK(msprobe_dtypes_match("Float32", "BFloat16", false));
  CHECK(msprobe_dtypes_match("torch.float16", "torch.float64", false));
  CHECK_FALSE(msprobe_dtypes_match("Float32", "torch.float32", false));
  CHECK(msprobe_dtypes_match("Float32", "torch.float16", true));
  CHECK(msprobe_dtypes_match("Int8", "torch.int64", true));
  CHECK_FALSE(msprobe_dtypes_match("Int8", "torch.int64", false));
  CHECK(msprobe_dtypes_match("Bool", "torch.bool", true));
  CHECK_FALSE(msprobe_dtypes_match("Bool", "torch.uint8", true));
  CHECK(msprobe_dtypes_match("N/A", "N/A", false));
  CHECK(msprobe_dtypes_match("<class 'int'>", "<class 'int'>", true));
}

}  // namespace
}  // namespace msdump
