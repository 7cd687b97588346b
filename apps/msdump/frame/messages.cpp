#include "frame/messages.h"

#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "base/text.h"

namespace msdump::cli {

struct Messages::Kind {
  std::string_view word;
  std::string_view color;  // SGR parameters
  bool foldable;           // repetitions may be counted instead of printed
  bool silenced_by_quiet;
};

namespace {

// A tree with a million different causes must not cost the memory of a million messages.
constexpr size_t kMaxCauses = 1000;

bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The end of the quotation that begins at `open`; npos for an apostrophe ("MindSpore's") and for one that never ends.
size_t end_of_quotation(std::string_view text, size_t open) {
  if (open > 0 && is_word(text[open - 1])) return std::string_view::npos;
  size_t close = text.find('\'', open + 1);
  while (close != std::string_view::npos && close + 1 < text.size() && is_word(text[close + 1]))
    close = text.find('\'', close + 1);
  return close;
}

// The message without the parts that differ between inputs: digits, and text in quotes.
std::string cause_of(std::string_view text) {
  std::string cause;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') {
      const size_t close = end_of_quotation(text, i);
      if (close != std::string_view::npos) i = close;
    }
    if (is_digit(c) && !cause.empty() && cause.back() == '#') continue;
    cause += is_digit(c) ? '#' : c;
  }
  return cause;
}

// A path that no system can open (a list on stdin that is not a list) is cut; machine output has it whole.
std::string path_text(const std::string& path) {
  return path.size() > 4096 ? excerpt(path) : escape_for_terminal(path);
}

std::string place_of(const Error& error) {
  std::string place;
  if (!error.path.empty()) place += path_text(error.path) + ": ";
  if (!error.tensor.empty()) place += escape_for_terminal(error.tensor) + ": ";
  if (error.offset) place += fmt::format("at byte {}: ", *error.offset);
  return place;
}

}  // namespace

constexpr std::string_view kRed = "1;31", kYellow = "1;33", kBlue = "1;34";

void Messages::error(const Error& error) {
  keep(error);
  print({"error", kRed, false, false}, place_of(error), error.message, error.hint);
}

void Messages::error(ErrorCode code, std::string_view text, std::string_view hint) {
  error(make_error(code, "{}", text).with_hint(std::string(hint)));
}

void Messages::nothing_selected(std::string_view text, std::string_view hint) {
  const Error error = make_error(ErrorCode::kEmptySelection, "{}", text).with_hint(std::string(hint));
  keep(error);
  warning(error);
}

void Messages::warning(const Error& error) {
  print({"warning", kYellow, true, true}, place_of(error), error.message, error.hint);
}

void Messages::warning(std::string_view text, std::string_view hint) {
  print({"warning", kYellow, true, true}, "", text, hint);
}

void Messages::note(std::string_view text) { print({"note", kBlue, true, true}, "", text, ""); }

void Messages::print(const Kind& kind, const std::string& place, std::string_view text, std::string_view hint) {
  if (options_.quiet && kind.silenced_by_quiet) return;
  const std::string key = fmt::format("{}: {}", kind.word, cause_of(text));
  const std::string lines = head(kind) + place + escape_for_terminal(text);
  const std::lock_guard lock(mutex_);
  bool first = true;
  const std::map<std::string, Cause>::iterator known = causes_.find(key);
  if (known != causes_.end()) {
    first = false;
    ++known->second.seen;
    if (kind.foldable && options_.verbosity == 0 && known->second.seen > kShownPerCause) {
      if (known->second.seen == kShownPerCause + 1) folded_.push_back(key);
      return;
    }
  } else if (causes_.size() < kMaxCauses) {
    causes_.emplace(key, Cause{1, head(kind) + escape_for_terminal(text)});
  }
  const bool with_hint = !hint.empty() && first;
  console_.line(with_hint ? lines + "\n  hint: " + escape_for_terminal(hint) : lines);
}

void Messages::keep(const Error& error) {
  if (!options_.keep_errors) return;
  const std::lock_guard lock(mutex_);
  errors_.push_back(error);
}

std::string Messages::head(const Kind& kind) const {
  if (!options_.color) return fmt::format("msdump: {}: ", kind.word);
  return fmt::format("msdump: \x1b[{}m{}:\x1b[0m ", kind.color, kind.word);
}

void Messages::finish() {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : folded_) {
    const Cause& cause = causes_.at(key);
    console_.line(
        fmt::format("{} (and {} more like this; -v names them all)", cause.example, cause.seen - kShownPerCause));
  }
  folded_.clear();
  causes_.clear();
}

void Messages::summary(std::string_view text) {
  finish();
  if (!options_.quiet) console_.line(fmt::format("msdump: {}", text));
}

namespace {

// Through the console, which erases the progress line first.
class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ConsoleSink(Console& console) : console_(console) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    std::string_view line(text.data(), text.size());
    if (line.ends_with('\n')) line.remove_suffix(1);
    console_.line(line);
  }
  void flush_() override {}

  Console& console_;
};

std::shared_ptr<spdlog::logger> logger;  // set before there are threads, reset after

}  // namespace

Log::Log(Console& console, int verbosity) {
  if (verbosity <= 0) return;
  logger = std::make_shared<spdlog::logger>("msdump", std::make_shared<ConsoleSink>(console));
  logger->set_pattern("msdump: [%H:%M:%S.%e] %v");
  logger->set_level(verbosity > 1 ? spdlog::level::debug : spdlog::level::info);
}

Log::~Log() { logger.reset(); }

void log_step(std::string_view text) {
  if (logger) logger->info(escape_for_terminal(text));
}

void log_detail(std::string_view text) {
  if (logger) logger->debug(escape_for_terminal(text));
}

}  // namespace msdump::cli
