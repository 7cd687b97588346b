// The YAML of docs/ci.md: that it parses, and that its jobs are where GitHub and GitLab look for them.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/json.h"
#include "support/catch.h"
#include "support/paths.h"

namespace msdump {
namespace {

std::vector<std::string> yaml_blocks(const std::filesystem::path& page) {
  std::ifstream file(page);
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```yaml";
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

// Every text below a key "run" or "script".
void collect_commands(const JsonValue& value, bool is_command, std::vector<std::string>& commands) {
  if (is_command && value.is(JsonKind::kString)) commands.push_back(value.text);
  for (const JsonValue& item : value.items) collect_commands(item, is_command, commands);
  for (const JsonMember& member : value.members)
    collect_commands(member.value, member.key == "run" || member.key == "script", commands);
}

TEST_CASE("the YAML of docs/ci.md parses, and each recipe runs nightly.sh or msdump") {
  const std::vector<std::string> blocks = yaml_blocks(test::testdata_dir().parent_path() / "docs" / "ci.md");
  REQUIRE(blocks.size() == 3);
  for (const std::string& block : blocks) {
    INFO(block);
    const Result<JsonValue> yaml = parse_yaml(block);
    REQUIRE(yaml);
    std::vector<std::string> commands;
    collect_commands(*yaml, false, commands);
    REQUIRE_FALSE(commands.empty());
    const std::string& last = commands.back();
    CHECK((last.find("nightly.sh") != std::string::npos || last.starts_with("msdump ")));
  }
  const Result<JsonValue> github = parse_yaml(blocks[0]), gitlab = parse_yaml(blocks[1]);
  const JsonValue* const jobs = github->find("jobs");
  REQUIRE(jobs != nullptr);
  REQUIRE(jobs->members.size() == 1);
  CHECK(jobs->members[0].value.find("steps") != nullptr);
  CHECK(github->find("on") != nullptr);
  REQUIRE(gitlab->members.size() == 1);
  CHECK(gitlab->members[0].value.find("script") != nullptr);
}

}  // namespace
}  // namespace msdump
