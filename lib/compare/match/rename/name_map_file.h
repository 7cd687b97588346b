// Rules that rename a part of the path in names of operators, one on each line of a file:
//
//   blocks=layers           the component "blocks", wherever it is: Module.layers.0.attn.Linear.forward.0
//   net.encoder=encoder     components that follow each other
//   stage*=layers.*         * is any text inside a component; on the right it is what the * on the left was
//   module=                 the component is left out
//
// Components end at '.', '/' and '-'. Rules apply in the order of the file, each to what the one before made of the name.
// Empty lines and lines that begin with # are ignored.
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

struct PathRule {
  std::vector<std::string> from;  // components
  std::string to;
};

// The first line with content has a '=', no comma, and is not YAML.
[[nodiscard]] bool looks_like_path_rules(std::string_view text);

// kUsage with the line for a line without '=', an empty left side, more stars on the right than on the left.
Result<std::vector<PathRule>> read_path_rules(std::string_view text);

[[nodiscard]] std::string renamed_by(const std::vector<PathRule>& rules, std::string_view name);

// --map FILE: which name of the candidate is which of the reference, in any of the forms in use. The content decides which
// form it is:
//
//   csv     "candidate name, reference name" on each line: operators, or tensors as op_name:io:slot or as msprobe's data
//           files are called. Quotes as in RFC 4180; a header of known words, lines that begin with # and empty lines
//           are ignored
//   data    msprobe -dm, YAML {candidate item: reference item}, and {operator: operator}
//   cell    msprobe -cm, {name.Class: name.Class}: texts without a direction of a call; "Cell" becomes "Module"
//   api     msprobe -am, [{ms_api, pt_api, ms_args, pt_args, ms_output(s), pt_output(s), ms_parameters, ..}, ..]. Here the
//           lists of outputs may be called either way, and lists of different lengths are an error
//   paths   "blocks=layers": what a part of the names is called in the reference (rename/path_rules.h)
//   layers  msprobe -lm, {Class or TopLayer: {child: reference child}}: becomes a data mapping by way of the construct.json
//           and stack.json of both dumps (msprobe_layers.h)
//
// "N/A" on the right: no partner. A name that is listed with two different partners is an error.
// Bounds: 16 MiB. Source: reference/compare-and-check.md 2.6; msprobe 26.2.0.

enum class NameMapKind : uint8_t { kCsv, kData, kCell, kApi, kLayers, kPaths };
[[nodiscard]] std::string_view name_of(NameMapKind kind);  // "csv", "data mapping", "cell mapping", ..

// A tensor with the catalogue's names.
struct TensorName {
  std::string op_name;
  Io io = Io::kOutput;
  std::string slot;

  bool operator==(const TensorName&) const = default;
};
// From op_name:io:slot, or from the name of msprobe's data file with or without its suffix.
[[nodiscard]] std::optional<TensorName> tensor_name(std::string_view text);

struct NamePair {
  std::string candidate, reference;  // "N/A" is empty: no partner
  size_t line = 0;
};

// Slots by position; nothing: slots keep their names.
struct SlotPairs {
  std::optional<std::vector<std::pair<std::string, std::string>>> slots;
};

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
