#include "findings/finding.h"

#include <vector>

#include "support/catch.h"

namespace msdump {

TEST_CASE("severities have one name each, which is read in any case") {
  for (const Severity severity : {Severity::kNote, Severity::kWarning, Severity::kError})
    CHECK(parse_severity(name_of(severity)) == severity);
  CHECK(parse_severity("ERROR") == Severity::kError);
  CHECK_FALSE(parse_severity("fatal"));
  CHECK_FALSE(parse_severity(""));
}

TEST_CASE("a severity is raised and limited, not replaced") {
  FindingText finding;
  finding.limit_severity(Severity::kError);
  CHECK(finding.severity == Severity::kWarning);
  finding.raise_severity(Severity::kNote);
  CHECK(finding.severity == Severity::kWarning);
  finding.limit_severity(Severity::kNote);
  CHECK(finding.severity == Severity::kNote);
  finding.raise_severity(Severity::kError);
  CHECK(finding.severity == Severity::kError);
}

TEST_CASE("the first findings of a rule are kept, the rest are counted with the worst severity and the last place") {
  FindingCap<std::string, int> cap(2);
  CHECK(cap.admit("a", Severity::kError, 1));
  CHECK_FALSE(cap.is_full("a"));
  CHECK(cap.admit("a", Severity::kWarning, 2));
  CHECK(cap.is_full("a"));
  CHECK(cap.admit("b", Severity::kWarning, 3));
  CHECK(cap.rest().empty());
  CHECK_FALSE(cap.admit("a", Severity::kError, 4));
  CHECK_FALSE(cap.admit("a", Severity::kWarning, 5));
  REQUIRE(cap.rest().size() == 1);
  const auto& [rule, rest] = *cap.rest().begin();
  CHECK(rule == "a");
  CHECK(rest.count == 2);
  CHECK(rest.worst == Severity::kError);
  CHECK(rest.last == 5);
}

TEST_CASE("findings are counted by severity") {
  std::vector<FindingText> findings(3);
  findings[0].severity = Severity::kError;
  findings[1].severity = Severity::kNote;
  const SeverityCounts counts = count_severities(findings);
  CHECK(counts.errors == 1);
  CHECK(counts.warnings == 1);
  CHECK(counts.notes == 1);
}

}  // namespace msdump
