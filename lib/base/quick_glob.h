// A glob (base/text.h) that is matched against many texts. It is analysed once: the usual forms then cost one
// comparison or search, and only the others need the general matcher.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msdump {

class QuickGlob {
 public:
  explicit QuickGlob(std::string pattern);

  [[nodiscard]] bool matches(std::string_view text) const;
  // Without `*` and `?`: matches exactly one text, `pattern()`.
  [[nodiscard]] bool is_plain() const { return form_ == Form::kPlain; }
  [[nodiscard]] const std::string& pattern() const { return pattern_; }

 private:
  enum class Form : uint8_t { kPlain, kPrefix, kSuffix, kInside, kGeneral };  // x, x*, *x, *x*, all others

  void find_longest_part();

  std::string pattern_;
  Form form_ = Form::kGeneral;
  size_t begin_ = 0, size_ = 0;    // x in the pattern: its longest part without wildcards
  size_t before_ = 0, after_ = 0;  // kGeneral: bytes before the first and after the last wildcard
};

}  // namespace msdump
