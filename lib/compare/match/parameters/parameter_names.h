// ParameterName: the name of a parameter in a form that can be compared across frameworks.
//
//   text     '.' between components, also for '/'; a common word for what frameworks call otherwise at the end
//            (gamma, kernel, embedding_table: weight; beta: bias; moving_mean: running_mean; ..)
//   pattern  the text with '*' for the numbers that count layers, experts, ..: "model.layers.*.mlp.up_proj.weight". A
//            component of digits counts, and one after letters ("layer_0") if a name of the same form has 0 there:
//            "fc1" and "conv2" are names
// The name of a parameter of msprobe is the path of its module and the slot: "layer1.fc.weight".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/names/identity.h"

namespace msdump {

struct ParameterName {
  std::string text, pattern;
  std::vector<int64_t> numbers;  // for the pattern's stars
};

// The name in the file, for msprobe without prefix and class. Empty for what is no parameter, such as a gradient.
[[nodiscard]] std::string parameter_of(const NameFacts& name);

// `names` are those of one checkpoint. All of them together show which numbers count.
[[nodiscard]] std::vector<ParameterName> parameter_names(const std::vector<std::string>& names);

// The module "layers.*.fc" and the leaf "weight" of "layers.*.fc.weight", and of "layers.*.fc_weight".
struct ParameterParts {
  std::string_view module, leaf;
};
[[nodiscard]] ParameterParts parts_of(std::string_view pattern);

// The place and the digits of the number of a layer in a key: the first component of digits.
[[nodiscard]] std::optional<std::pair<size_t, std::string_view>> layer_in(std::string_view key);

// The similarity of two names, from 0 to 1.
[[nodiscard]] double name_likeness(std::string_view a, std::string_view b);

// The part of each name that distinguishes it from the others: "q_proj", "k_proj".
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace msdump
