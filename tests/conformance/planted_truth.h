// A planted fault of corpus/diagnosis: its dumps, unpacked, and what its truth.json says of it. The form of truth.json is
// reported in the README there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/diff_answer.h"
#include "io/json.h"
#include "support/scratch_dir.h"

namespace msdump::test {

class PlantedCase {
 public:
  explicit PlantedCase(const std::filesystem::path& folder);

  [[nodiscard]] std::filesystem::path tree(const char* name) const { return scratch_.path() / name; }  // "ref", "bad"
  [[nodiscard]] const std::vector<JsonValue>& roots() const { return truth_.find("roots")->items; }
  // Of "expect_exit" or "expect_exit_device".
  [[nodiscard]] bool expects_exit(const char* key, int code) const;

 private:
  const ScratchDir scratch_;
  JsonValue truth_;
};

// The folders of those that are for a command ("diff"); of all for none.
[[nodiscard]] std::vector<std::filesystem::path> planted_cases(const std::filesystem::path& corpus,
                                                               std::string_view command = {});

// Is it an operator of this fault, with a line that is right for it? An empty `source`: the IR names no line.
[[nodiscard]] bool answers(const NamedRoot& named, const JsonValue& fault);

}  // namespace msdump::test
