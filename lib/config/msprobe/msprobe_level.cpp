#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "config/msprobe/msprobe_rules.h"

namespace msdump::msprobe {
namespace {

constexpr std::array<std::string_view, 11> kApiPrefixes = {
    "Distributed", "Functional", "Torch", "Tensor", "Mint", "MintFunctional", "Primitive", "Aten", "VF", "NPU", "Jit"};

// "Functional.relu.0.forward": PREFIX.NAME.N.DIRECTION
bool is_api_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  if (parts.size() < 4) return false;
  const bool prefix = std::find(kApiPrefixes.begin(), kApiPrefixes.end(), parts.front()) != kApiPrefixes.end();
  return prefix && is_digits(parts[parts.size() - 2]) && (parts.back() == "forward" || parts.back() == "backward");
}

// "Module.fc1.Linear.forward.0": Cell|Module.NAME.DIRECTION.N
bool is_module_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  if (parts.size() < 4) return false;
  const std::string_view direction = parts[parts.size() - 2];
  return (parts.front() == "Module" || parts.front() == "Cell") && is_digits(parts.back()) &&
         (direction == "forward" || direction == "backward");
}

std::string fault_of_name(const Rules& rules, std::string_view name) {
  if (rules.level == "L0")
    return is_module_name(name) ? "" : "a module is wanted: Module.NAME.CLASS.forward.N (Cell on MindSpore)";
  if (rules.level == "L1") return is_api_name(name) ? "" : "an API call is wanted: Functional.NAME.N.forward";
  if (rules.level == "mix")
    return is_api_name(name) || is_module_name(name) ? "" : "an API call or a module is wanted, with its full name";
  return "";
}

// Levels that hook calls take a range of calls; level L2 (kernels) does not.
void check_scope(Rules& rules) {
  const JsonMember* member = rules.option("scope");
  if (!is_truthy(member) || !is_text_list(member->value)) return;
  const std::vector<JsonValue>& items = member->value.items;
  if (rules.level == "L2") {
    rules.findings.judge(rules.spot(*member), {"scope", "scope at level L2", "use list"},
                         [](const Setup& setup) { return on_pytorch(setup) ? refused() : other("it is not read"); });
    return;
  }
  if (items.size() != 2) {
    rules.findings.error(rules.spot(*member),
                         {"scope", fmt::format("scope has {}, not two: {}", plural(items.size(), "name"), kRefused),
                          "name the first and the last call"});
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string fault = fault_of_name(rules, items[i].text);
    if (fault.empty()) continue;
    rules.findings.error(spot_of_item(rules.spot(*member), i, items[i]),
                         {"scope", fmt::format("scope[{}] is {}: {}", i, in_words(items[i]), kRefused), fault});
  }
}

// Kernels: PyTorch dumps those of one API call, MindSpore writes a data_dump.json.
void check_kernels(Rules& rules) {
  const JsonMember* level = rules.top("level");
  const Spot spot{"level", level->value.offset};
  const JsonMember* list = rules.option("list");
  const size_t names = list == nullptr ? 0 : list->value.items.size();
  rules.findings.judge(spot, {"level", "level L2 without a list of one API call", "name one in the task's list"},
                       [&](const Setup& setup) { return on_pytorch(setup) && names != 1 ? refused() : fine(); });
  rules.findings.judge(spot,
                       {"level", fmt::format("level L2 with task {}", rules.task), "PyTorch takes task tensor only"},
                       [&](const Setup& setup) {
                         const bool reported = rules.task == "exception_dump" || rules.task == "acc_check";
                         return on_pytorch(setup) && rules.task != "tensor" && !reported ? refused() : fine();
                       });
  const JsonMember* mode = rules.option("data_mode");
  if (mode != nullptr && mode->value.is(JsonKind::kArray) && !mode->value.items.empty()) {
    const std::vector<JsonValue>& items = mode->value.items;
    static constexpr std::array<std::string_view, 3> kModes = {"all", "input", "output"};
    const bool fits = items.size() == 1 && is_one_of(items.front(), kModes);
    rules.findings.judge(rules.spot(*mode), {"data-mode", "data_mode at level L2", "one of all, input, output"},
                         [&](const Setup& setup) { return on_pytorch(setup) || fits ? fine() : refused(); });
  }
  if (const JsonMember* tensors = rules.option("tensor_list"); is_truthy(tensors)) {
    rules.findings.judge(rules.spot(*tensors), {"not-read", "tensor_list at level L2"}, [](const Setup& setup) {
      return on_pytorch(setup) ? fine() : other("MindSpore does not read it");
    });
  }
}

void check_structure(Rules& rules) {
  if (rules.task != "structure") return;
  const JsonMember* level = rules.top("level");
  static constexpr std::array<std::string_view, 2> kLevels = {"L0", "mix"};
  if (level != nullptr && is_one_of(level->value, kLevels)) return;
  rules.findings.warning({"level", level == nullptr ? rules.root.offset : level->value.offset},
                         {"level",
                          fmt::format("task structure with level {}: it is treated as mix",
                                      is_truthy(level) ? in_words(level->value) : "L1, the default"),
                          "set level to L0 or mix"});
}

}  // namespace

void check_level(Rules& rules) {
  check_structure(rules);
  check_scope(rules);
  if (rules.level == "L2") check_kernels(rules);
  const JsonMember* device = rules.option("device");
  if (device != nullptr && device->value.text == "device" && rules.task == "statistics" && rules.level != "L2") {
    rules.findings.judge(rules.spot(*device), {"not-read", "device is 'device'", "it is for level L2"},
                         [](const Setup& setup) {
                           return on_pytorch(setup) ? fine() : other("the host computes statistics at this level");
                         });
  }
  if (const JsonMember* tensors = rules.option("tensor_list"); rules.level == "debug" && is_truthy(tensors))
    rules.findings.warning(rules.spot(*tensors), {"not-read", "tensor_list at level debug: it is not read"});
}

}  // namespace msdump::msprobe
