// Reads the file of --map: names of the candidate and the names that they have in the reference. The content decides which
// form it is:
//
//   csv     "candidate name, reference name" on each line: operators, or tensors as op_name:io:slot or as msprobe's data
//           files are called. Quotes as in RFC 4180; a header of known words, lines that begin with # and empty lines
//           are ignored
//   data    msprobe -dm, YAML {candidate item: reference item}, and {operator: operator}
//   cell    msprobe -cm, {name.Class: name.Class}: texts without a direction of a call; "Cell" becomes "Module"
//   api     msprobe -am, [{ms_api, pt_api, ms_args, pt_args, ms_output(s), pt_output(s), ms_parameters, ..}, ..]. Here the
//           lists of outputs may be called either way, and lists of different lengths are an error
//   paths   "blocks=layers": renames a part of the path (PathRule)
//   layers  msprobe -lm, {Class or TopLayer: {child: reference child}}: becomes a data mapping by way of the construct.json
//           and stack.json of both dumps (compare/match/msprobe/msprobe_layers.h)
//
// "N/A" on the right: no partner. A name that is listed with two different partners is an error.
// Bounds: 16 MiB. Source: msprobe 26.2.0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/names/identity.h"

namespace msdump {

// A rule that renames a part of the path in names of operators, one on each line of a file:
//
//   blocks=layers           the component "blocks", wherever it is: Module.layers.0.attn.Linear.forward.0
//   net.encoder=encoder     components that follow each other
//   stage*=layers.*         * is any text inside a component, and the same text on the right
//   module=                 the component is left out
//
// Components end at '.', '/' and '-'. Rules apply in the order of the file, each to the result of the one before.
// Empty lines and lines that begin with # are ignored.
struct PathRule {
  std::vector<std::string> from;  // components
  std::string to;
};

// kUsage with the line for a line without '=', an empty left side, more stars on the right than on the left.
Result<std::vector<PathRule>> read_path_rules(std::string_view text);

[[nodiscard]] std::string renamed_by(const std::vector<PathRule>& rules, std::string_view name);

enum class NameMapKind : uint8_t { kCsv, kData, kCell, kApi, kLayers, kPaths };
[[nodiscard]] std::string_view name_of(NameMapKind kind);  // "csv", "data mapping", "cell mapping", ..

// A tensor with the catalogue's names.
struct TensorName {
  std::string op_name;
  Io io = Io::kOutput;
  std::string slot;

  bool operator==(const TensorName&) const = default;
};
// Parses op_name:io:slot, or the name of msprobe's data file.
[[nodiscard]] std::optional<TensorName> tensor_name(std::string_view text);

struct NamePair {
  std::string candidate, reference;  // "N/A" is empty: no partner
  size_t line = 0;
};

// No value: slots keep their names.
using SlotPairs = std::optional<std::vector<std::pair<std::string, std::string>>>;

struct ApiPair {
  std::string candidate, reference;  // "Functional.softmax", "Torch.softmax"
  SlotPairs input, output, parameters, parameters_grad;
};

struct NameMapContent {
  NameMapKind kind = NameMapKind::kCsv;
  std::vector<NamePair> operators, tensors;
  std::vector<std::pair<std::string, std::string>> cells;
  std::vector<ApiPair> apis;
  std::vector<PathRule> paths;
};

// The dump.json of both sides, for a mapping of layers, rank by rank; the first that has a name decides.
struct NameMapDumps {
  std::vector<std::pair<std::string, std::string>> dump_jsons = {};
};

// kUsage with "line L: .." if it is in none of the forms, kTooLarge beyond the bounds.
Result<NameMapContent> parse_name_map(std::string_view text, const NameMapDumps& dumps);
Result<NameMapContent> read_name_map(const std::string& path, const NameMapDumps& dumps);

}  // namespace msdump
