#include "compare/match/parameters/parameter_versions.h"

#include <cmath>
#include <string>
#include <vector>

#include "support/catch.h"

namespace msdump {
namespace {

using Group = ParameterVersions::Group;

std::string text_of(const Group& group) {
  return group.names + " " + std::to_string(group.parameters) + " " +
         (group.version ? std::to_string(*group.version) : "-") + (group.equal ? " equal" : "");
}

std::vector<std::string> texts_of(const std::vector<Group>& groups) {
  std::vector<std::string> texts;
  for (const Group& group : groups) texts.push_back(text_of(group));
  return texts;
}

}  // namespace

TEST_CASE("a layer of an earlier version is one group") {
  ParameterVersions versions;
  versions.add(
      {{"h.2.a", true, 0.1}, {"h.2.b", true, 0.1}, {"h.10.a", true, 0}, {"h.10.b", true, 0}, {"norm", true, 0.1}});
  versions.add(
      {{"h.2.a", true, 0}, {"h.2.b", true, 0}, {"h.10.a", true, 0.1}, {"h.10.b", true, 0.1}, {"norm", true, 0}});
  CHECK(versions.most() == 1);
  CHECK(versions.counts() == std::vector<uint64_t>{2, 3});
  CHECK(texts_of(versions.others()) == std::vector<std::string>{"h.10.* 2 0 equal"});
}

TEST_CASE("a layer of which a part is of another version is named part by part, in the order of numbers") {
  ParameterVersions versions;
  versions.add(
      {{"h.10.a", true, 0}, {"h.2.a", true, 0}, {"h.2.b", true, 0.1}, {"h.10.b", true, 0.1}, {"norm", true, 0.1}});
  versions.add(
      {{"h.10.a", true, 0.1}, {"h.2.a", true, 0.1}, {"h.2.b", true, 0}, {"h.10.b", true, 0}, {"norm", true, 0}});
  CHECK(texts_of(versions.others()) == std::vector<std::string>{"h.2.a 1 0 equal", "h.10.a 1 0 equal"});
}

TEST_CASE("what is equal in two versions, or about as near, is of the one that most are of") {
  ParameterVersions versions;
  versions.add({{"frozen", true, 0},
                {"rounded", true, 0.010},
                {"near", true, 0.004},
                {"a", true, 0.1},
                {"b", true, 0.1},
                {"c", true, 0.1}});
  versions.add({{"frozen", true, 0},
                {"rounded", true, 0.011},
                {"near", true, 0.009},
                {"a", true, 0},
                {"b", true, 0},
                {"c", true, 0}});
  CHECK(versions.counts() == std::vector<uint64_t>{1, 5});
  CHECK(texts_of(versions.others()) == std::vector<std::string>{"near 1 0"});
}

TEST_CASE("a parameter that agrees with no version is of none, and so is one that a version lacks of that one") {
  ParameterVersions versions;
  versions.add({{"a", true, 0}, {"b", true, 0}, {"wrong", false, 0.5}, {"late", false}});
  versions.add({{"a", true, 0.1}, {"wrong", false, 0.1}});
  versions.add({{"a", true, 0.1}, {"late", true, 0}});
  CHECK(versions.most() == 0);
  CHECK(texts_of(versions.others()) == std::vector<std::string>{"late 1 2 equal", "wrong 1 -"});
  CHECK(versions.parameters() == 4);
}

TEST_CASE("of two versions that as many parameters are of, the last is compared") {
  ParameterVersions versions;
  versions.add({{"a", true, 0}, {"b", true, 0.1}});
  versions.add({{"a", true, 0.1}, {"b", true, 0}});
  CHECK(versions.most() == 1);
}

}  // namespace msdump
