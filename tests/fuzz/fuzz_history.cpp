// Any bytes as the document of diff, as one of its rows, and as a history.jsonl: an error or a night, whose line says the same
// when it is read again, and an account that is about nights that are there.
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "history/account.h"
#include "history/night.h"

namespace {

using namespace msdump;
using namespace msdump::history;
using fuzz::require;

void require_round_trip(Night night) {
  night.time = "2026-11-29";
  const std::string line = line_of(night);
  require(line.find('\n') == line.size() - 1, "a night is one line");
  require(line.size() <= (kMostScopes + 8) * (6 * kMostNameBytes + 100), "a line is bounded");
  const std::optional<Night> again = parse_line(std::string_view(line).substr(0, line.size() - 1));
  require(again.has_value(), "a line can be read");
  require(again->scopes.size() == night.scopes.size() && again->outcome == night.outcome, "and says the same");
}

void require_document(std::string_view text) {
  const Result<Night> night = night_of_document(text);
  if (!night) {
    require(!night.error().message.empty(), "an error says what is wrong");
    return;
  }
  require(night->scopes.size() <= kMostScopes, "few layers");
  require(night->exit_code >= 0 && night->exit_code <= 3, "an exit code of diff");
  require_round_trip(*night);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require_document(text);
  require_document(R"({"command":"diff","rows":[)" + std::string(text) + R"(],"summary":{"compared":1}})");
  const Nights history = parse_history(text);
  const Account account = account_of(history.nights);
  require(account.nights == history.nights.size() && account.green + account.red <= account.nights,
          "every night counts");
  require(!account.since || *account.since < account.nights, "since a night that is there");
  require(!account.moved || account.moved->night < account.nights, "moved in a night that is there");
  require(!account.root_before || *account.root_before < account.nights, "a root of a night that is there");
  for (const Night& night : history.nights) require_round_trip(night);
  return 0;
}
