// Findings of a lint, and how rules make them: a rule says, for each setup, what it would do with the content of the file.
//
//   error     every setup refuses the run, aborts it or writes nothing
//   warning   some do, or some silently do something else than was asked for; the text names which
//   nothing   all do what was asked for
//
// At most kMostOfARule findings of a rule are kept, plus one that counts the rest: a file of a million mistakes must
// not cost the memory of a million messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/setups.h"
#include "findings/finding.h"
#include "io/json.h"

namespace msdump {

struct Finding {
  size_t offset = 0;
  size_t line = 1, column = 1;  // column in characters
  std::string key;              // "common_dump_settings.iteration", "kernels[2]"; empty: the file as a whole
  Severity severity = Severity::kWarning;
  std::string rule;  // a stable word
  std::string message, hint;
};

enum class Outcome : uint8_t {
  kFine,
  kOther,  // silently does something other than what was asked for
  kStops,  // the run is refused, or ends, or nothing is written
};
struct Effect {
  Outcome outcome = Outcome::kFine;
  std::string text;  // what happens: "the run is refused"
};
[[nodiscard]] inline Effect fine() { return {}; }
[[nodiscard]] Effect other(std::string text);
[[nodiscard]] Effect stops(std::string text);
inline constexpr std::string_view kRefused = "the run is refused", kNothingWritten = "nothing is written";
[[nodiscard]] Effect refused();
[[nodiscard]] Effect nothing_written();

// A place in the file.
struct Spot {
  std::string key;
  size_t offset = 0;
};

// `subject` says what is in the file; the effect says what becomes of it.
struct Complaint {
  std::string_view rule;
  std::string subject;
  std::string hint = {};
};

class Findings {
 public:
  static constexpr size_t kMostOfARule = 100;

  // The text must live until `take`.
  Findings(std::string_view text, std::vector<Setup> setups);

  [[nodiscard]] const std::vector<Setup>& setups() const { return setups_; }
  // Adds a finding if some setup does not do what was asked for; returns whether it did.
  template <class EffectOf>
  bool judge(const Spot& spot, const Complaint& complaint, const EffectOf& effect_of) {
    std::vector<Effect> effects;
    effects.reserve(setups_.size());
    for (const Setup& setup : setups_) effects.push_back(effect_of(setup));
    return judge_effects(spot, complaint, effects);
  }
  // The same effect for all setups.
  void error(const Spot& spot, const Complaint& complaint) {
    add(spot, complaint, Severity::kError, complaint.subject);
  }
  void warning(const Spot& spot, const Complaint& complaint) {
    add(spot, complaint, Severity::kWarning, complaint.subject);
  }
  // Further findings of the rule are only counted, so their messages need not be made.
  [[nodiscard]] bool has_enough_of(std::string_view rule) const;
  // In the order of the file.
  [[nodiscard]] std::vector<Finding> take();

 private:
  bool judge_effects(const Spot& spot, const Complaint& complaint, const std::vector<Effect>& effects);
  void add(const Spot& spot, const Complaint& complaint, Severity severity, std::string message);

  std::string_view text_;
  std::vector<Setup> setups_;
  std::vector<Finding> findings_;
  struct Tally {
    size_t seen = 0, errors = 0;
    size_t last_offset = 0;
  };
  std::map<std::string, Tally, std::less<>> tallies_;
};

// A value as a message names it: 'all', 3, a list, an object, null.
[[nodiscard]] std::string in_words(const JsonValue& value);

}  // namespace msdump
