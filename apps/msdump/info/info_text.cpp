#include "info/info_text.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump::cli {
namespace {

constexpr size_t kLongestText = 200, kMostItems = 12, kMostRanges = 8;

std::string cut(std::string_view text) {
  if (text.size() <= kLongestText) return escape_for_terminal(text);
  size_t end = kLongestText;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return escape_for_terminal(text.substr(0, end)) + "...";
}

std::string plain_text(const report::Value& value);

std::string list_text(const report::List& list) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i == kMostItems) return text + fmt::format(", ... ({} in all)", list.size());
    text += (i == 0 ? "" : ", ") + plain_text(list[i]);
  }
  return text;
}

std::string object_text(const report::Object& object) {
  std::string text;
  for (const report::Member& member : object.members()) {
    if (member.value.is_null()) continue;
    text += (text.empty() ? "" : ", ") + escape_for_terminal(member.key) + " " + plain_text(member.value);
  }
  return text;
}

std::string plain_text(const report::Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<T, bool>) {
          return held ? "yes" : "no";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return cut(held);
        } else if constexpr (std::is_same_v<T, report::List>) {
          return list_text(held);
        } else if constexpr (std::is_same_v<T, report::Object>) {
          return object_text(held);
        } else if constexpr (std::is_floating_point_v<T>) {
          return report::number_text(held);
        } else {
          return std::to_string(held);
        }
      },
      value.storage());
}

bool has_objects(const report::Object& object) {
  return std::any_of(object.members().begin(), object.members().end(),
                     [](const report::Member& member) { return member.value.get<report::Object>() != nullptr; });
}

// Lines of a text that is shown unchanged.
std::string escaped_lines(std::string_view text) {
  std::string safe;
  for (const std::string_view line : split(text, '\n')) safe += escape_for_terminal(line) + '\n';
  return safe;
}

}  // namespace

InfoText::InfoText(std::string_view path, std::string_view what)
    : title_(escape_for_terminal(path) + ": " + std::string(what)) {}

void InfoText::line(std::string_view label, std::string_view text) {
  if (!text.empty()) lines_.push_back({escape_for_terminal(label), escape_for_terminal(text)});
}

void InfoText::more(std::string_view text) { lines_.push_back({{}, escape_for_terminal(text), true}); }

void InfoText::value(std::string_view label, const report::Value& value) {
  const auto* object = value.get<report::Object>();
  if (object == nullptr || !has_objects(*object)) {
    std::string text = plain_text(value);
    if (!text.empty()) lines_.push_back({escape_for_terminal(label), std::move(text)});
    return;
  }
  for (const report::Member& member : object->members()) this->value(member.key, member.value);
}

void InfoText::block(std::string_view text) { blocks_.push_back(escaped_lines(text)); }

void InfoText::next(std::string_view meaning, std::string_view command) {
  next_.emplace_back(meaning, escape_for_terminal(command));
}

std::string InfoText::text() const {
  size_t width = 0, next_width = 0;
  for (const Line& line : lines_) width = std::max(width, display_width(line.label));
  for (const auto& [meaning, command] : next_) next_width = std::max(next_width, display_width(meaning));
  std::string text = title_ + '\n';
  for (const Line& line : lines_) {
    const std::string padding(width + 2 - display_width(line.label), ' ');
    text += "  " + line.label + padding + (line.more ? "  " : "") + line.text + '\n';
  }
  for (const std::string& block : blocks_) text += '\n' + block;
  if (!next_.empty()) text += '\n';
  for (const auto& [meaning, command] : next_) {
    const std::string padding(next_width + 2 - display_width(meaning), ' ');
    text += "  " + meaning + padding + command + '\n';
  }
  return text;
}

std::string ranges_text(const std::set<int64_t>& numbers) {
  std::string text;
  size_t ranges = 0;
  for (auto first = numbers.begin(); first != numbers.end();) {
    if (ranges++ == kMostRanges) return text + ", ... " + std::to_string(*numbers.rbegin());
    auto end = first;
    int64_t last = *first;
    while (++end != numbers.end() && *end == last + 1) last = *end;
    text += (text.empty() ? "" : ", ") + std::to_string(*first);
    if (last != *first) text += "-" + std::to_string(last);
    first = end;
  }
  return text;
}

std::string counted_ranges_text(const std::set<int64_t>& numbers) {
  if (numbers.size() < 2) return ranges_text(numbers);
  return fmt::format("{}: {}", numbers.size(), ranges_text(numbers));
}

std::string counts_text(std::vector<std::pair<std::string, uint64_t>> counts, size_t most) {
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(counts.size(), most); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", counts[i].first, counts[i].second);
  }
  return counts.size() > most ? text + fmt::format(", and {} more", counts.size() - most) : text;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return plural(bytes, "byte");
  return fmt::format("{} ({} bytes)", human_bytes(bytes), bytes);
}

}  // namespace msdump::cli
