#include "config/setups.h"

#include "config/finding.h"
#include "support/catch.h"

namespace msdump {
namespace {

template <class Chosen>
std::string where(ConfigKind kind, const LintTarget& target, const Chosen& chosen) {
  const std::vector<Setup> all = setups_for(kind, target);
  std::vector<bool> some;
  for (const Setup& setup : all) some.push_back(chosen(setup));
  return where_text(all, some);
}

}  // namespace

TEST_CASE("a release is typed in several ways, and only these") {
  const auto typed = [](const char* text) {
    const auto release = parse_release(text);
    return release ? to_string(release->version) + (release->exact ? "" : " about") : "none";
  };
  CHECK(typed("2") == "2.0.0");
  CHECK(typed("2.7") == "2.7.0");
  CHECK(typed("v2.10.1") == "2.10.1");
  CHECK(typed("2.3.0rc1") == "2.3.0 about");
  CHECK(typed("2.3rc2") == "2.3.0 about");
  CHECK(typed("2.7.post1") == "2.7.0 about");
  CHECK(typed("2.7.0-dev20250101+cpu") == "2.7.0 about");
  for (const char* text : {"", "v", "next", "2.", "2..7", "2.7x", "2.7.0.1", "2.7 ", "-2.7", "vv2.7", "99999.1"}) {
    INFO(text);
    CHECK(typed(text) == "none");
  }
}

TEST_CASE("setups are named by what they have in common") {
  const auto data_dump = [](const auto& chosen) { return where(ConfigKind::kDataDump, {}, chosen); };
  CHECK(data_dump([](const Setup&) { return true; }) == "");
  CHECK(data_dump([](const Setup& setup) { return setup.version >= Version{2, 3, 0}; }) == "MindSpore 2.3 and later");
  CHECK(data_dump([](const Setup& setup) { return setup.version < Version{1, 6, 0}; }) == "MindSpore 1.3 to 1.5");
  CHECK(data_dump([](const Setup& setup) { return setup.version == Version{2, 7, 1}; }) == "MindSpore 2.7.1");
  CHECK(data_dump([](const Setup& setup) { return setup.device == Device::kCpu; }) == "on a CPU");
  CHECK(data_dump([](const Setup& setup) { return setup.device != Device::kAscend; }) == "on a CPU or a GPU");
  CHECK(data_dump([](const Setup& setup) {
          return setup.device == Device::kCpu && setup.version < Version{1, 8, 0};
        }) == "MindSpore 1.3 to 1.7 on a CPU");
  CHECK(data_dump([](const Setup& setup) {
          return setup.device == Device::kCpu || setup.version == Version{2, 0, 0};
        }) == "on a CPU; MindSpore 2.0 on a GPU or Ascend");
}

TEST_CASE("what was said of the run is not said again") {
  const LintTarget target{Version{2, 5, 0}, Device::kCpu, {}, ""};
  CHECK(setups_for(ConfigKind::kDataDump, target).size() == 1);
  CHECK(where(ConfigKind::kDataDump, target, [](const Setup&) { return true; }) == "");
  CHECK(where(ConfigKind::kMsprobe, {}, [](const Setup& setup) { return setup.framework == Framework::kPyTorch; }) ==
        "PyTorch");
  CHECK(setups_for(ConfigKind::kAcl, target).size() == 1);
}

TEST_CASE("files of the old form are judged for the old releases, too") {
  CHECK(setups_for(ConfigKind::kDataDump, {}).front().version == Version{1, 3, 0});
  CHECK(setups_for(ConfigKind::kDataDump, {}, true).front().version == Version{1, 0, 0});
  CHECK(versions_text(ConfigKind::kDataDump, setups_for(ConfigKind::kDataDump, {})) == "1.3 to 2.10");
  const LintTarget one{Version{2, 7, 1}, {}, {}, ""};
  CHECK(versions_text(ConfigKind::kDataDump, setups_for(ConfigKind::kDataDump, one)) == "2.7.1");
}

TEST_CASE("a finding is an error when every setup stops, a warning when some do or do something else") {
  const std::string text = "line\n  here";
  const Complaint complaint{"rule", "it is so"};
  const auto judged = [&](const auto& effect) {
    Findings findings(text, setups_for(ConfigKind::kDataDump, {}));
    CHECK(findings.judge({"key", 7}, complaint, effect) == true);
    return findings.take().at(0);
  };
  const Finding all = judged([](const Setup&) { return refused(); });
  CHECK(all.severity == Severity::kError);
  CHECK(all.message == "it is so: the run is refused");
  CHECK(all.line == 2);
  CHECK(all.column == 3);
  const Finding some = judged([](const Setup& setup) {
    if (setup.version < Version{2, 0, 0}) return fine();
    return setup.version < Version{2, 3, 0} ? refused() : ignored("it is ignored");
  });
  CHECK(some.severity == Severity::kWarning);
  CHECK(some.message == "it is so: the run is refused (MindSpore 2.0 to 2.2); it is ignored (MindSpore 2.3 and later)");
  Findings none(text, setups_for(ConfigKind::kDataDump, {}));
  CHECK_FALSE(none.judge({"key", 7}, complaint, [](const Setup&) { return fine(); }));
  CHECK(none.take().empty());
}

TEST_CASE("of one rule a hundred findings are kept and the others counted, with the worst severity") {
  Findings findings("", setups_for(ConfigKind::kAcl, {}));
  for (int i = 0; i < 150; ++i) findings.warning({"", 0}, {"many", "again"});
  findings.error({"", 0}, {"many", "worse"});
  findings.warning({"", 0}, {"few", "once"});
  const std::vector<Finding> all = findings.take();
  CHECK(all.size() == 102);
  CHECK(std::any_of(all.begin(), all.end(), [](const Finding& finding) {
    return finding.message == "and 51 more like this" && finding.severity == Severity::kError;
  }));
}

}  // namespace msdump
