// The planted faults of corpus/diagnosis that msdump check is to find, in npy files and in device formats; and the
// faulty runs whose values are all finite, of which it has nothing to say.
#include <iostream>

#include <fmt/format.h>

#include "conformance/planted_truth.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/program/run_program.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct CheckAnswer {
  int exit_code = 0;
  JsonValue document;
};

CheckAnswer ask_check(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"check", "--json"});
  const cli::Outcome outcome = cli::run_program(arguments);
  auto document = parse_json(outcome.out);
  REQUIRE(document);
  return {static_cast<int>(outcome.code), std::move(*document)};
}

// `first` of the whole check and of the search alone.
void check_first_of(const PlantedCase& one, const char* tree, const char* expected_exit) {
  INFO(tree);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{one.tree(tree).string()}, {one.tree(tree).string(), "--first"}}) {
    const CheckAnswer answer = ask_check(arguments);
    CHECK(one.expects_exit(expected_exit, answer.exit_code));
    const JsonValue& first = *answer.document.find("first");
    REQUIRE(first.is(JsonKind::kObject));
    CHECK(answers(root_of(first), one.roots().front()));
    CHECK(first.find("inputs_finite")->boolean);
  }
}

}  // namespace

TEST_CASE("check names the operator that made the first infinity, with its line") {
  const auto corpus = corpus_or_skip("diagnosis");
  if (!corpus) return;
  size_t checked = 0;
  for (const fs::path& folder : planted_cases(*corpus, "check")) {
    INFO(folder.filename().string());
    const PlantedCase one(folder);
    check_first_of(one, "bad", "expect_exit");
    check_first_of(one, "bad_device", "expect_exit_device");
    ++checked;
  }
  CHECK(checked >= 1);
}

TEST_CASE("check says nothing about runs that are wrong and finite") {
  const auto corpus = corpus_or_skip("diagnosis");
  if (!corpus) return;
  size_t checked = 0;
  for (const fs::path& folder : planted_cases(*corpus, "diff")) {
    const PlantedCase one(folder);
    for (const char* const tree : {"ref", "bad", "bad_device"}) {
      INFO(folder.filename().string() << " " << tree);
      const CheckAnswer answer = ask_check({one.tree(tree).string()});
      CHECK(answer.exit_code == 0);
      CHECK(answer.document.find("rows")->items.empty());
      CHECK(answer.document.find("first")->is(JsonKind::kNull));
      ++checked;
    }
  }
  CHECK(checked >= 6);
}
