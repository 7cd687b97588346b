#include "config/kernels.h"

#include "support/catch.h"

namespace msdump {
namespace {

constexpr Version k110{1, 10, 0}, k20{2, 0, 0}, k210{2, 10, 0};

std::vector<KernelItem> items_of(const std::string& json) {
  const auto list = parse_json(json);
  REQUIRE(list);
  return parse_kernels(*list);
}

KernelItem item_of(const std::string& json) { return items_of("[" + json + "]").at(0); }

}  // namespace

TEST_CASE("items are full names, types or expressions") {
  CHECK(item_of(R"("Default/Add-op1")").kind == KernelItem::Kind::kFullName);
  CHECK(item_of(R"("Add-op1")").kind == KernelItem::Kind::kFullName);
  CHECK(item_of(R"("MatMul")").kind == KernelItem::Kind::kType);
  CHECK(item_of(R"x("name-regex(.*Mul.*)")x").text == ".*Mul.*");
  CHECK(item_of(R"x("name-regex(.*Mul.*")x").kind == KernelItem::Kind::kType);
  CHECK(item_of(R"(" ")").kind == KernelItem::Kind::kBlank);
  CHECK(item_of("1").kind == KernelItem::Kind::kNoText);
}

TEST_CASE("an item is the JSON text without its quotes and blanks") {
  CHECK(item_of(R"("Mat Mul")").text == "MatMul");
  CHECK(item_of(R"x("name-regex(\\d+)")x").text == R"(\\d+)");
  CHECK(item_of(R"("Mat\"Mul")").text == R"(Mat\Mul)");
}

TEST_CASE("what an item can select depends on the release") {
  CHECK(reach_of(item_of(R"("MatMul")"), k110) == KernelReach::kNever);
  CHECK(reach_of(item_of(R"("MatMul")"), k20) == KernelReach::kMay);
  CHECK(reach_of(item_of(R"("Mat Mul")"), k20) == KernelReach::kNever);
  CHECK(reach_of(item_of(R"("Mat Mul")"), k210) == KernelReach::kMay);
  CHECK(reach_of(item_of(R"x("name-regex(.*)")x"), k20) == KernelReach::kNever);
  CHECK(reach_of(item_of(R"x("name-regex(.*)")x"), k210) == KernelReach::kMay);
  CHECK(reach_of(item_of(R"x("name-regex(MatMul)")x"), k210) == KernelReach::kNever);
  CHECK(reach_of(item_of(R"x("name-regex([)")x"), k210) == KernelReach::kEnds);
  CHECK(reach_of(item_of(R"("")"), k110) == KernelReach::kNever);
  CHECK(reach_of(item_of(R"("")"), k20) == KernelReach::kEverything);
  CHECK(reach_of(item_of(R"("")"), k210) == KernelReach::kSkipped);
}

TEST_CASE("a filter chooses operators as MindSpore does") {
  const std::string name = "Default/network/fc1-Dense/MatMul-op3";
  const auto match = [&](const std::string& json, const Version& version) {
    return KernelFilter(items_of(json), version).match(name);
  };
  CHECK(match(R"(["Conv2D", "matmul"])", k210) == 1);
  CHECK(match(R"(["mul"])", k20) == 0);
  CHECK(match(R"(["mul"])", k110) == -1);
  CHECK(match(R"(["Dense"])", k210) == -1);
  CHECK(match(R"(["Default/network/fc1-Dense/MatMul-op3"])", k110) == 0);
  CHECK(match(R"(["Default/network/fc1-Dense/MatMul-op"])", k210) == -1);
  CHECK(match(R"x(["name-regex(.*fc1.*)"])x", k210) == 0);
  CHECK(match(R"x(["name-regex(fc1)"])x", k210) == -1);
  CHECK(match("[]", k210) == 0);
  CHECK(match(R"(["", " "])", k210) >= 0);
  CHECK(match("[]", k20) == -1);
  // RE2 does not read it; nobody else is asked.
  CHECK(match(R"x(["name-regex((?=x).*)"])x", k210) == -1);
}

TEST_CASE("an expression of ten thousand characters is used, a longer one chooses nothing") {
  const auto match = [](size_t length) {
    const std::string expression = ".*" + std::string(length - 4, 'x') + "|.";
    return KernelFilter(items_of("[\"name-regex(" + expression + ")\"]"), k210).match("a");
  };
  CHECK(match(10'000) == 0);
  CHECK(match(10'001) == -1);
}

TEST_CASE("every item that chooses an operator is marked, not only the first") {
  const std::vector<KernelItem> items =
      items_of(R"x(["Conv2D", "conv2d", "name-regex(.*Conv.*)", "ReLU", "Default/conv1-Conv2d/Conv2D-op3"])x");
  std::vector<bool> chose(items.size());
  KernelFilter(items, k210).mark_choosing("Default/conv1-Conv2d/Conv2D-op3", chose);
  CHECK(chose == std::vector<bool>{true, true, true, false, true});
}

TEST_CASE("expressions that neither grammar reads are distinguished from those that one does") {
  for (const char* text : {"[", "(", ")", "a)", "(a", "*a", "a|*", "(*)", "a**", "\\", "[a", "^*", "a+*"}) {
    INFO(text);
    CHECK_FALSE(regex_fault(text).empty());
  }
  for (const char* text : {"", ".*", "a+?", "a++", "[a-z]+", "[]", "[]a]", "[^]]", "(?:a|b)*", "(?=x)", "\\(", "[(]",
                           "a{2}", "(a)(b)?", "$"}) {
    INFO(text);
    CHECK(regex_fault(text).empty());
  }
}

}  // namespace msdump
