#include "conformance/planted_truth.h"

#include <algorithm>

#include "support/catch.h"
#include "support/paths.h"
#include "support/tar.h"

namespace msdump::test {

namespace fs = std::filesystem;

namespace {

bool holds(const JsonValue& list, const std::string& text) {
  return std::any_of(list.items.begin(), list.items.end(), [&](const JsonValue& one) { return one.text == text; });
}

JsonValue truth_of(const fs::path& folder) {
  auto truth = parse_json(read_bytes(folder / "truth.json"));
  REQUIRE(truth);
  return std::move(*truth);
}

}  // namespace

PlantedCase::PlantedCase(const fs::path& folder) : truth_(truth_of(folder)) {
  for (const char* const name : {"ref", "bad", "bad_device"}) {
    if (fs::exists(folder / (std::string(name) + ".tar.gz")))
      unpack_tar(folder / (std::string(name) + ".tar.gz"), scratch_.make_dir(name));
  }
}

bool PlantedCase::expects_exit(const char* key, int code) const {
  const auto& codes = truth_.find(key)->items;
  return std::any_of(codes.begin(), codes.end(), [&](const JsonValue& one) { return one.as_int() == code; });
}

std::vector<fs::path> planted_cases(const fs::path& corpus, std::string_view command) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    if (!fs::exists(entry.path() / "truth.json")) continue;
    if (command.empty() || truth_of(entry.path()).find("command")->text == command) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

bool answers(const NamedRoot& named, const JsonValue& fault) {
  const auto& any_of = fault.find("any_of")->items;
  return std::any_of(any_of.begin(), any_of.end(), [&](const JsonValue& right) {
    const auto& names = right.find("names")->items;
    const bool is_op = std::any_of(names.begin(), names.end(),
                                   [&](const JsonValue& name) { return same_op_name(name.text, named.op_name); });
    const JsonValue& lines = *right.find("source");
    return is_op && (lines.items.empty() || holds(lines, named.place()) || holds(*fault.find("source"), named.place()));
  });
}

}  // namespace msdump::test
