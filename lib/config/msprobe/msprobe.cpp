#include "config/msprobe/msprobe.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "config/msprobe/msprobe_rules.h"

namespace msdump {
namespace msprobe {
namespace {

// The releases of msprobe that have a task, up to but not including `until`; 0: all later ones. Source: TASK_LIST and
// TaskDict in the packages of mindstudio-probe from 1.0.1 to 26.2.0 on PyPI.
struct TaskRelease {
  std::string_view name;
  Framework framework;
  Version since, until;
};
constexpr Version kStart = kFirstMsprobe, kNoEnd{}, k1_0_3{1, 0, 3}, k1_2_2{1, 2, 2}, k8_2{8, 2, 0}, k26{26, 0, 0},
                  k26_1{26, 1, 0};
constexpr std::array kTaskReleases = {
    TaskRelease{"tensor", Framework::kPyTorch, kStart, kNoEnd},
    TaskRelease{"tensor", Framework::kMindSpore, kStart, kNoEnd},
    TaskRelease{"statistics", Framework::kPyTorch, kStart, kNoEnd},
    TaskRelease{"statistics", Framework::kMindSpore, kStart, kNoEnd},
    TaskRelease{"structure", Framework::kPyTorch, k1_2_2, kNoEnd},
    TaskRelease{"structure", Framework::kMindSpore, k1_2_2, kNoEnd},
    TaskRelease{"exception_dump", Framework::kMindSpore, k8_2, kNoEnd},
    TaskRelease{"diff_check", Framework::kPyTorch, k26, kNoEnd},
    TaskRelease{"nan_check", Framework::kPyTorch, k26_1, kNoEnd},
    TaskRelease{"overflow_check", Framework::kPyTorch, kStart, k26},
    TaskRelease{"overflow_check", Framework::kMindSpore, kStart, k26_1},
    TaskRelease{"free_benchmark", Framework::kPyTorch, kStart, k26},
    TaskRelease{"free_benchmark", Framework::kMindSpore, k1_0_3, k26},
    TaskRelease{"run_ut", Framework::kPyTorch, k1_0_3, k26},
    TaskRelease{"grad_probe", Framework::kPyTorch, k1_0_3, k26},
    TaskRelease{"grad_probe", Framework::kMindSpore, k1_0_3, k26},
};
// In the lists of msprobe since 26, but no configuration can run it.
constexpr std::string_view kAccCheckTask = "acc_check";
constexpr std::array<std::string_view, 5> kLevels = {"L0", "L1", "L2", "mix", "debug"};
constexpr std::array<std::string_view, 2> kPrecisions = {"low", "high"};
constexpr std::array<std::string_view, 3> kRiskLevels = {"CORE", "FOCUS", "ALL"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

const TaskRelease* release_of(std::string_view task, Framework framework) {
  const auto found = std::find_if(kTaskReleases.begin(), kTaskReleases.end(), [&](const TaskRelease& one) {
    return one.name == task && one.framework == framework;
  });
  return found == kTaskReleases.end() ? nullptr : &*found;
}

bool has_task(std::string_view task, Framework framework, const Version& release) {
  const TaskRelease* const one = release_of(task, framework);
  return one != nullptr && release >= one->since && (one->until == kNoEnd || release < one->until);
}

// Those of a release, each once, in the order of the table.
std::vector<std::string_view> tasks_of(const Version& release) {
  std::vector<std::string_view> tasks;
  for (const TaskRelease& one : kTaskReleases) {
    if (has_task(one.name, one.framework, release) && !contains(tasks, one.name)) tasks.push_back(one.name);
  }
  return tasks;
}

// "msprobe has this task from 1.0.3 to before 26.0"; empty for a framework that never had it.
std::string releases_text(std::string_view task, Framework framework) {
  const TaskRelease* const one = release_of(task, framework);
  if (one == nullptr) return "";
  const std::string since = short_text(one->since);
  return one->until == kNoEnd
             ? fmt::format("msprobe has this task from {} on", since)
             : fmt::format("msprobe has this task from {} to before {}", since, short_text(one->until));
}

std::string_view place_of(std::string_view task) {
  if (task == "diff_check") return "diff_check is for PyTorch";
  if (task == "exception_dump") return "exception_dump is for MindSpore at level L2";
  if (task == "nan_check") return "nan_check is for PyTorch with torch_npu at level L1";
  if (task == "run_ut") return "run_ut is for PyTorch";
  if (task == kAccCheckTask) return "use the command msprobe acc_check on a finished dump";
  return "";
}

// True for values that ask for the default, so nothing is lost where the key is not read. check_switch reports
// dump_enable.
bool asks_for_nothing(const JsonMember& member) {
  if (member.key == "dump_enable" || !is_truthy(member.value)) return true;
  return member.key == "risk_level" && member.value.text == "FOCUS";
}

void check_reader(Rules& rules, const ConfigKey& key, const JsonMember& member) {
  const Spot spot{member.key, member.key_offset};
  if (key.readers == Readers::kNone) {
    if (rules.reads_old_keys()) return;
    rules.findings.warning(spot,
                           {"old-key", fmt::format("{} is for older releases of msprobe: it is not read", member.key),
                            std::string(key.meaning)});
  } else if (key.readers == Readers::kPyTorch && !asks_for_nothing(member)) {
    rules.findings.judge(spot, {"not-read", is_text(member)}, [](const Setup& setup) {
      return on_pytorch(setup) ? fine() : other("MindSpore does not read it");
    });
  }
}

void check_members(Rules& rules) {
  const KeyedObject top{rules.root, ConfigKind::kMsprobe, "", ""};
  check_repeated_keys(rules.findings, top);
  for (const JsonMember& member : rules.root.members) {
    if (is_task(member.key)) continue;
    const ConfigKey* key = find_key(ConfigKind::kMsprobe, "", member.key);
    if (key == nullptr) {
      complain_of_unknown_key(rules.findings, top, member);
    } else {
      check_reader(rules, *key, member);
    }
  }
}

// What a release that has the task makes of it.
Effect effect_of_task(const Rules& rules, const Setup& setup) {
  if (rules.task == "exception_dump" && rules.level != "L2") return refused();
  if (rules.task == "nan_check" && (setup.device != Device::kAscend || rules.level != "L1")) return refused();
  return fine();
}

void check_task(Rules& rules) {
  const JsonMember* member = rules.top("task");
  const Spot spot{"task", member == nullptr ? rules.root.offset : member->value.offset};
  if (!is_truthy(member)) return;
  if (!member->value.is(JsonKind::kString) || !is_task(member->value.text)) {
    rules.findings.error(spot, {"task", fmt::format("{}: {}", is_text(*member), kRefused),
                                words_hint(member->value, tasks_of(rules.release()))});
    return;
  }
  const auto has = [&](const Setup& setup) { return has_task(rules.task, setup.framework, rules.release()); };
  std::string releases;  // of a framework whose release of msprobe lacks the task
  for (const Setup& setup : rules.findings.setups()) {
    if (releases.empty() && !has(setup)) releases = releases_text(rules.task, setup.framework);
  }
  if (rules.is_old_task) {
    rules.findings.warning(
        spot, {"task", fmt::format("{}: msprobe {} refuses the run", is_text(*member), short_text(rules.release())),
               releases + "; --msprobe-version says which one will run"});
    return;
  }
  rules.findings.judge(spot,
                       {"task", is_text(*member), releases.empty() ? std::string(place_of(rules.task)) : releases},
                       [&](const Setup& setup) { return has(setup) ? effect_of_task(rules, setup) : refused(); });
}

void check_dump_path(Rules& rules) {
  const JsonMember* member = rules.top("dump_path");
  const Spot spot{"dump_path", member == nullptr ? rules.root.offset : member->value.offset};
  const bool text = member != nullptr && member->value.is(JsonKind::kString);
  if (text && !member->value.text.empty()) return;
  const KeyedObject top{rules.root, ConfigKind::kMsprobe, "", ""};
  if (member == nullptr || is_null(member->value) || text) {
    std::string hint = member == nullptr ? hint_for_missing(top, "dump_path") : "";
    if (hint.empty()) hint = "name a folder, here or as PrecisionDebugger(dump_path=...)";
    rules.findings.error(
        spot,
        {"missing-key", fmt::format("dump_path is {}: {}", member == nullptr ? "missing" : "empty", kRefused), hint});
  } else {
    rules.findings.error(spot, {"wrong-type", fmt::format("{}: {}", is_text(*member), kRefused), "a string is wanted"});
  }
}

// A word at the top level. `may_be_empty`: null, "" and the like stand for the default.
void check_word(Rules& rules, std::string_view key, std::span<const std::string_view> words, bool may_be_empty) {
  const JsonMember* member = rules.top(key);
  if (member == nullptr || is_one_of(member->value, words)) return;
  if (may_be_empty && !is_truthy(member->value)) return;
  rules.findings.error({std::string(key), member->value.offset},
                       {key == "level" ? "level" : "bad-value", fmt::format("{}: {}", is_text(*member), kRefused),
                        words_hint(member->value, words)});
}

void check_bool(Rules& rules, std::string_view key, bool may_be_null) {
  const JsonMember* member = rules.top(key);
  if (member == nullptr || member->value.is(JsonKind::kBool) || (may_be_null && is_null(member->value))) return;
  rules.findings.error({std::string(key), member->value.offset},
                       {"wrong-type", fmt::format("{}: {}", is_text(*member), kRefused), "true or false is wanted"});
}

void check_namespaces(Rules& rules) {
  const JsonMember* member = rules.top("custom_op_namespaces");
  if (member == nullptr || is_null(member->value) || is_text_list(member->value)) return;
  rules.findings.error(
      {member->key, member->value.offset},
      {"wrong-type", fmt::format("{}: {}", is_text(*member), kRefused), "a list of strings is wanted"});
}

void check_switch(Rules& rules) {
  const JsonMember* member = rules.top("dump_enable");
  if (member == nullptr || !member->value.is(JsonKind::kBool) || member->value.boolean) return;
  rules.findings.judge({member->key, member->value.offset},
                       {"dump-enable", is_text(*member), "PyTorch dumps once it is set to true in the file"},
                       [](const Setup& setup) {
                         return other(on_pytorch(setup) ? "nothing is written until it is true"
                                                        : "MindSpore does not read it and dumps");
                       });
}

// A task that the newest release does not have and an older one has, for a framework that may run.
bool is_only_in_other_releases(const Rules& rules) {
  const std::vector<Setup>& setups = rules.findings.setups();
  return !rules.target.msprobe && std::any_of(setups.begin(), setups.end(), [&](const Setup& setup) {
    const TaskRelease* const one = release_of(rules.task, setup.framework);
    return one != nullptr && one->until != kNoEnd;
  });
}

Rules rules_of(Findings& findings, const JsonValue& root, const LintTarget& target) {
  Rules rules{findings, root, target, "statistics", "L1"};
  if (const JsonMember* task = find_member(root, "task"); is_truthy(task) && task->value.is(JsonKind::kString))
    rules.task = task->value.text;
  if (const JsonMember* level = find_member(root, "level"); is_truthy(level) && level->value.is(JsonKind::kString))
    rules.level = level->value.text;
  rules.is_old_task = is_only_in_other_releases(rules);
  if (rules.task == "structure" && rules.level != "L0") rules.level = "mix";
  rules.block = find_member(root, rules.task);
  if (!is_task(rules.task)) rules.block = nullptr;
  if (rules.block != nullptr && rules.block->value.is(JsonKind::kObject)) rules.options = &rules.block->value;
  return rules;
}

}  // namespace

bool is_task(std::string_view name) {
  return name == kAccCheckTask || std::any_of(kTaskReleases.begin(), kTaskReleases.end(),
                                              [&](const TaskRelease& one) { return one.name == name; });
}

Version Rules::release() const { return target.msprobe.value_or(kNewestMsprobe); }

bool Rules::reads_old_keys() const { return is_old_task || release() < k26; }

bool Rules::task_is_one_of(std::span<const std::string_view> tasks) const { return contains(tasks, task); }

Spot Rules::spot(const JsonMember& member) const {
  return {fmt::format("{}.{}", task, member.key), member.value.offset};
}

bool is_truthy(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull: return false;
    case JsonKind::kBool: return value.boolean;
    case JsonKind::kNumber: return value.as_double() != 0.0;
    case JsonKind::kString: return !value.text.empty();
    case JsonKind::kArray: return !value.items.empty();
    case JsonKind::kObject: return !value.members.empty();
  }
  return false;
}

bool is_text_list(const JsonValue& value) {
  return value.is(JsonKind::kArray) && std::all_of(value.items.begin(), value.items.end(),
                                                   [](const JsonValue& item) { return item.is(JsonKind::kString); });
}

bool is_one_of(const JsonValue& value, std::span<const std::string_view> words) {
  return value.is(JsonKind::kString) && contains(words, value.text);
}

std::string is_text(const JsonMember& member) {
  return fmt::format("{} is {}", excerpt(member.key), in_words(member.value));
}

std::string words_hint(const JsonValue& value, std::span<const std::string_view> words) {
  const std::vector<std::string> candidates(words.begin(), words.end());
  const std::string near = value.is(JsonKind::kString) ? did_you_mean(value.text, candidates) : "";
  return near.empty() ? fmt::format("use one of {}", fmt::join(candidates, ", ")) : near;
}

void check_top_level(Rules& rules) {
  check_members(rules);
  check_task(rules);
  check_dump_path(rules);
  check_word(rules, "level", kLevels, true);
  check_word(rules, "precision", kPrecisions, false);
  check_word(rules, "risk_level", kRiskLevels, true);
  check_bool(rules, "dump_enable", true);
  check_bool(rules, "extra_info", false);
  check_bool(rules, "async_dump", false);
  check_namespaces(rules);
  check_switch(rules);
  for (const std::string_view key : {"rank", "step"}) {
    if (const JsonMember* member = rules.top(key))
      check_steps(rules, *member, {std::string(key), member->value.offset});
  }
}

}  // namespace msprobe

void lint_msprobe(Findings& findings, const JsonValue& root, const LintTarget& target) {
  msprobe::Rules rules = msprobe::rules_of(findings, root, target);
  msprobe::check_top_level(rules);
  msprobe::check_load(rules);
  msprobe::check_block(rules);
  msprobe::check_level(rules);
}

size_t task_blocks_in(const JsonValue& root) {
  return static_cast<size_t>(std::count_if(root.members.begin(), root.members.end(),
                                           [](const JsonMember& member) { return msprobe::is_task(member.key); }));
}

}  // namespace msdump
