#include "tables/csv_records.h"

#include <algorithm>

namespace msdump {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// A quote opens a field only at its beginning; two inside are one that is meant.
bool ends_in_quotes(std::string_view text, bool quoted) {
  bool at_begin = !quoted;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"') {
      const bool doubled = i + 1 < text.size() && text[i + 1] == '"';
      quoted = doubled;
      i += doubled ? 1 : 0;
    } else if (at_begin && c == '"') {
      quoted = true;
    }
    at_begin = !quoted && c == ',';
  }
  return quoted;
}

}  // namespace

tl::unexpected<Error> CsvRecords::bad(std::string_view what) const {
  return fail(make_error(ErrorCode::kBadCsv, "line {}: {}", record_.line, what)
                  .with_path(file_->path())
                  .with_offset(record_.offset));
}

// The lines of the next record into text_; false at the end of the file.
Result<bool> CsvRecords::read_text() {
  text_.clear();
  for (bool quoted = false;;) {
    MSDUMP_TRY(const auto line, lines_.next());
    if (!line && !quoted) return false;
    if (!line) return bad("a quote is not closed");
    std::string_view text = line->text;
    if (!quoted) {
      record_.line = line->number;
      record_.offset = line->offset;
      if (line->offset == 0 && text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
      if (text.empty()) continue;
    } else {
      text_ += '\n';
    }
    text_ += text;
    if (text_.size() > kMostBytes) return bad("a record of more than 1 MiB, or a quote that is not closed");
    quoted = ends_in_quotes(text, quoted);
    if (!quoted) return true;
  }
}

// False for too many fields.
bool CsvRecords::split() {
  plain_.clear();
  parts_.clear();
  for (size_t at = 0;; ++at) {
    if (parts_.size() == kMostFields) return false;
    const size_t begin = plain_.size();
    if (at < text_.size() && text_[at] == '"') {
      for (++at; at < text_.size(); ++at) {
        const bool quote = text_[at] == '"';
        if (quote && !(at + 1 < text_.size() && text_[at + 1] == '"')) break;
        plain_ += text_[at];
        at += quote ? 1 : 0;
      }
      if (at < text_.size()) ++at;  // the closing quote
    }
    const size_t end = std::min(text_.find(',', at), text_.size());
    plain_.append(text_, at, end - at);
    parts_.emplace_back(begin, plain_.size() - begin);
    at = end;
    if (at == text_.size()) return true;
  }
}

Result<const CsvRecord*> CsvRecords::next() {
  MSDUMP_TRY(const bool any, read_text());
  if (!any) return nullptr;
  if (!split()) return bad("more than 4096 fields");
  record_.fields.clear();
  for (const auto& [begin, size] : parts_) record_.fields.push_back(std::string_view(plain_).substr(begin, size));
  return &record_;
}

std::optional<size_t> column_of(const std::vector<std::string>& titles, std::string_view title) {
  const auto found = std::find(titles.begin(), titles.end(), title);
  if (found == titles.end()) return std::nullopt;
  return static_cast<size_t>(found - titles.begin());
}

}  // namespace msdump
