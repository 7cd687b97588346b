#include "compare/match/nearest_name.h"

#include <algorithm>
#include <random>

#include "base/text.h"
#include "graph/op_name.h"
#include "support/catch.h"

namespace {

using namespace msdump;

std::vector<SequencedOp> named(const std::vector<std::string>& names) {
  std::vector<SequencedOp> operators;
  for (const std::string& name : names) operators.emplace_back().name = name;
  return operators;
}

std::string nearest(const std::string& name, const std::vector<std::string>& names) {
  const std::vector<SequencedOp> operators = named(names);
  const uint32_t found = NearestNames(operators).nearest(name);
  return found == kNoOperator ? std::string() : names[found];
}

// What the promise says, one name after the other.
std::string nearest_by_hand(const std::string& name, const std::vector<std::string>& names) {
  std::string found;
  size_t best = name.size() / 3 + 1;
  for (const std::string& other : names) {
    const size_t distance = edit_distance(normalised_op_name(name), normalised_op_name(other));
    if (distance >= best) continue;
    best = distance;
    found = other;
  }
  return found;
}

}  // namespace

TEST_CASE("The nearest name is the one with the fewest edits, as it is written") {
  CHECK(nearest("Default/net/MatMul-op12", {"Default/net/Add-op1", "Default_net_matmul-op13"}) ==
        "Default_net_matmul-op13");
  CHECK(nearest("conv1", {"conv2", "conv"}) == "conv2");   // equally near: the first
  CHECK(nearest("covn1", {"cxxn1", "conv1"}) == "conv1");  // a swap counts once
  CHECK(nearest("abc", {"abx", "abc"}) == "abc");
}

TEST_CASE("A name of which more than a third is different is not near") {
  CHECK(nearest("abcdef", {"abcdxy"}) == "abcdxy");
  CHECK(nearest("abcdef", {"abcxyz"}).empty());
  CHECK(nearest("ab", {"ax"}).empty());
  CHECK(nearest("MatMul", {}).empty());
  CHECK(nearest("", {"a"}).empty());
}

TEST_CASE("A nearest name is found among as many operators as are looked at, and none that is absurdly long") {
  std::vector<std::string> names(1999, "something else");
  names.emplace_back("Default/MatMul-op1");
  names.emplace_back("Default/MatMul-op2");
  CHECK(nearest("Default/MatMul-op2", names) == "Default/MatMul-op1");
  CHECK(nearest(std::string(1025, 'x'), {std::string(1025, 'x')}).empty());
  CHECK(nearest(std::string(1024, 'x'), {std::string(1024, 'x')}).size() == 1024);
}

TEST_CASE("Comparing 64 characters at once finds what comparing one by one finds") {
  std::mt19937 random(7);
  const auto below = [&](size_t limit) { return random() % limit; };
  for (int round = 0; round < 300; ++round) {
    const size_t letters = 1 + below(3), longest = 1 + below(round % 10 == 0 ? 300 : 20);
    const auto word = [&] {
      std::string text = below(2) == 0 ? "Net/" : "";
      for (size_t i = longest / 2 + below(longest / 2 + 2); i > 0; --i) text += "aB._c"[below(letters + 2)];
      return text;
    };
    std::vector<std::string> names(1 + below(30));
    for (std::string& name : names) name = word();
    const std::vector<SequencedOp> operators = named(names);
    const NearestNames sorted(operators);
    for (int query = 0; query < 20; ++query) {
      const std::string name = word();
      INFO(name);
      const uint32_t found = sorted.nearest(name);
      CHECK((found == kNoOperator ? std::string() : names[found]) == nearest_by_hand(name, names));
    }
  }
}

TEST_CASE("Only operators without a partner have a nearest name, and only the first thousand of a side") {
  Pairing pairing;
  pairing.b = named({"Default/Add-op1", "Default/Mul-op1"});
  for (uint32_t i = 0; i < 1200; ++i) {
    pairing.a.emplace_back().name = "Default/Mul-op2";
    pairing.a.back().tensors = {0};
    pairing.operators.push_back({i, kNoOperator, PairedBy::kNothing, 0});
  }
  pairing.operators.front().b = 0;
  pairing.a[1].tensors.clear();  // nothing is said of it
  WorkerPool pool(2);
  const std::vector<uint32_t> nearest = nearest_names(pairing, pool);
  CHECK(nearest.size() == 1200);
  CHECK(nearest[0] == kNoOperator);
  CHECK(nearest[1] == kNoOperator);
  CHECK(std::count(nearest.begin(), nearest.end(), 1U) == 1000);
  CHECK(nearest[1001] == 1);
  CHECK(nearest[1002] == kNoOperator);
}
