// Findings about a configuration. A rule says what each setup would make of a value; Findings turns the answers into one
// finding that names the setups:
//   error     every setup refuses the run, aborts it or writes nothing
//   warning   some do, or some silently do something other than what was asked for
//   nothing   all do what was asked for
//
// Findings keeps kMostOfARule findings of a rule, and counts the rest in one more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/setups.h"
#include "findings/finding.h"
#include "io/json.h"

namespace msdump {

struct Finding : FindingText {
  size_t offset = 0;
  std::string key;              // "common_dump_settings.iteration", "kernels[2]"; empty: the file itself
  std::string rule;             // a stable word
  size_t line = 1, column = 1;  // column in characters
};

enum class Outcome : uint8_t {
  kFine,
  kIgnored,  // the reader silently does something other than what was asked for
  kRefused,  // the run is refused, or ends, or nothing is written
};
inline constexpr std::string_view kRefused = "the run is refused", kNothingWritten = "nothing is written";
struct Effect {
  Outcome outcome = Outcome::kFine;
  std::string text;  // what happens: "the run is refused"
};
[[nodiscard]] inline Effect fine() { return {}; }
[[nodiscard]] inline Effect ignored(std::string text) { return {Outcome::kIgnored, std::move(text)}; }
[[nodiscard]] inline Effect refused(std::string text = std::string(kRefused)) {
  return {Outcome::kRefused, std::move(text)};
}
[[nodiscard]] inline Effect nothing_written() { return refused(std::string(kNothingWritten)); }

// A place in the file.
struct Spot {
  std::string key;
  size_t offset = 0;
};

// The subject is the beginning of the message: what the file says. The effects follow it.
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
  // Adds a finding if some setup does not do what was asked for, and then returns true.
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
  // True if further findings of the rule are only counted, so their messages need not be made.
  [[nodiscard]] bool has_enough_of(std::string_view rule) const { return cap_.is_full(std::string(rule)); }
  // In the order of the file.
  [[nodiscard]] std::vector<Finding> take();

 private:
  bool judge_effects(const Spot& spot, const Complaint& complaint, const std::vector<Effect>& effects);
  void add(const Spot& spot, const Complaint& complaint, Severity severity, std::string message);

  std::string_view text_;
  std::vector<Setup> setups_;
  std::vector<Finding> findings_;
  FindingCap<std::string, size_t> cap_{kMostOfARule};
};

}  // namespace msdump
