#include "config/kernels.h"

#include <algorithm>
#include <memory>

#include <re2/re2.h>

#include "base/text.h"

namespace msdump {
namespace {

// The place after the ']' of the class whose '[' is at `at`; npos when it is not closed.
size_t end_of_class(std::string_view text, size_t at) {
  size_t i = at + 1;
  if (i < text.size() && text[i] == '^') ++i;
  // In Python, a leading ']' is literal. ECMAScript reads [] as an empty class; if another ']' follows, both can read
  // the text.
  if (i < text.size() && text[i] == ']' && text.find(']', i + 1) != std::string_view::npos) ++i;
  for (; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ']') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string regex_fault(std::string_view text) {
  size_t open = 0;
  bool repeatable = false;  // whether a quantifier can repeat what comes before
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      if (++i == text.size()) return "it ends in a backslash";
      repeatable = true;
    } else if (c == '[') {
      const size_t end = end_of_class(text, i);
      if (end == std::string_view::npos) return "the bracket '[' is not closed";
      i = end - 1;
      repeatable = true;
    } else if (c == '(') {
      ++open;
      repeatable = false;
      // (?: (?= (?! (?P<name> ...: the '?' is not a quantifier
      if (i + 1 < text.size() && text[i + 1] == '?') ++i;
    } else if (c == ')') {
      if (open == 0) return "')' without '('";
      --open;
      repeatable = true;
    } else if (c == '*' || c == '+' || c == '?') {
      if (!repeatable) return std::string("'") + c + "' has nothing to repeat";
      // "a+?" is a lazy quantifier, "a++" one of newer Pythons; "a**" is an error everywhere.
      if (i + 1 < text.size() && (text[i + 1] == '?' || text[i + 1] == '+')) ++i;
      repeatable = false;
    } else {
      repeatable = c != '|' && c != '^' && c != '$';
    }
  }
  return open > 0 ? "the bracket '(' is not closed" : "";
}

namespace {

constexpr Version kTypes{2, 0, 0}, kExpressions{2, 3, 0};
constexpr std::string_view kRegexBegin = "name-regex(";
constexpr size_t kLongestExpression = 10'000;  // a longer one is not a name

// The JSON text of the item without its quotes and blanks.
std::string as_mindspore_has_it(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == ' ') {
      if (c == '"') result += '\\';  // of its escape sequence
      continue;
    }
    result += c;
    if (c == '\\') result += c;
  }
  return result;
}

}  // namespace

std::string_view kernel_type_in(std::string_view full_name) {
  const std::string_view last = full_name.substr(full_name.rfind('/') + 1);
  return last.substr(0, last.rfind('-'));
}

KernelItem parse_kernel(const JsonValue& item) {
  KernelItem kernel;
  if (!item.is(JsonKind::kString)) return kernel;
  kernel.text = as_mindspore_has_it(item.text);
  kernel.has_blank = item.text.find(' ') != std::string::npos;
  if (kernel.text.empty()) {
    kernel.kind = KernelItem::Kind::kBlank;
  } else if (kernel.text.starts_with(kRegexBegin) && kernel.text.ends_with(')')) {
    kernel.kind = KernelItem::Kind::kRegex;
    kernel.text = kernel.text.substr(kRegexBegin.size(), kernel.text.size() - kRegexBegin.size() - 1);
    kernel.fault = regex_fault(kernel.text);
  } else if (kernel.text.find('/') == std::string::npos && kernel.text.find("-op") == std::string::npos) {
    kernel.kind = KernelItem::Kind::kType;
  } else {
    kernel.kind = KernelItem::Kind::kFullName;
  }
  return kernel;
}

std::vector<KernelItem> parse_kernels(const JsonValue& list) {
  std::vector<KernelItem> items;
  for (const JsonValue& item : list.items) items.push_back(parse_kernel(item));
  return items;
}

