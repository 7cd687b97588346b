#include "dump/names/checkpoint_path.h"

#include <vector>

#include <re2/re2.h>

#include "base/text.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

// What a word has before it, the number, and what is behind are the groups of each but `epoch`.
struct Words {
  re2::RE2 rank{R"((^|[_.-])(?:(?:(?:mp|tp|pp|dp|global)_)?rank_?|consolidated\.)(\d+)($|[_.-]))"};
  re2::RE2 part{R"((^|[_.-])model_(\d+)(-model_states))"};
  re2::RE2 step{R"((^|[_.-])(?:iter|iteration|global_step|step|checkpoint)[_-]?(\d+)($|[_.-]))"};
  re2::RE2 epoch{R"(-\d+_\d+(\.[a-z]+)?$)"};
};

const Words& words() {
  static const Words kWords;
  return kWords;
}

// Takes the first word and its number out of the name of a folder or file.
std::optional<int64_t> take_number(const re2::RE2& word, std::string& name) {
  re2::StringPiece groups[4];
  if (!word.Match(name, 0, name.size(), re2::RE2::UNANCHORED, groups, 4)) return std::nullopt;
  const auto number = parse_i64({groups[2].data(), groups[2].size()});
  if (!number) return std::nullopt;
  const auto begin = static_cast<size_t>(groups[0].data() - name.data());
  size_t end = begin + groups[0].size() - groups[3].size();
  // The separator before the word goes with it, or at the beginning of the name that behind it.
  if (begin == 0 && end < name.size()) ++end;
  name.erase(begin, end - begin);
  return number;
}

}  // namespace

CheckpointPath parse_checkpoint_path(std::string_view path) {
  CheckpointPath result;
  const std::vector<std::string_view> names = split(path, '/');
  for (size_t i = names.size(); i-- > 0;) {
    std::string name(names[i]), without_rank = name;
    auto rank = take_number(words().rank, without_rank);
    if (!rank) rank = take_number(words().part, without_rank);
    // A folder may repeat the rank of its file.
    if (rank && (!result.rank || result.rank == rank)) {
      result.rank = rank;
      name = std::move(without_rank);
    }
    if (!result.step) result.step = take_number(words().step, name);
    if (!name.empty()) result.rest = result.rest.empty() ? name : name + "/" + result.rest;
  }
  return result;
}

bool names_epoch(std::string_view path) {
  return re2::RE2::PartialMatch(re2::StringPiece(path.data(), path.size()), words().epoch);
}

std::string_view checkpoint_of_array(std::string_view file_name) {
  const auto converted = parse_converted_npy_name(file_name);
  if (!converted || converted->parameter.empty()) return {};
  return file_name.substr(0, static_cast<size_t>(converted->parameter.data() - file_name.data()) - 1);
}

}  // namespace msdump
