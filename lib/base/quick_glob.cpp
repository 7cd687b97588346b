#include "base/quick_glob.h"

#include <algorithm>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kWildcards = "*?";

}  // namespace

QuickGlob::QuickGlob(std::string pattern) : pattern_(std::move(pattern)) {
  const size_t first = pattern_.find_first_of(kWildcards);
  if (first == std::string::npos) {
    form_ = Form::kPlain;
    return;
  }
  const size_t last = pattern_.find_last_of(kWildcards), end = pattern_.size() - 1;
  before_ = first;
  after_ = end - last;
  find_longest_part();
  // `?` is one byte, not any text: a pattern with `?` or a third wildcard stays kGeneral.
  if (pattern_.find('?') != std::string::npos) return;
  if (first == last && (first == end || first == 0)) {
    form_ = first == 0 ? Form::kSuffix : Form::kPrefix;
  } else if (first == 0 && last == end && pattern_.find('*', 1) == end) {
    form_ = Form::kInside;
  }
}

void QuickGlob::find_longest_part() {
  for (size_t begin = 0; begin < pattern_.size();) {
    const size_t end = std::min(pattern_.find_first_of(kWildcards, begin), pattern_.size());
    if (end - begin > size_) {
      begin_ = begin;
      size_ = end - begin;
    }
    begin = end + 1;
  }
}

bool QuickGlob::matches(std::string_view text) const {
  const std::string_view pattern = pattern_, part = pattern.substr(begin_, size_);
  switch (form_) {
    case Form::kPlain: return text == pattern;
    case Form::kPrefix: return text.starts_with(part);
    case Form::kSuffix: return text.ends_with(part);
    case Form::kInside: return text.find(part) != std::string_view::npos;
    case Form::kGeneral: break;
  }
  return text.starts_with(pattern.substr(0, before_)) && text.ends_with(pattern.substr(pattern.size() - after_)) &&
         text.find(part) != std::string_view::npos && glob_match(pattern, text);
}

}  // namespace msdump
