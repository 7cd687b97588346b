#include "config/keys.h"

#include <set>

#include "support/catch.h"

namespace msdump {

TEST_CASE("every key of the table is there once and says what it does") {
  for (const ConfigKind kind : {ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl}) {
    std::set<std::string> seen;
    for (const ConfigKey& key : keys_of(kind)) {
      const std::string full = std::string(key.section) + "." + std::string(key.name);
      INFO(full);
      CHECK(key.kind == kind);
      CHECK(seen.insert(full).second);
      CHECK_FALSE(key.meaning.empty());
      CHECK(key.meaning.back() == '.');
      CHECK((key.until == Version{} || key.since < key.until));
      CHECK(find_key(kind, key.section, key.name) == &key);
    }
  }
}

TEST_CASE("every line of the tables is understood, and every rule has a case and asks for known facts") {
  const std::set<std::string> derived = {"dump", "debug", "task", "level", "block", "calls"};
  for (const ConfigKind kind : {ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl}) {
    CHECK(faults_in_table(kind) == std::vector<std::string>());
    const auto check = [&](const Conditions& conditions) {
      for (const Condition& condition : conditions) {
        INFO(condition.fact);
        CHECK((condition.fact.empty() || derived.contains(condition.fact) || !keys_named(condition.fact).empty()));
      }
    };
    for (const ConfigKey& key : keys_of(kind)) {
      INFO(key.name);
      for (const auto* const all : {&key.needed, &key.unread}) {
        for (const Conditions& conditions : *all) check(conditions);
      }
      for (const KeyRule& rule : key.rules) {
        CHECK_FALSE(rule.cases.empty());
        for (const RuleCase& one : rule.cases) check(one.conditions);
      }
    }
  }
}

TEST_CASE("a key is known by its name, its section and a glob") {
  CHECK(keys_named("saved_data").size() == 1);
  CHECK(keys_named("SAVED_DATA").size() == 1);
  CHECK(keys_named("enable").size() == 2);
  CHECK(keys_named("e2e_dump_settings.enable").size() == 1);
  CHECK(keys_named("sample*").size() == 2);
  CHECK(keys_named("saved_dta").empty());
}

TEST_CASE("availability says since when and for whom") {
  const auto text = [](std::string_view section, std::string_view name, ConfigKind kind = ConfigKind::kDataDump) {
    return availability(*find_key(kind, section, name));
  };
  CHECK(text(kCommonSection, "dump_mode") == "");
  CHECK(text(kCommonSection, "saved_data") == "MindSpore 1.6 and later");
  CHECK(text("", kAsyncSection) == "MindSpore 1.0 to 1.2");
  CHECK(text("", "risk_level", ConfigKind::kMsprobe) == "PyTorch only");
  CHECK(text("", "seed", ConfigKind::kMsprobe) == "older releases of msprobe only (before 26)");
}

TEST_CASE("a long word is not a misspelling") {
  const std::vector<std::string> words = {"dump_mode"};
  CHECK(did_you_mean("dump_mod", words) == "did you mean 'dump_mode'?");
  CHECK(did_you_mean(std::string(1'000'000, 'd'), words) == "");
}

}  // namespace msdump
