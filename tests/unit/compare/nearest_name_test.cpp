#include "compare/dumps/unpaired_tensors.h"

#include <algorithm>
#include <random>

#include "base/text.h"
#include "graph/op_name.h"
#include "support/catch.h"

namespace {

using namespace msdump;

// Each operator of a and b alone, those of b first.
Pairing without_partners(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  Pairing pairing;
  const auto add = [](const std::vector<std::string>& names, std::vector<SequencedOp>& operators) {
    for (const std::string& name : names) {
      operators.emplace_back().name = name;
      operators.back().tensors = {RecordId(0)};
    }
  };
  add(a, pairing.a);
  add(b, pairing.b);
  for (SequencedOpId i{0}; i < b.size(); ++i) pairing.operators.push_back({{kNoId, i}});
  for (SequencedOpId i{0}; i < a.size(); ++i) pairing.operators.push_back({{i, kNoId}});
  return pairing;
}

std::string nearest(const std::string& name, const std::vector<std::string>& names) {
  WorkerPool pool(1);
  const SequencedOpId found = nearest_names(without_partners({name}, names), pool).back();
  return found == kNoId ? std::string() : names[found];
}

// The rule of the header, one name after the other.
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

TEST_CASE("A name of which more than a third differs is not near") {
  CHECK(nearest("abcdef", {"abcdxy"}) == "abcdxy");
  CHECK(nearest("abcdef", {"abcxyz"}).empty());
  CHECK(nearest("ab", {"ax"}).empty());
  CHECK(nearest("MatMul", {}).empty());
  CHECK(nearest("", {"a"}).empty());
}

TEST_CASE("The nearest name is the one that a distance to each name finds") {
  std::mt19937 random(7);
  const auto below = [&](size_t limit) { return random() % limit; };
  for (int round = 0; round < 300; ++round) {
    const size_t letters = 1 + below(3), longest = 1 + below(20);
    const auto word = [&] {
      std::string text = below(2) == 0 ? "Net/" : "";
      for (size_t i = longest / 2 + below(longest / 2 + 2); i > 0; --i) text += "aB._c"[below(letters + 2)];
      return text;
    };
    std::vector<std::string> names(1 + below(30));
    for (std::string& name : names) name = word();
    const std::string name = word();
    INFO(name);
    CHECK(nearest(name, names) == nearest_by_hand(name, names));
  }
}

TEST_CASE("Absurdly long names have no nearest name, and cost nothing") {
  CHECK(nearest(std::string(512, 'x'), {std::string(512, 'x')}).size() == 512);
  CHECK(nearest(std::string(513, 'x'), {std::string(513, 'x')}).empty());
  // Near, but a distance would need a table of 200 x 200.
  std::string left(500, 'x'), right(500, 'x');
  for (size_t i = 120; i < 320; i += 2) left[i] = 'a';
  right[120] = right[319] = 'b';
  CHECK(nearest(left, {right}).empty());
}

TEST_CASE("Names are compared with those around the place, so that a long network has near names everywhere") {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("layer/other-op" + std::to_string(i));
  names[100] = "layer/MatMul-op7";  // 200 places before
  CHECK(nearest("layer/MatMul-op8", names).empty());
  names[240] = "layer/MatMul-op9";
  CHECK(nearest("layer/MatMul-op8", names) == "layer/MatMul-op9");
}

TEST_CASE("Only operators without a partner that have tensors have a nearest name, and only the first 64 of a side") {
  Pairing pairing = without_partners(std::vector<std::string>(300, "Default/Mul-op2"), {});
  pairing.b.resize(2);
  pairing.b[1].name = std::string("Default/Mul-op1");
  for (uint32_t i = 0; i < pairing.operators.size(); i += 50) pairing.operators[i].b = SequencedOpId(1);  // paired
  pairing.a[1].tensors.clear();
  WorkerPool pool(2);
  const std::vector<SequencedOpId> nearest = nearest_names(pairing, pool);
  CHECK(nearest.size() == 300);
  CHECK(nearest[0] == kNoId);
  CHECK(nearest[1] == kNoId);
  CHECK(std::count(nearest.begin(), nearest.end(), SequencedOpId(1)) == 64);
  CHECK(nearest[66] != kNoId);
  CHECK(nearest[67] == kNoId);
}
