#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "config/data_dump/data_dump_rules.h"

namespace msdump::data_dump {
namespace {

constexpr std::array<std::string_view, 12> kCategories = {"max",
                                                          "min",
                                                          "avg",
                                                          "count",
                                                          "negative zero count",
                                                          "positive zero count",
                                                          "nan count",
                                                          "negative inf count",
                                                          "positive inf count",
                                                          "zero count",
                                                          "md5",
                                                          "l2norm"};
constexpr std::array<std::string_view, 3> kDigestCategories = {"hash", "hash:sha1", "hash:md5"};
constexpr std::array<std::string_view, 4> kDeviceCategories = {"max", "min", "avg", "l2norm"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_name_char(char c) { return is_path_char(c) && c != '/'; }

// "did you mean 'npy'?", otherwise all words.
std::string words_hint(std::string_view word, std::vector<std::string> words) {
  const std::string near = did_you_mean(word, words);
  return near.empty() ? fmt::format("use one of {}", fmt::join(words, ", ")) : near;
}

void check_path_text(Rules& rules, const Spot& spot, std::string_view subject, std::string_view path) {
  const size_t bad = static_cast<size_t>(std::find_if_not(path.begin(), path.end(), is_path_char) - path.begin());
  if (bad < path.size()) {
    rules.findings.error(
        spot, {"path-characters", fmt::format("{} has '{}' in it: {}", subject, excerpt(path.substr(bad, 1)), kRefused),
               "only letters, digits, '-', '_' and '/' are accepted"});
  } else if (path.front() != '/') {
    rules.findings.judge(spot,
                         {"path-not-absolute", fmt::format("{} is not absolute", subject),
                          fmt::format("begin it with '/'; '{}' is not expanded", excerpt(path))},
                         [](const Setup& setup) {
                           return setup.version >= kV11 ? refused() : other("it depends on the working directory");
                         });
  }
}

void check_path(Rules& rules) {
  if (rules.dump.common == nullptr) return;
  const JsonMember* member = rules.common("path");
  if (member != nullptr && !rules.dump.path) return;  // reported as the wrong type
  const Spot spot{fmt::format("{}.path", kCommonSection),
                  member != nullptr ? member->value.offset : rules.dump.common->offset};
  if (rules.dump.path && !rules.dump.path->empty())
    return check_path_text(rules, spot, fmt::format("path '{}'", excerpt(*rules.dump.path)), *rules.dump.path);
  const std::string& variable = rules.target.diagnostic_path;
  if (!variable.empty()) {
    check_path_text(rules, spot, fmt::format("path is empty, and $MS_DIAGNOSTIC_DATA_PATH '{}'", excerpt(variable)),
                    variable);
  }
  rules.findings.judge(
      spot,
      {"path-empty", member == nullptr ? "path is missing" : "path is empty",
       "MindSpore 1.5 and later then take $MS_DIAGNOSTIC_DATA_PATH, which is not set here"},
      [&](const Setup& setup) { return setup.version < kV15 || variable.empty() ? refused() : fine(); });
}

void check_net_name(Rules& rules) {
  const JsonMember* member = rules.common("net_name");
  if (member == nullptr || !rules.dump.net_name) return;
  const std::string& name = *rules.dump.net_name;
  const bool bad = !std::all_of(name.begin(), name.end(), is_name_char);
  rules.findings.judge(
      {common_spot(*member).key, member->value.offset},
      {"net-name", is_text(*member), "only letters, digits, '-' and '_' are accepted, at least one"},
      [&](const Setup& setup) { return bad || (name.empty() && setup.version >= kV13) ? refused() : fine(); });
}

void check_dump_mode(Rules& rules) {
  const JsonMember* member = rules.common("dump_mode");
  if (member == nullptr || !rules.dump.dump_mode || *rules.dump.dump_mode < 2) return;
  const bool chosen_in_script = *rules.dump.dump_mode == 2;
  rules.findings.judge(
      common_spot(*member),
      {"dump-mode", is_text(*member),
       chosen_in_script ? "2 dumps what the script chooses with mindspore.set_dump, on Ascend" : "use 0, 1 or 2"},
      [&](const Setup& setup) {
        if (!chosen_in_script || setup.version < kV16) return refused();
        if (setup.device != Device::kAscend) return refused();
        return setup.version < kV23 && rules.dump.is_synchronous(setup) ? refused() : fine();
      });
}

void check_input_output(Rules& rules) {
  const JsonMember* member = rules.common("input_output");
  if (member == nullptr || rules.dump.input_output.value_or(0) < 3) return;
  rules.findings.error(common_spot(*member), {"bad-value", fmt::format("{}: {}", is_text(*member), kRefused),
                                              "0 is both, 1 inputs, 2 outputs"});
}

void check_devices(Rules& rules) {
  const JsonMember* member = rules.common("support_device");
  if (member == nullptr || !member->value.is(JsonKind::kArray)) return;
  const std::vector<JsonValue>& items = member->value.items;
  if (items.empty()) {
    rules.findings.judge(common_spot(*member),
                         {"support-device", "support_device is empty", "name the ids of the devices"},
                         [](const Setup& setup) {
                           const bool looks = setup.device != Device::kCpu || setup.version < kV13;
                           return looks ? nothing_written() : fine();
                         });
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Spot spot = spot_of_item(common_spot(*member), i, items[i]);
    const std::string subject = fmt::format("support_device[{}] is {}", i, in_words(items[i]));
    if (!items[i].is(JsonKind::kNumber) && !items[i].is(JsonKind::kBool)) {
      rules.findings.error(spot, {"support-device", fmt::format("{}: {}", subject, kRefused), "numbers are wanted"});
    } else if (!parse_u64(items[i].text)) {
      rules.findings.warning(spot, {"support-device", fmt::format("{}: it is read as another number", subject),
                                    "non-negative whole numbers are wanted"});
    }
  }
}

void check_saved_data(Rules& rules) {
  const JsonMember* member = rules.common("saved_data");
  if (member == nullptr || !rules.dump.saved_data) return;
  const std::string& word = *rules.dump.saved_data;
  if (word == "tensor") return;
  if (!rules.dump.saves_statistics()) {
    rules.findings.judge(common_spot(*member),
                         {"bad-value", is_text(*member), words_hint(word, {"tensor", "statistic", "full"})},
                         [](const Setup& setup) { return setup.version >= kV16 ? refused() : fine(); });
    return;
  }
  rules.findings.judge(
      common_spot(*member),
      {"saved-data", is_text(*member),
       "a CPU saves tensors only; Ascend saves statistics in synchronous dumps from 2.3 on, and with file_format npy"},
      [&](const Setup& setup) {
        if (setup.version < kV16) return fine();
        if (setup.device == Device::kCpu) return refused();
        if (setup.device == Device::kGpu) return fine();
        if (rules.dump.is_synchronous(setup)) return setup.version < kV23 ? refused() : fine();
        return rules.dump.file_format == "npy" ? fine() : refused();
      });
}

void check_categories(Rules& rules) {
  const JsonMember* member = rules.common("statistic_category");
  if (member == nullptr || !member->value.is(JsonKind::kArray) || !rules.dump.saves_statistics()) return;
  const std::vector<JsonValue>& items = member->value.items;
  if (items.empty()) {
    rules.findings.judge(
        common_spot(*member), {"statistic-category", "statistic_category is empty"},
        [](const Setup& setup) { return setup.version >= kV23 ? other("statistic.csv has no statistics") : fine(); });
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const JsonValue& item = items[i];
    std::vector<std::string> words(kCategories.begin(), kCategories.end());
    words.insert(words.end(), kDigestCategories.begin(), kDigestCategories.end());
    const std::string hint = words_hint(item.text, words);
    rules.findings.judge(
        spot_of_item(common_spot(*member), i, item),
        {"statistic-category", fmt::format("statistic_category[{}] is {}", i, in_words(item)),
         contains(words, item.text) ? "" : hint},
        [&](const Setup& setup) {
          if (setup.version < kV23) return fine();
          const bool known =
              item.is(JsonKind::kString) &&
              (contains(kCategories, item.text) || (setup.version >= kV271 && contains(kDigestCategories, item.text)));
          if (!known) return refused();
          const bool on_device = setup.device == Device::kAscend && rules.dump.stat_calc_mode == "device" &&
                                 rules.dump.saved_data == "statistic";
          return on_device && !contains(kDeviceCategories, item.text) ? other("not computed on the device") : fine();
        });
  }
}

// A text of e2e_dump_settings that must be one of two words.
void check_word(Rules& rules, std::string_view key, std::vector<std::string> words) {
  const JsonMember* member = rules.e2e(key);
  if (member == nullptr || !member->value.is(JsonKind::kString)) return;
  if (std::find(words.begin(), words.end(), member->value.text) != words.end()) return;
  const ConfigKey* known = find_key(ConfigKind::kDataDump, kE2eSection, key);
  rules.findings.judge(e2e_spot(*member), {"bad-value", is_text(*member), words_hint(member->value.text, words)},
                       [&](const Setup& setup) { return exists_in(*known, setup.version) ? refused() : fine(); });
}

void check_sampling(Rules& rules) {
  const JsonMember* mode = rules.e2e("sample_mode");
  if (mode != nullptr && rules.dump.sample_mode.value_or(0) > 1) {
    rules.findings.judge(e2e_spot(*mode), {"bad-value", is_text(*mode), "0 saves whole tensors, 1 a part"},
                         [](const Setup& setup) { return setup.version >= kV23 ? refused() : fine(); });
  }
  const JsonMember* number = rules.e2e("sample_num");
  if (number == nullptr) return;
  const bool sampling = rules.dump.sample_mode == 1U;
  rules.findings.judge(e2e_spot(*number),
                       {"sample-num", is_text(*number), sampling ? "1 or more is wanted" : "set sample_mode to 1"},
                       [&](const Setup& setup) {
                         if (setup.version < kV23) return fine();
                         if (!sampling) return other("it is read with sample_mode 1 only");
                         return rules.dump.sample_num == 0U ? refused() : fine();
                       });
}

}  // namespace

void check_values(Rules& rules) {
  check_path(rules);
  check_net_name(rules);
  check_dump_mode(rules);
  check_input_output(rules);
  check_devices(rules);
  check_saved_data(rules);
  check_categories(rules);
  check_word(rules, "stat_calc_mode", {"host", "device"});
  check_word(rules, "device_stat_precision_mode", {"high", "low"});
  check_sampling(rules);
}

}  // namespace msdump::data_dump