KernelReach reach_of(const KernelItem& item, const Version& version) {
  const bool takes_blanks_out = version >= kExpressions;
  switch (item.kind) {
    case KernelItem::Kind::kNoText: return KernelReach::kNever;
    case KernelItem::Kind::kBlank:
      if (takes_blanks_out) return KernelReach::kSkipped;
      return version >= kTypes && !item.has_blank ? KernelReach::kEverything : KernelReach::kNever;
    case KernelItem::Kind::kRegex:
      if (version < kExpressions) return KernelReach::kNever;
      if (!item.fault.empty()) return KernelReach::kEnds;
      // An expression without wildcards must be the whole name, and every name has a scope.
      return item.text.find_first_of("/.[(*+?|$^{\\") == std::string::npos ? KernelReach::kNever : KernelReach::kMay;
    case KernelItem::Kind::kType:
      if (version < kTypes || (item.has_blank && !takes_blanks_out)) return KernelReach::kNever;
      return KernelReach::kMay;
    case KernelItem::Kind::kFullName:
      return item.has_blank && !takes_blanks_out ? KernelReach::kNever : KernelReach::kMay;
  }
  return KernelReach::kMay;
}

struct KernelFilter::Item {
  KernelItem kernel;
  std::string lower;
  std::unique_ptr<re2::RE2> regex;
  KernelReach reach = KernelReach::kMay;

  [[nodiscard]] bool chooses(const Subject& subject) const;
};

KernelFilter::KernelFilter(const std::vector<KernelItem>& items, const Version& version) {
  bool skipped_all = version >= kExpressions;
  for (const KernelItem& kernel : items) {
    Item& item = items_.emplace_back();
    item.kernel = kernel;
    item.lower = to_lower(kernel.text);
    item.reach = reach_of(kernel, version);
    skipped_all = skipped_all && item.reach == KernelReach::kSkipped;
    if (kernel.kind != KernelItem::Kind::kRegex || item.reach != KernelReach::kMay) continue;
    if (kernel.text.size() > kLongestExpression) continue;
    re2::RE2::Options quiet;
    quiet.set_log_errors(false);
    item.regex = std::make_unique<re2::RE2>(kernel.text, quiet);
    if (!item.regex->ok()) item.regex.reset();
  }
  if (skipped_all) items_.emplace_back().reach = KernelReach::kEverything;
}

KernelFilter::KernelFilter(KernelFilter&&) noexcept = default;
KernelFilter& KernelFilter::operator=(KernelFilter&&) noexcept = default;
KernelFilter::~KernelFilter() = default;

// An operator's name as the items see it.
struct KernelFilter::Subject {
  std::string_view full_name;
  std::string lower_type;
};

KernelFilter::Subject KernelFilter::subject_of(std::string_view full_name) {
  return {full_name, to_lower(kernel_type_in(full_name))};
}

bool KernelFilter::Item::chooses(const Subject& subject) const {
  if (reach != KernelReach::kMay) return reach == KernelReach::kEverything;
  switch (kernel.kind) {
    case KernelItem::Kind::kFullName: return kernel.text == subject.full_name;
    case KernelItem::Kind::kType: return subject.lower_type.find(lower) != std::string::npos;
    case KernelItem::Kind::kRegex:
      return regex != nullptr &&
             re2::RE2::FullMatch(re2::StringPiece(subject.full_name.data(), subject.full_name.size()), *regex);
    default: return false;
  }
}

int KernelFilter::match(std::string_view full_name) const {
  const Subject subject = subject_of(full_name);
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].chooses(subject)) return static_cast<int>(i);
  }
  return -1;
}

void KernelFilter::mark_choosing(std::string_view full_name, std::vector<bool>& chose) const {
  const Subject subject = subject_of(full_name);
  for (size_t i = 0; i < std::min(items_.size(), chose.size()); ++i) {
    if (!chose[i]) chose[i] = items_[i].chooses(subject);
  }
}

}  // namespace msdump
