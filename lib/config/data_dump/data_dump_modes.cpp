#include <fmt/format.h>

#include "base/text.h"
#include "config/data_dump/data_dump_rules.h"

namespace msdump::data_dump {
namespace {

void check_enabled(Rules& rules) {
  const JsonMember* section = find_member(rules.root, kE2eSection);
  const JsonMember* enable = rules.e2e("enable");
  const auto is_on = [&](const Setup& setup) {
    return rules.dump.is_synchronous(setup) || rules.dump.is_asynchronous(setup);
  };
  if (section == nullptr) {
    rules.findings.judge({std::string(kE2eSection), rules.root.offset},
                         {"e2e-missing", "e2e_dump_settings is missing",
                          "add \"e2e_dump_settings\": {\"enable\": true, \"trans_flag\": true}, unless the dump is "
                          "asynchronous on Ascend"},
                         [&](const Setup& setup) {
                           if (setup.version < kV11) return refused();
                           if (!is_on(setup)) return nothing_written();
                           return setup.version >= kV26 ? other("MindSpore warns that its ms_backend writes nothing")
                                                        : fine();
                         });
  } else if (enable != nullptr && rules.dump.enable == false) {
    rules.findings.judge(e2e_spot(*enable), {"not-enabled", "enable is false"}, [&](const Setup& setup) {
      if (!is_on(setup)) return nothing_written();
      return setup.device != Device::kAscend ? other("the dump is on anyway") : fine();
    });
  }
}

void check_file_format(Rules& rules) {
  const JsonMember* member = rules.common("file_format");
  if (member == nullptr || !rules.dump.file_format) return;
  const std::string& word = *rules.dump.file_format;
  const std::vector<std::string> words = {"npy", "bin"};
  const bool known = word == "npy" || word == "bin";
  rules.findings.judge(common_spot(*member),
                       {known ? "file-format-unused" : "bad-value", is_text(*member),
                        known ? "file_format is for asynchronous dumps" : "use npy or bin"},
                       [&](const Setup& setup) {
                         if (setup.version < kV16) return fine();
                         if (rules.dump.is_asynchronous(setup)) return known ? fine() : refused();
                         return word == "npy" ? fine() : other("a synchronous dump writes .npy anyway");
                       });
}

Effect effect_of_debug_mode(const Rules& rules, const Setup& setup, uint32_t mode) {
  const bool synchronous = rules.dump.is_synchronous(setup);
  if (setup.version < kV13) return fine();  // reported for the key
  if (setup.version < kV23 && synchronous) return other("a synchronous dump does not read it");
  if (setup.version < kV23) return mode > 3 ? refused() : fine();
  if (mode > 4) return refused();
  if (mode == 1 || mode == 2) {
    if (setup.version >= kV24) return other("it is treated as 3");
    return synchronous ? refused() : fine();
  }
  if (setup.device == Device::kCpu && mode == 3) return other("a CPU dumps everything, overflow or not");
  if (setup.device != Device::kAscend && mode == 4) return other("no operator is dumped");
  return fine();
}

void check_debug_mode(Rules& rules) {
  const JsonMember* member = rules.common("op_debug_mode");
  if (member == nullptr || rules.dump.op_debug_mode.value_or(0) == 0) return;
  const uint32_t mode = *rules.dump.op_debug_mode;
  rules.findings.judge(common_spot(*member),
                       {"op-debug-mode", is_text(*member),
                        "0 is off, 3 dumps operators that overflow, 4 operators that fail (2.3 and later)"},
                       [&](const Setup& setup) { return effect_of_debug_mode(rules, setup, mode); });
}

// What a debug mode makes of other keys, from 2.3 on.
void check_overrides(Rules& rules) {
  const auto judge = [&](const JsonMember* member, const auto& overridden, std::string_view what) {
    if (member == nullptr) return;
    const bool in_e2e = rules.e2e(member->key) == member;
    rules.findings.judge(in_e2e ? e2e_spot(*member) : common_spot(*member),
                         {"overridden", is_text(*member), "op_debug_mode decides"}, [&](const Setup& setup) {
                           return setup.version >= kV23 && overridden(setup) ? other(std::string(what)) : fine();
                         });
  };
  const DataDump& dump = rules.dump;
  const auto exception = [&](const Setup& setup) { return dump.debug_mode(setup) == 4 && dump.is_synchronous(setup); };
  if (dump.dump_mode.value_or(0) != 0) {
    judge(
        rules.common("dump_mode"), [&](const Setup& setup) { return dump.debug_mode(setup) != 0; },
        "it is treated as 0");
  }
  if (dump.input_output.value_or(0) != 0) {
    judge(
        rules.common("input_output"), [&](const Setup& setup) { return dump.debug_mode(setup) == 3; },
        "it is treated as 0");
  }
  if (dump.iteration && *dump.iteration != "all") judge(rules.common("iteration"), exception, "every step counts");
  if (dump.saves_statistics()) judge(rules.common("saved_data"), exception, "tensors are saved");
  if (dump.sample_mode == 1U) judge(rules.e2e("sample_mode"), exception, "whole tensors are saved");
}

void check_overflow_number(Rules& rules) {
  const JsonMember* member = rules.common("overflow_number");
  if (member == nullptr) return;
  rules.findings.judge(common_spot(*member),
                       {"overflow-number", "overflow_number is there and op_debug_mode is not 3",
                        "remove it, or set op_debug_mode to 3"},
                       [&](const Setup& setup) {
                         return setup.version >= kV24 && rules.dump.debug_mode(setup) != 3 ? refused() : fine();
                       });
}

void check_statistics(Rules& rules) {
  const JsonMember* categories = rules.common("statistic_category");
  const bool names_any = categories != nullptr && !categories->value.items.empty();
  if (names_any && !rules.dump.saves_statistics()) {
    rules.findings.judge(
        common_spot(*categories),
        {"statistic-category", "statistic_category without statistics", "set saved_data to statistic or full"},
        [](const Setup& setup) { return setup.version >= kV23 ? other("it is not read") : fine(); });
  }
  const JsonMember* mode = rules.e2e("stat_calc_mode");
  if (mode != nullptr && rules.dump.stat_calc_mode == "device") {
    const bool tensors = rules.dump.saved_data.value_or("tensor") != "statistic";
    rules.findings.judge(e2e_spot(*mode),
                         {"stat-calc-mode", is_text(*mode),
                          "the device computes statistics on Ascend, with saved_data "
                          "statistic"},
                         [&](const Setup& setup) {
                           if (setup.version < kV23) return fine();
                           const bool overflow = rules.dump.debug_mode(setup) == 3 && rules.dump.enable != true;
                           const bool host = tensors || overflow || setup.device != Device::kAscend;
                           return host ? other("the host computes them") : fine();
                         });
  }
  const JsonMember* precision = rules.e2e("device_stat_precision_mode");
  if (precision != nullptr && precision->value.text == "low" && rules.dump.stat_calc_mode != "device") {
    rules.findings.judge(e2e_spot(*precision), {"stat-calc-mode", is_text(*precision), "set stat_calc_mode to device"},
                         [](const Setup& setup) {
                           return setup.version >= kV24 ? other("it is for statistics of the device") : fine();
                         });
  }
}

}  // namespace

void check_modes(Rules& rules) {
  check_enabled(rules);
  check_file_format(rules);
  check_debug_mode(rules);
  check_overrides(rules);
  check_overflow_number(rules);
  check_statistics(rules);
}

const JsonMember* Rules::common(std::string_view key) const {
  return dump.common == nullptr ? nullptr : find_member(*dump.common, key);
}

const JsonMember* Rules::e2e(std::string_view key) const {
  return dump.e2e == nullptr ? nullptr : find_member(*dump.e2e, key);
}

Spot common_spot(const JsonMember& member) {
  return {fmt::format("{}.{}", kCommonSection, member.key), member.value.offset};
}

Spot e2e_spot(const JsonMember& member) { return {fmt::format("{}.{}", kE2eSection, member.key), member.value.offset}; }

std::string is_text(const JsonMember& member) {
  return fmt::format("{} is {}", excerpt(member.key), in_words(member.value));
}

}  // namespace msdump::data_dump

namespace msdump {

void lint_data_dump(Findings& findings, const JsonValue& root, const LintTarget& target) {
  data_dump::Rules rules{findings, root, target, read_data_dump(root)};
  data_dump::check_keys(rules);
  data_dump::check_values(rules);
  data_dump::check_iteration(rules);
  data_dump::check_kernels(rules);
  data_dump::check_modes(rules);
}

}  // namespace msdump
