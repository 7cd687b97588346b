#include "dump/names/checkpoint_path.h"

#include <vector>

#include <re2/re2.h>

#include "base/text.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

struct Numbered {
  std::optional<int64_t> number;
  std::string rest;  // without it
};

// Takes the first word and its number out of a folder's or file's name. `word` has three groups: what is before the word, the
// number, and what is behind.
Numbered take_number(std::string_view name, const re2::RE2& word) {
  Numbered taken{std::nullopt, std::string(name)};
  const re2::StringPiece text(name.data(), name.size());
  re2::StringPiece groups[4];
  if (!word.Match(text, 0, text.size(), re2::RE2::UNANCHORED, groups, 4)) return taken;
  taken.number = parse_i64({groups[2].data(), groups[2].size()});
  if (!taken.number) return taken;
  const auto begin = static_cast<size_t>(groups[0].data() - name.data());
  const std::string_view after = name.substr(begin + groups[0].size() - groups[3].size());
  // One of two separators stays.
  taken.rest = std::string(name.substr(0, begin)).append(begin == 0 && !after.empty() ? after.substr(1) : after);
  return taken;
}

const re2::RE2& rank_word() {
  static const re2::RE2 word(R"((^|[_.-])(?:(?:(?:mp|tp|pp|dp|global)_)?rank_?|consolidated\.)(\d+)($|[_.-]))");
  return word;
}

const re2::RE2& part_word() {
  static const re2::RE2 word(R"((^|[_.-])model_(\d+)(-model_states))");
  return word;
}

const re2::RE2& step_word() {
  static const re2::RE2 word(R"((^|[_.-])(?:iter|iteration|global_step|step|checkpoint)[_-]?(\d+)($|[_.-]))");
  return word;
}

const re2::RE2& epoch_word() {
  static const re2::RE2 word(R"(-\d+_\d+(\.[a-z]+)?$)");
  return word;
}

}  // namespace

CheckpointPath parse_checkpoint_path(std::string_view path) {
  CheckpointPath result;
  result.has_epoch = re2::RE2::PartialMatch(re2::StringPiece(path.data(), path.size()), epoch_word());
  std::vector<std::string> parts;
  const std::vector<std::string_view> names = split(path, '/');
  // The innermost word counts. A folder may repeat the rank of its file.
  for (size_t i = names.size(); i-- > 0;) {
    Numbered ranked = take_number(names[i], rank_word());
    if (!ranked.number) ranked = take_number(names[i], part_word());
    if (ranked.number && (!result.rank || result.rank == ranked.number)) {
      result.rank = ranked.number;
    } else {
      ranked.rest = names[i];
    }
    Numbered stepped = take_number(ranked.rest, step_word());
    if (stepped.number && !result.step) {
      result.step = stepped.number;
    } else {
      stepped.rest = std::move(ranked.rest);
    }
    if (!stepped.rest.empty()) parts.push_back(std::move(stepped.rest));
  }
  for (size_t i = parts.size(); i-- > 0;) result.rest.append(parts[i]).append(i == 0 ? "" : "/");
  return result;
}

std::string_view checkpoint_of_array(std::string_view file_name) {
  const auto converted = parse_converted_npy_name(file_name);
  if (!converted || converted->parameter.empty()) return {};
  return file_name.substr(0, static_cast<size_t>(converted->parameter.data() - file_name.data()) - 1);
}

}  // namespace msdump
