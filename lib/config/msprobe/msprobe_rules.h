// The rules for msprobe's config.json, a group of them a file; lint_msprobe calls them all.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/finding.h"
#include "config/keys.h"

namespace msdump::msprobe {

struct Rules {
  Findings& findings;
  const JsonValue& root;
  const LintTarget& target;
  std::string task, level;             // with their defaults; task structure has levels L0 and mix only
  const JsonMember* block = nullptr;   // of the task; null when there is none
  const JsonValue* options = nullptr;  // the block, when it is an object
  bool is_old_task = false;            // no release was stated, and only releases before the newest have the task

  [[nodiscard]] Version release() const;      // the one that was stated, else the newest
  [[nodiscard]] bool reads_old_keys() const;  // those that no release from 26 on reads

  [[nodiscard]] const JsonMember* top(std::string_view key) const { return find_member(root, key); }
  [[nodiscard]] const JsonMember* option(std::string_view key) const {
    return options == nullptr ? nullptr : find_member(*options, key);
  }
  [[nodiscard]] bool task_is_one_of(std::span<const std::string_view> tasks) const;
  // The place of an option's value: "statistics.list".
  [[nodiscard]] Spot spot(const JsonMember& member) const;
};

// As Python's `if value` decides.
[[nodiscard]] bool is_truthy(const JsonValue& value);
[[nodiscard]] inline bool is_truthy(const JsonMember* member) { return member != nullptr && is_truthy(member->value); }
[[nodiscard]] inline bool is_null(const JsonValue& value) { return value.is(JsonKind::kNull); }
[[nodiscard]] bool is_text_list(const JsonValue& value);
// Is it a task of this or an older release? Blocks have the names of tasks.
[[nodiscard]] bool is_task(std::string_view name);
[[nodiscard]] inline bool on_pytorch(const Setup& setup) { return setup.framework == Framework::kPyTorch; }

[[nodiscard]] std::string is_text(const JsonMember& member);
// "did you mean 'L1'?", otherwise all words.
[[nodiscard]] std::string words_hint(const JsonValue& value, std::span<const std::string_view> words);
[[nodiscard]] bool is_one_of(const JsonValue& value, std::span<const std::string_view> words);

void check_top_level(Rules& rules);
void check_steps(Rules& rules, const JsonMember& member, const Spot& spot);  // rank, step
void check_load(Rules& rules);
void check_block(Rules& rules);
void check_level(Rules& rules);  // what a level means for tasks and options

}  // namespace msdump::msprobe
