// Any bytes as the case.json of a case: either rounds that a plan can begin with, which are the same once they were written
// and read again, or one line that says what is wrong.
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz_file.h"
#include "next/case_folder.h"

namespace {

using namespace msdump;
using fuzz::require;

void check_case(const CaseFolder& found) {
  require(!found.rounds.empty() && found.rounds.size() <= kMostRounds, "the rounds are limited");
  require(!found.rounds.front().candidate.empty(), "the first round has a dump");
  require(found.path == absolute_path(found.path), "the path of a case is absolute");
}

void check_same(const CaseFolder& found, const CaseFolder& again) {
  require(again.rounds.size() == found.rounds.size(), "rounds are kept");
  for (size_t i = 0; i < found.rounds.size(); ++i)
    require(again.rounds[i].extent == found.rounds[i].extent, "the extent of a round is kept");
  require(again.settings.kind == found.settings.kind, "the kind is kept");
  require(again.settings.asynchronous == found.settings.asynchronous, "the mode is kept");
  require(again.settings.ir.size() == found.settings.ir.size(), "paths are kept");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > (1U << 16)) return 0;
  const std::string folder = fuzz::memory_folder().string();
  std::ofstream(folder + "/case.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto found = CaseFolder::read(folder);
  if (!found) {
    fuzz::require_good_error(found.error());
    return 0;
  }
  check_case(*found);
  require(found->write().has_value(), "what was read can be written");
  const auto again = CaseFolder::read(folder);
  require(again.has_value(), "what was written can be read");
  check_same(*found, *again);
  return 0;
}
