#include "frame/options.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/usage.h"

namespace msdump::cli {
namespace {

std::vector<std::string> names_with(const std::string& names, bool is_long) {
  std::vector<std::string> found;
  for (const std::string_view name : split(names, ',')) {
    if (name.starts_with("--") == is_long && name.starts_with('-')) found.emplace_back(name.substr(is_long ? 2 : 1));
  }
  return found;
}

void take_number(const Option& option, const std::string& typed, uint32_t least, uint32_t most, uint32_t& target) {
  const std::optional<uint64_t> number = parse_u64(typed);
  if (!number || *number < least || *number > most)
    throw UsageError(fmt::format("{}: '{}' is not a number from {} to {}", option.spelling(), typed, least, most));
  target = static_cast<uint32_t>(*number);
}

size_t place_of_word(const std::string& typed, const std::vector<std::string>& words, const ChoiceText& text) {
  const std::string lower = to_lower(typed);
  for (const RefusedWord& refused : text.refused) {
    if (lower == refused.word) throw UsageError(refused.message, refused.hint);
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (lower == to_lower(words[i])) return i;
  }
  throw UsageError(unknown_word(text.noun, typed, words),
                   text.hint.empty() ? "accepted are " + join_words(words, "and") : text.hint);
}

}  // namespace

OptionValue OptionValue::flag(std::function<void()> chosen) { return {Kind::kFlag, "", std::move(chosen)}; }

OptionValue OptionValue::text(std::string& target, std::string name) {
  return text([&target](const std::string& typed) { target = typed; }, std::move(name));
}

OptionValue OptionValue::text(std::function<void(const std::string&)> take, std::string name) {
  return {
      Kind::kOne, std::move(name),
      Take([take = std::move(take)](const Option&, const std::vector<std::string>& typed) { take(typed.front()); })};
}

OptionValue OptionValue::optional_text(std::function<void(const std::string&)> take, std::string name) {
  OptionValue value = text(std::move(take), std::move(name));
  value.kind_ = Kind::kOptional;
  return value;
}

OptionValue OptionValue::texts(std::vector<std::string>& target, std::string name, char delimiter) {
  OptionValue value =
      texts([&target](const Option&, const std::vector<std::string>& typed) { target = typed; }, std::move(name));
  value.delimiter_ = delimiter;
  return value;
}

OptionValue OptionValue::texts(Take take, std::string name) {
  return {Kind::kRepeated, std::move(name), std::move(take)};
}

OptionValue OptionValue::arguments(std::vector<std::string>& target) {
  OptionValue value = texts(target, "");
  value.kind_ = Kind::kArguments;
  return value;
}

OptionValue OptionValue::number(uint32_t& target, uint32_t least, uint32_t most) {
  return {Kind::kOne, "N", Take([&target, least, most](const Option& option, const std::vector<std::string>& typed) {
            take_number(option, typed.front(), least, most, target);
          })};
}

OptionValue OptionValue::word(std::vector<std::string> words, ChoiceText text, std::function<void(size_t)> chosen) {
  OptionValue value(Kind::kOne, "",
                    Take([words, text = std::move(text), chosen = std::move(chosen)](
                             const Option&, const std::vector<std::string>& typed) {
                      chosen(place_of_word(typed.front(), words, text));
                    }));
  value.words_ = std::move(words);
  return value;
}

bool Option::has_effect() const {
  const bool is_empty =
      !value.is_flag() && std::all_of(typed.begin(), typed.end(), [](const std::string& one) { return one.empty(); });
  return is_given() && (!is_empty || value.kind() == OptionValue::Kind::kOptional);
}

std::vector<std::string> Option::letters() const { return names_with(names, false); }

std::vector<std::string> Option::long_names() const { return names_with(names, true); }

std::string Option::key() const { return is_argument() ? names : long_names().front(); }

std::string Option::spelling() const { return is_argument() ? names : "--" + key(); }

const std::vector<std::string>& Option::completions() const {
  return value.words().empty() ? suggestions : value.words();
}

bool Option::is_called(std::string_view name) const {
  const std::vector<std::string> own = long_names();
  const std::vector<std::string_view> others = split(other_names, ' ');
  return !name.empty() && (std::find(own.begin(), own.end(), name) != own.end() ||
                           std::find(others.begin(), others.end(), name) != others.end());
}

void OptionTable::add(std::vector<Option> options) {
  for (Option& option : options) options_.push_back(std::move(option));
}

const Option* OptionTable::find(std::string_view name) const {
  const auto has_name = [&](const Option& option) {
    const std::vector<std::string> long_names = option.long_names();
    return option.is_argument() ? option.names == name
                                : std::find(long_names.begin(), long_names.end(), name) != long_names.end();
  };
  const auto found = std::find_if(options_.begin(), options_.end(), has_name);
  return found == options_.end() ? nullptr : &*found;
}

bool OptionTable::is_given(std::string_view name) const {
  const Option* const option = find(name);
  return option != nullptr && option->is_given();
}

std::vector<std::string_view> OptionTable::groups() const {
  std::vector<std::string_view> groups;
  for (const Option& option : options_) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

}  // namespace msdump::cli
