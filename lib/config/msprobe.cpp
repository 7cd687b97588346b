#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "config/kernels.h"
#include "config/key_checks.h"
#include "config/tools.h"

namespace msdump {
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

constexpr int64_t kLargestStep = 1'000'000;
constexpr size_t kMostSteps = 1'000'000;
const std::vector<std::string> kDataModes = {"all", "input", "output", "forward", "backward"};
const std::vector<std::string> kSummaryModes = {"statistics", "md5", "xor"};
const std::vector<std::string> kSummaryColumns = {"max",
                                                  "min",
                                                  "mean",
                                                  "count",
                                                  "negative zero count",
                                                  "positive zero count",
                                                  "nan count",
                                                  "negative inf count",
                                                  "positive inf count",
                                                  "zero count",
                                                  "l2norm",
                                                  "hash",
                                                  "md5"};
constexpr std::array<std::string_view, 11> kApiPrefixes = {
    "Distributed", "Functional", "Torch", "Tensor", "Mint", "MintFunctional", "Primitive", "Aten", "VF", "NPU", "Jit"};

template <class List>
bool lists(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_truthy(const JsonMember* member) { return member != nullptr && is_truthy(member->value); }
bool is_null(const JsonValue& value) { return value.is(JsonKind::kNull); }
bool is_word_of(const JsonValue& value, const std::vector<std::string>& words) {
  return value.is(JsonKind::kString) && lists(words, value.text);
}
bool on_pytorch(const Setup& setup) { return setup.framework == Framework::kPyTorch; }

bool is_task(std::string_view name) {
  return name == kAccCheckTask || std::any_of(kTaskReleases.begin(), kTaskReleases.end(),
                                              [&](const TaskRelease& one) { return one.name == name; });
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

// The tasks of a release, each once, in the order of the table.
std::vector<std::string> tasks_of(const Version& release) {
  std::vector<std::string> tasks;
  for (const TaskRelease& one : kTaskReleases) {
    if (has_task(one.name, one.framework, release) && !lists(tasks, one.name)) tasks.emplace_back(one.name);
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

std::string_view needs_of(std::string_view task) {
  if (task == "diff_check") return "diff_check is for PyTorch";
  if (task == "exception_dump") return "exception_dump is for MindSpore at level L2";
  if (task == "nan_check") return "nan_check is for PyTorch with torch_npu at level L1";
  if (task == "run_ut") return "run_ut is for PyTorch";
  if (task == kAccCheckTask) return "use the command msprobe acc_check on a finished dump";
  return "";
}

// A number as Python's int() reads it: blanks around it, a sign, single '_' between digits.
std::optional<int64_t> python_int(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between =
        i > 0 && i + 1 < text.size() && is_digits(text.substr(i - 1, 1)) && is_digits(text.substr(i + 1, 1));
    if (text[i] == '_' && between) continue;
    digits += text[i];
  }
  return is_digits(digits) ? parse_i64(digits) : std::nullopt;
}

// The fault of an item of rank or step; empty if it has none.
std::string fault_of_range(std::string_view text) {
  const std::vector<std::string_view> ends = split(text, '-');
  if (ends.size() > 2) return "write \"3\" or \"3-5\"";
  for (const std::string_view end : ends) {
    const auto number = python_int(end);
    if (!number) return "write \"3\" or \"3-5\"";
    if (*number > kLargestStep) return fmt::format("{} is the largest number allowed", kLargestStep);
  }
  return *python_int(ends.front()) > *python_int(ends.back()) ? "write the smaller one first" : "";
}

std::string fault_of_step(const JsonValue& item) {
  if (item.is(JsonKind::kString)) return fault_of_range(item.text);
  if (!item.is(JsonKind::kNumber) || item.text.find_first_not_of("-0123456789") != std::string::npos)
    return "whole numbers and \"a-b\" are wanted";
  const auto number = item.as_int();
  if (!number || *number < 0 || *number > kLargestStep) return fmt::format("numbers go from 0 to {}", kLargestStep);
  return "";
}

// "Module.fc1.Linear.forward.0"
std::string fault_of_module(std::string_view name) {
  constexpr std::string_view kForward = ".forward.";
  if (!name.starts_with("Module.")) return "it has to begin with 'Module.'";
  if (name.find(".backward.") != std::string_view::npos) return "backward calls are not loaded";
  const size_t at = name.rfind(kForward);
  const bool ends = at != std::string_view::npos && is_digits(name.substr(at + kForward.size()));
  return ends ? "" : "it has to end with '.forward.N'";
}

std::string fault_of_slice(const JsonValue& item) {
  if (!item.is(JsonKind::kObject)) return "an object is wanted";
  for (const std::string_view key : {"dim", "size", "begin", "end"}) {
    const JsonValue* value = item.find(key);
    if (value == nullptr) continue;
    const bool whole =
        value->is(JsonKind::kNumber) && value->text.find_first_not_of("-0123456789") == std::string::npos;
    if (!whole) return fmt::format("{} is {}, not a whole number", key, in_words(*value));
    const bool from_zero = key == "dim" || key == "size";
    if (from_zero && value->text.starts_with('-')) return fmt::format("{} is negative", key);
  }
  return "";
}

// "Functional.relu.0.forward": PREFIX.NAME.N.DIRECTION
bool is_api_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  if (parts.size() < 4) return false;
  return lists(kApiPrefixes, parts.front()) && is_digits(parts[parts.size() - 2]) &&
         (parts.back() == "forward" || parts.back() == "backward");
}

// "Module.fc1.Linear.forward.0": Cell|Module.NAME.DIRECTION.N
bool is_module_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  if (parts.size() < 4) return false;
  const std::string_view direction = parts[parts.size() - 2];
  return (parts.front() == "Module" || parts.front() == "Cell") && is_digits(parts.back()) &&
         (direction == "forward" || direction == "backward");
}

std::string fault_of_scope_name(std::string_view level, std::string_view name) {
  if (level == "L0")
    return is_module_name(name) ? "" : "a module is wanted: Module.NAME.CLASS.forward.N (Cell on MindSpore)";
  if (level == "L1") return is_api_name(name) ? "" : "an API call is wanted: Functional.NAME.N.forward";
  if (level == "mix")
    return is_api_name(name) || is_module_name(name) ? "" : "an API call or a module is wanted, with its full name";
  return "";
}

class MsprobeLint {
 public:
  MsprobeLint(Findings& findings, const JsonValue& root, const LintTarget& target)
      : findings_(findings), root_(root), target_(target) {
    if (const JsonMember* task = top("task"); is_truthy(task) && task->value.is(JsonKind::kString))
      task_ = task->value.text;
    if (const JsonMember* level = top("level"); is_truthy(level) && level->value.is(JsonKind::kString))
      level_ = level->value.text;
    is_old_task_ = is_only_in_other_releases();
    if (task_ == "structure" && level_ != "L0") level_ = "mix";
    block_ = is_task(task_) ? top(task_) : nullptr;
    if (block_ != nullptr && block_->value.is(JsonKind::kObject)) options_ = &block_->value;
    facts_.value = [this](std::string_view key) {
      const JsonMember* const found = option(key);
      return found == nullptr ? nullptr : &found->value;
    };
    facts_.derived = [this](std::string_view name, const Setup&) { return derived(name); };
  }

  void check() {
    check_top_level();
    check_load();
    check_block();
    check_level();
    check_rules(findings_, of_root(), facts_);
    if (options_ != nullptr) check_rules(findings_, of_block(), facts_);
  }

 private:
  [[nodiscard]] KeyedObject of_root() const { return {root_, ConfigKind::kMsprobe, "", "", root_.offset}; }
  [[nodiscard]] KeyedObject of_block() const { return {*options_, ConfigKind::kMsprobe, kTaskSection, task_}; }
  [[nodiscard]] const JsonMember* top(std::string_view key) const { return find_member(root_, key); }
  [[nodiscard]] const JsonMember* option(std::string_view key) const {
    return options_ == nullptr ? nullptr : find_member(*options_, key);
  }
  // The place of an option's value: "statistics.list".
  [[nodiscard]] Spot spot(const JsonMember& member) const { return value_spot(of_block(), member); }

  [[nodiscard]] std::optional<std::string> derived(std::string_view name) const {
    if (name == "task") return task_;
    if (name == "level") return level_;
    if (name == "block") return options_ == nullptr ? "" : "set";
    if (name != "calls") return std::nullopt;
    const JsonMember* const list = option("list");
    return std::to_string(list == nullptr ? 0 : list->value.items.size());
  }

  // The release that was stated, else the newest.
  [[nodiscard]] Version release() const { return target_.msprobe.value_or(kNewestMsprobe); }

  // True for a task that the newest release lacks and an older one has, for a framework that may run.
  [[nodiscard]] bool is_only_in_other_releases() const {
    const std::vector<Setup>& setups = findings_.setups();
    return !target_.msprobe && std::any_of(setups.begin(), setups.end(), [&](const Setup& setup) {
      const TaskRelease* const one = release_of(task_, setup.framework);
      return one != nullptr && one->until != kNoEnd;
    });
  }

  void refuse(const Spot& spot, std::string_view rule, const std::string& subject, std::string hint) {
    findings_.error(spot, {rule, fmt::format("{}: {}", subject, kRefused), std::move(hint)});
  }

  // Reports a key that is unknown, or that no release, task or framework at hand reads.
  void check_readers(const KeyedObject& where, const JsonMember& member) {
    const ConfigKey* const key = find_key(where.kind, where.section, member.key);
    if (key == nullptr) return report_unknown_key(findings_, where, member);
    const Spot spot = spot_of(where, member);
    const bool is_old = key->readers == Readers::kNone;
    if (is_old && !is_old_task_ && release() >= k26) {
      findings_.warning(
          spot,
          {"old-key", fmt::format("{} is for older releases of msprobe: it is not read", member.key), key->meaning});
    } else if (where.section == kTaskSection && !task_reads(*key, task_)) {
      findings_.warning(spot, {"not-read", fmt::format("task {} does not read {}", task_, member.key),
                               fmt::format("it is for {}", key->tasks)});
    } else if (!is_old && key->readers != Readers::kBoth && !asks_for_nothing(*key, member.value)) {
      const bool pytorch = key->readers == Readers::kPyTorch;
      findings_.judge(spot, {"not-read", is_text(member)}, [&](const Setup& setup) {
        if (on_pytorch(setup) == pytorch) return fine();
        return ignored(pytorch ? "MindSpore does not read it" : "PyTorch does not read it");
      });
    }
  }

  void check_top_level() {
    check_repeated_keys(findings_, of_root());
    for (const JsonMember& member : root_.members) {
      if (!is_task(member.key)) check_readers(of_root(), member);
    }
    check_task();
    check_dump_path();
    for (const std::string_view key : {"rank", "step"}) check_steps(of_root(), key);
  }

  // The effect of the task on a release and framework.
  [[nodiscard]] Effect effect_of_task(const Setup& setup) const {
    if (!has_task(task_, setup.framework, release())) return refused();
    if (task_ == "exception_dump" && level_ != "L2") return refused();
    if (task_ == "nan_check" && (setup.device != Device::kAscend || level_ != "L1")) return refused();
    return fine();
  }

  void check_task() {
    const JsonMember* const member = top("task");
    if (!is_truthy(member)) return;
    const Spot spot = value_spot(of_root(), *member);
    if (!member->value.is(JsonKind::kString) || !is_task(member->value.text))
      return refuse(spot, "task", is_text(*member), words_hint(member->value, tasks_of(release())));
    std::string releases;  // of a framework whose release of msprobe lacks the task
    for (const Setup& setup : findings_.setups()) {
      if (releases.empty() && !has_task(task_, setup.framework, release()))
        releases = releases_text(task_, setup.framework);
    }
    if (is_old_task_) {
      findings_.warning(spot,
                        {"task", fmt::format("{}: msprobe {} refuses the run", is_text(*member), short_text(release())),
                         releases + "; --msprobe-version says which one will run"});
      return;
    }
    findings_.judge(spot, {"task", is_text(*member), releases.empty() ? std::string(needs_of(task_)) : releases},
                    [&](const Setup& setup) { return effect_of_task(setup); });
  }

  void check_dump_path() {
    const JsonMember* const member = top("dump_path");
    const Spot spot = member == nullptr ? Spot{"dump_path", root_.offset} : value_spot(of_root(), *member);
    const bool is_string = member != nullptr && member->value.is(JsonKind::kString);
    if (is_string && !member->value.text.empty()) return;
    if (member != nullptr && !is_null(member->value) && !is_string)
      return refuse(spot, "wrong-type", is_text(*member), "a string is wanted");
    std::string hint = member == nullptr ? hint_for_missing(of_root(), "dump_path") : "";
    if (hint.empty()) hint = "name a folder, here or as PrecisionDebugger(dump_path=...)";
    refuse(spot, "missing-key", member == nullptr ? "dump_path is missing" : "dump_path is empty", std::move(hint));
  }

  // rank and step, at the top level and in load.
  void check_steps(const KeyedObject& where, std::string_view key) {
    const JsonMember* const member = find_member(where.object, key);
    if (member == nullptr || is_null(member->value)) return;
    const Spot spot = value_spot(where, *member);
    if (!member->value.is(JsonKind::kArray))
      return refuse(spot, "rank-step", is_text(*member), "a list is wanted: [0, \"2-5\"]");
    const std::vector<JsonValue>& items = member->value.items;
    if (items.size() > kMostSteps)
      refuse(spot, "rank-step", fmt::format("{} has more than {} items", key, kMostSteps), "");
    for (size_t i = 0; i < items.size(); ++i) {
      std::string fault = fault_of_step(items[i]);
      if (fault.empty()) continue;
      refuse(spot_of_item(spot, i, items[i]), "rank-step", fmt::format("{}[{}] is {}", key, i, in_words(items[i])),
             std::move(fault));
    }
  }

  void check_load() {
    const JsonMember* const section = top(kLoadSection);
    if (section == nullptr) return;
    static const JsonValue kEmpty;
    const bool is_object = section->value.is(JsonKind::kObject);
    if (!is_object && is_truthy(section->value))
      return refuse(value_spot(of_root(), *section), "wrong-type", is_text(*section), "an object is wanted");
    const KeyedObject load{is_object ? section->value : kEmpty, ConfigKind::kMsprobe, kLoadSection, section->key,
                           section->value.offset};
    check_known_keys(findings_, load);
    check_modules(load);
    const JsonMember* const path = find_member(load.object, "path");
    if (!is_truthy(path) || !path->value.is(JsonKind::kString)) {
      refuse(path == nullptr ? Spot{key_path(load, "path"), load.offset} : value_spot(load, *path), "load-path",
             fmt::format("path is {}", path == nullptr ? "missing" : in_words(path->value)),
             "name the folder of an earlier dump");
    }
    check_rules(findings_, load, facts_);
    for (const std::string_view key : {"rank", "step"}) check_steps(load, key);
  }

  void check_modules(const KeyedObject& load) {
    const JsonMember* const member = find_member(load.object, "modules");
    const Spot spot = member == nullptr ? Spot{key_path(load, "modules"), load.offset} : value_spot(load, *member);
    if (member == nullptr || !is_text_list(member->value) || member->value.items.empty())
      return refuse(spot, "load-modules",
                    fmt::format("modules is {}", member == nullptr ? "missing" : in_words(member->value)),
                    "a list of strings is wanted, at least one");
    std::set<std::string_view> seen;
    for (size_t i = 0; i < member->value.items.size(); ++i) {
      const JsonValue& item = member->value.items[i];
      std::string fault = fault_of_module(item.text);
      if (!seen.insert(item.text).second) fault = "it is a duplicate";
      if (fault.empty()) continue;
      refuse(spot_of_item(spot, i, item), "load-modules", fmt::format("modules[{}] is {}", i, in_words(item)),
             std::move(fault));
    }
  }

  void check_block() {
    if (!is_task(task_)) return;  // reported for the task
    if (options_ == nullptr) return check_absent_block();
    check_repeated_keys(findings_, of_block());
    for (const JsonMember& member : options_->members) check_readers(of_block(), member);
    const bool has_statistics = task_ == "statistics" || task_ == "tensor";
    if (has_statistics || task_ == "nan_check") {
      check_data_mode();
      check_slice();
      check_expressions();
    }
    if (has_statistics) check_summary_mode();
  }

  // Reports other blocks: without one for the task, its defaults hold.
  void check_absent_block() {
    if (block_ != nullptr && is_null(block_->value)) return;
    if (block_ != nullptr) {
      findings_.judge(
          value_spot(of_root(), *block_), {"wrong-type", is_text(*block_), "an object is wanted"},
          [&](const Setup& setup) { return on_pytorch(setup) || is_truthy(block_->value) ? refused() : fine(); });
      return;
    }
    for (const JsonMember& member : root_.members) {
      if (!is_task(member.key) || !member.value.is(JsonKind::kObject) || member.value.members.empty()) continue;
      findings_.warning(
          spot_of(of_root(), member),
          {"other-block", fmt::format("the block of task {} is missing, {} is not read", task_, excerpt(member.key)),
           fmt::format("name it '{}', or set task", task_)});
    }
  }

  void check_data_mode() {
    const JsonMember* const member = option("data_mode");
    if (member == nullptr || is_null(member->value)) return;
    if (!member->value.is(JsonKind::kArray))
      return refuse(spot(*member), "data-mode", is_text(*member), "a list of strings is wanted");
    const std::vector<JsonValue>& items = member->value.items;
    const auto has = [&](std::string_view word) {
      return std::any_of(items.begin(), items.end(),
                         [&](const JsonValue& item) { return item.is(JsonKind::kString) && item.text == word; });
    };
    if ((has("all") && items.size() != 1) || items.size() >= kDataModes.size())
      refuse(spot(*member), "data-mode", is_text(*member), has("all") ? "'all' must be the only item" : "four at most");
    for (size_t i = 0; i < items.size(); ++i) {
      if (is_word_of(items[i], kDataModes)) continue;
      refuse(spot_of_item(spot(*member), i, items[i]), "data-mode",
             fmt::format("data_mode[{}] is {}", i, in_words(items[i])), words_hint(items[i], kDataModes));
    }
    if (task_ == "nan_check" && has("input") && !has("output"))
      refuse(spot(*member), "data-mode", "data_mode without output", "nan_check examines outputs");
  }

  // Both frameworks take a word; MindSpore's statistics also take a list.
  void check_summary_mode() {
    const JsonMember* const member = option("summary_mode");
    if (member == nullptr) return;
    const JsonValue& value = member->value;
    const bool is_word = is_word_of(value, kSummaryModes), is_list = value.is(JsonKind::kArray);
    findings_.judge(spot(*member),
                    {"summary-mode", is_text(*member),
                     is_list ? "lists are for MindSpore's task statistics" : words_hint(value, kSummaryModes)},
                    [&](const Setup& setup) {
                      if (on_pytorch(setup) || task_ == "tensor")
                        return !is_truthy(value) || is_word ? fine() : refused();
                      if (value.is(JsonKind::kString) && !is_word) return refused();
                      return is_word || is_list || !is_truthy(value) ? fine() : ignored("it is ignored");
                    });
    if (!is_list || task_ != "statistics" || target_.framework == Framework::kPyTorch) return;
    for (size_t i = 0; i < value.items.size(); ++i) {
      const JsonValue& item = value.items[i];
      if (is_word_of(item, kSummaryColumns)) continue;
      refuse(spot_of_item(spot(*member), i, item), "summary-mode",
             fmt::format("summary_mode[{}] is {}", i, in_words(item)), words_hint(item, kSummaryColumns));
    }
  }

  void check_slice() {
    const JsonMember* const member = option(kSliceSection);
    if (member == nullptr || is_null(member->value)) return;
    if (!member->value.is(JsonKind::kArray))
      return refuse(spot(*member), "slice", is_text(*member), "a list of objects is wanted");
    for (size_t i = 0; i < member->value.items.size(); ++i) {
      const JsonValue& item = member->value.items[i];
      const std::string fault = fault_of_slice(item);
      const Spot at = spot_of_item(spot(*member), i, item);
      if (!fault.empty()) refuse(at, "slice", fmt::format("slice[{}]: {}", i, fault), "");
      const KeyedObject where{item, ConfigKind::kMsprobe, kSliceSection, at.key};
      for (const JsonMember& one : item.members) {
        if (find_key(where.kind, where.section, one.key) == nullptr) report_unknown_key(findings_, where, one);
      }
    }
  }

  // An unreadable expression: MindSpore's level L2 refuses it; everywhere else the item is a part of a name.
  void check_expressions() {
    const JsonMember* const member = option("list");
    if (member == nullptr || !is_text_list(member->value)) return;
    constexpr std::string_view kBegin = "name-regex(";
    for (size_t i = 0; i < member->value.items.size(); ++i) {
      const JsonValue& item = member->value.items[i];
      if (!item.text.starts_with(kBegin) || !item.text.ends_with(')')) continue;
      const std::string fault =
          regex_fault(std::string_view(item.text).substr(kBegin.size(), item.text.size() - kBegin.size() - 1));
      findings_.judge(spot_of_item(spot(*member), i, item),
                      {"list-regex", fmt::format("list[{}] is {}", i, in_words(item)),
                       fault.empty() ? "expressions are for MindSpore's level L2" : fault},
                      [&](const Setup& setup) {
                        const bool kernels = !on_pytorch(setup) && level_ == "L2";
                        if (kernels) return fault.empty() ? fine() : refused();
                        return ignored("it is treated as part of a name, and no name contains it");
                      });
    }
  }

  // Options that depend on the level. Level L2 hooks kernels; the others hook calls, and scope names two of them.
  void check_level() {
    const JsonMember* const scope = option("scope");
    if (level_ != "L2" && is_truthy(scope) && is_text_list(scope->value)) check_scope(*scope);
    const JsonMember* const mode = option("data_mode");
    if (level_ != "L2" || mode == nullptr || !mode->value.is(JsonKind::kArray) || mode->value.items.empty()) return;
    const std::vector<JsonValue>& items = mode->value.items;
    const bool fits = items.size() == 1 && is_word_of(items.front(), {"all", "input", "output"});
    findings_.judge(spot(*mode), {"data-mode", "data_mode at level L2", "one of all, input, output"},
                    [&](const Setup& setup) { return on_pytorch(setup) || fits ? fine() : refused(); });
  }

  void check_scope(const JsonMember& scope) {
    const std::vector<JsonValue>& items = scope.value.items;
    if (items.size() != 2)
      refuse(spot(scope), "scope", fmt::format("scope has {}, not two", plural(items.size(), "name")),
             "name the first and the last call");
    for (size_t i = 0; i < items.size(); ++i) {
      std::string fault = fault_of_scope_name(level_, items[i].text);
      if (fault.empty()) continue;
      refuse(spot_of_item(spot(scope), i, items[i]), "scope", fmt::format("scope[{}] is {}", i, in_words(items[i])),
             std::move(fault));
    }
  }

  Findings& findings_;
  const JsonValue& root_;
  const LintTarget& target_;
  std::string task_ = "statistics", level_ = "L1";  // with their defaults; task structure has levels L0 and mix only
  const JsonMember* block_ = nullptr;               // of the task; null if there is none
  const JsonValue* options_ = nullptr;              // the block, if it is an object
  bool is_old_task_ = false;  // no release was stated, and only releases before the newest have the task
  ConfigFacts facts_;
};

}  // namespace

void lint_msprobe(Findings& findings, const JsonValue& root, const LintTarget& target) {
  MsprobeLint(findings, root, target).check();
}

size_t task_blocks_in(const JsonValue& root) {
  return static_cast<size_t>(std::count_if(root.members.begin(), root.members.end(),
                                           [](const JsonMember& member) { return is_task(member.key); }));
}

}  // namespace msdump
