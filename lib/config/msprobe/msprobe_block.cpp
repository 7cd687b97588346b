#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "config/kernels.h"
#include "config/msprobe/msprobe_rules.h"

namespace msdump::msprobe {
namespace {

constexpr std::array<std::string_view, 3> kChecked = {"statistics", "tensor", "nan_check"};
constexpr std::array<std::string_view, 2> kListed = {"statistics", "nan_check"};
constexpr std::array<std::string_view, 2> kSummaries = {"statistics", "tensor"};
constexpr std::array<std::string_view, 5> kDataModes = {"all", "input", "output", "forward", "backward"};
constexpr std::array<std::string_view, 3> kSummaryModes = {"statistics", "md5", "xor"};
constexpr std::array<std::string_view, 13> kColumns = {"max",
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
constexpr std::array<std::string_view, 2> kDevices = {"device", "host"}, kBlockPrecisions = {"high", "low"};

void check_member(Rules& rules, const KeyedObject& where, const JsonMember& member) {
  const ConfigKey* key = find_key(where.kind, where.section, member.key);
  if (key == nullptr) return complain_of_unknown_key(rules.findings, where, member);
  const Spot spot = spot_of(where, member);
  if (key->readers == Readers::kNone && !rules.reads_old_keys()) {
    rules.findings.warning(spot,
                           {"old-key", fmt::format("{} is for older releases of msprobe: it is not read", member.key),
                            std::string(key->meaning)});
  } else if (!task_reads(*key, rules.task)) {
    rules.findings.warning(spot, {"not-read", fmt::format("task {} does not read {}", rules.task, member.key),
                                  fmt::format("it is for {}", key->tasks)});
  } else if (key->readers != Readers::kBoth && key->readers != Readers::kNone && is_truthy(member.value) &&
             member.value.text != key->fallback) {
    const bool pytorch = key->readers == Readers::kPyTorch;
    rules.findings.judge(spot, {"not-read", is_text(member)}, [&](const Setup& setup) {
      if (on_pytorch(setup) == pytorch) return fine();
      return other(pytorch ? "MindSpore does not read it" : "PyTorch does not read it");
    });
  }
}

void check_texts(Rules& rules, std::string_view key) {
  const JsonMember* member = rules.option(key);
  if (member == nullptr || is_null(member->value) || is_text_list(member->value)) return;
  rules.findings.error(rules.spot(*member), {"wrong-type", fmt::format("{}: {}", is_text(*member), kRefused),
                                             "a list of strings is wanted"});
}

void check_data_mode(Rules& rules) {
  const JsonMember* member = rules.option("data_mode");
  if (member == nullptr || is_null(member->value)) return;
  const Complaint complaint{"data-mode", fmt::format("{}: {}", is_text(*member), kRefused)};
  if (!member->value.is(JsonKind::kArray)) {
    rules.findings.error(rules.spot(*member), {complaint.rule, complaint.subject, "a list of strings is wanted"});
    return;
  }
  const std::vector<JsonValue>& items = member->value.items;
  const auto has = [&](std::string_view word) {
    return std::any_of(items.begin(), items.end(),
                       [&](const JsonValue& item) { return item.is(JsonKind::kString) && item.text == word; });
  };
  if ((has("all") && items.size() != 1) || items.size() >= kDataModes.size()) {
    rules.findings.error(rules.spot(*member), {complaint.rule, complaint.subject,
                                               has("all") ? "'all' must be the only item" : "four at most"});
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (is_one_of(items[i], kDataModes)) continue;
    rules.findings.error(spot_of_item(rules.spot(*member), i, items[i]),
                         {complaint.rule, fmt::format("data_mode[{}] is {}: {}", i, in_words(items[i]), kRefused),
                          words_hint(items[i], kDataModes)});
  }
  if (rules.task == "nan_check" && has("input") && !has("output")) {
    rules.findings.error(rules.spot(*member), {complaint.rule, fmt::format("data_mode without output: {}", kRefused),
                                               "nan_check examines outputs"});
  }
}

void check_summary_list(Rules& rules, const JsonMember& member) {
  for (size_t i = 0; i < member.value.items.size(); ++i) {
    const JsonValue& item = member.value.items[i];
    if (is_one_of(item, kColumns)) continue;
    rules.findings.judge(
        spot_of_item(rules.spot(member), i, item),
        {"summary-mode", fmt::format("summary_mode[{}] is {}", i, in_words(item)), words_hint(item, kColumns)},
        [](const Setup&) { return refused(); });
  }
}

// Both frameworks take a word; MindSpore's statistics also take a list.
void check_summary_mode(Rules& rules) {
  const JsonMember* member = rules.option("summary_mode");
  if (member == nullptr) return;
  const JsonValue& value = member->value;
  const bool word = is_one_of(value, kSummaryModes), list = value.is(JsonKind::kArray);
  rules.findings.judge(rules.spot(*member),
                       {"summary-mode", is_text(*member),
                        list ? "lists are for MindSpore's task statistics" : words_hint(value, kSummaryModes)},
                       [&](const Setup& setup) {
                         if (on_pytorch(setup) || rules.task == "tensor")
                           return !is_truthy(value) || word ? fine() : refused();
                         if (value.is(JsonKind::kString) && !word) return refused();
                         return word || list || !is_truthy(value) ? fine() : other("it is ignored");
                       });
  if (list && rules.task == "statistics" && rules.target.framework != Framework::kPyTorch)
    check_summary_list(rules, *member);
  if (word && value.text == "xor") {
    rules.findings.judge(rules.spot(*member),
                         {"summary-mode", is_text(*member), "xor is for PyTorch; md5 works on both"},
                         [](const Setup& setup) {
                           return on_pytorch(setup) ? fine() : other("MindSpore writes null for every checksum");
                         });
  }
}

// Options of MindSpore's statistics on the device.
void check_mindspore_word(Rules& rules, std::string_view key, std::span<const std::string_view> words) {
  const JsonMember* member = rules.option(key);
  if (member == nullptr || rules.task != "statistics" || is_one_of(member->value, words)) return;
  rules.findings.judge(rules.spot(*member), {"bad-value", is_text(*member), words_hint(member->value, words)},
                       [](const Setup& setup) { return on_pytorch(setup) ? fine() : refused(); });
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

void check_slice(Rules& rules) {
  const JsonMember* member = rules.option(kSliceSection);
  if (member == nullptr || is_null(member->value)) return;
  if (!member->value.is(JsonKind::kArray)) {
    rules.findings.error(rules.spot(*member),
                         {"slice", fmt::format("{}: {}", is_text(*member), kRefused), "a list of objects is wanted"});
    return;
  }
  for (size_t i = 0; i < member->value.items.size(); ++i) {
    const JsonValue& item = member->value.items[i];
    const std::string fault = fault_of_slice(item);
    const Spot spot = spot_of_item(rules.spot(*member), i, item);
    if (!fault.empty()) rules.findings.error(spot, {"slice", fmt::format("slice[{}]: {}: {}", i, fault, kRefused)});
    const KeyedObject where{item, ConfigKind::kMsprobe, kSliceSection, spot.key};
    for (const JsonMember& one : item.members) {
      if (find_key(where.kind, where.section, one.key) == nullptr) complain_of_unknown_key(rules.findings, where, one);
    }
  }
}

void check_request(Rules& rules) {
  const JsonMember* member = rules.option("request_id");
  if (member == nullptr || is_null(member->value) || member->value.is(JsonKind::kString)) return;
  rules.findings.error(rules.spot(*member),
                       {"wrong-type", fmt::format("{}: {}", is_text(*member), kRefused), "a string is wanted"});
}

void check_differences(Rules& rules) {
  if (const JsonMember* path = rules.option("bench_path");
      path != nullptr && rules.task == "tensor" && !is_null(path->value) && !path->value.is(JsonKind::kString)) {
    rules.findings.judge(rules.spot(*path), {"wrong-type", is_text(*path), "a string is wanted"},
                         [](const Setup& setup) { return on_pytorch(setup) ? refused() : fine(); });
  }
  const JsonMember* number = rules.option("diff_nums");
  if (number == nullptr || rules.task != "diff_check" || is_null(number->value)) return;
  const auto value = number->value.as_int();
  if (value && (*value == -1 || *value > 0)) return;
  rules.findings.error(rules.spot(*number), {"bad-value", fmt::format("{}: {}", is_text(*number), kRefused),
                                             "-1 means no limit, otherwise 1 or more"});
}

// An unreadable expression: MindSpore's level L2 refuses it; everywhere else the item is a part of a name.
void check_expressions(Rules& rules) {
  const JsonMember* member = rules.option("list");
  if (member == nullptr || !is_text_list(member->value)) return;
  constexpr std::string_view kBegin = "name-regex(";
  for (size_t i = 0; i < member->value.items.size(); ++i) {
    const JsonValue& item = member->value.items[i];
    if (!item.text.starts_with(kBegin) || !item.text.ends_with(')')) continue;
    const std::string fault =
        regex_fault(std::string_view(item.text).substr(kBegin.size(), item.text.size() - kBegin.size() - 1));
    rules.findings.judge(spot_of_item(rules.spot(*member), i, item),
                         {"list-regex", fmt::format("list[{}] is {}", i, in_words(item)),
                          fault.empty() ? "expressions are for MindSpore's level L2" : fault},
                         [&](const Setup& setup) {
                           const bool kernels = !on_pytorch(setup) && rules.level == "L2";
                           if (kernels) return fault.empty() ? fine() : refused();
                           return other("it is treated as part of a name, and no name contains it");
                         });
  }
}

void check_async(Rules& rules) {
  const JsonMember* async = rules.top("async_dump");
  if (async == nullptr || !async->value.is(JsonKind::kBool) || !async->value.boolean) return;
  const Spot spot{async->key, async->value.offset};
  if (rules.task == "tensor" && rules.level != "debug" && !is_truthy(rules.option("list"))) {
    rules.findings.error(spot, {"async-dump", fmt::format("async_dump with task tensor and no list: {}", kRefused),
                                "name API calls in tensor.list"});
  }
  const JsonMember* mode = rules.option("summary_mode");
  if (mode == nullptr) return;
  const bool word = mode->value.is(JsonKind::kString) && mode->value.text == "md5";
  const bool item = std::any_of(mode->value.items.begin(), mode->value.items.end(),
                                [](const JsonValue& one) { return one.is(JsonKind::kString) && one.text == "md5"; });
  if (!word && !item) return;
  rules.findings.judge(spot, {"async-dump", "async_dump with summary_mode md5", "use statistics"},
                       [&](const Setup& setup) { return word || !on_pytorch(setup) ? refused() : fine(); });
}

// Without a block for the task the defaults hold, whatever other blocks say.
void check_absence(Rules& rules) {
  if (rules.block != nullptr && is_null(rules.block->value)) return;
  if (rules.block != nullptr) {
    rules.findings.judge(
        {rules.block->key, rules.block->value.offset}, {"wrong-type", is_text(*rules.block), "an object is wanted"},
        [&](const Setup& setup) { return on_pytorch(setup) || is_truthy(rules.block->value) ? refused() : fine(); });
    return;
  }
  for (const JsonMember& member : rules.root.members) {
    if (!is_task(member.key) || !member.value.is(JsonKind::kObject) || member.value.members.empty()) continue;
    rules.findings.warning(
        {member.key, member.key_offset},
        {"other-block", fmt::format("the block of task {} is missing, {} is not read", rules.task, excerpt(member.key)),
         fmt::format("name it '{}', or set task", rules.task)});
  }
}

}  // namespace

void check_block(Rules& rules) {
  if (!is_task(rules.task)) return;  // reported for the task
  if (rules.options == nullptr) return check_absence(rules);
  const KeyedObject where{*rules.options, ConfigKind::kMsprobe, kTaskSection, rules.task};
  check_repeated_keys(rules.findings, where);
  for (const JsonMember& member : rules.options->members) check_member(rules, where, member);
  if (rules.task_is_one_of(kChecked)) {
    check_texts(rules, "scope");
    check_texts(rules, "list");
    check_data_mode(rules);
    check_slice(rules);
    check_request(rules);
    check_expressions(rules);
  }
  if (rules.task_is_one_of(kListed)) check_texts(rules, "tensor_list");
  if (rules.task_is_one_of(kSummaries)) check_summary_mode(rules);
  check_mindspore_word(rules, "device", kDevices);
  check_mindspore_word(rules, "precision", kBlockPrecisions);
  check_differences(rules);
  check_async(rules);
}

}  // namespace msdump::msprobe
