#include "frame/log.h"

#include <memory>
#include <mutex>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "base/text.h"

namespace msdump::cli {
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
