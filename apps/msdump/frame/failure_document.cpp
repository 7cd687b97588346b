#include "frame/failure_document.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "frame/cli.h"
#include "io/dir_walk.h"

namespace msdump::cli {
namespace {

// The failures that a command has put into its document. Their paths are relative to a dump or to OUT, so an error is
// known by any end of its path.
class KnownFailures {
 public:
  explicit KnownFailures(const std::vector<report::Object>& failures) {
    for (const report::Object& failure : failures) known_.emplace(failure.text("path"), key_of(failure));
  }
  [[nodiscard]] bool have(const Error& error) const {
    const std::string key = key_of(report::failure_object(error));
    const std::string_view path = error.path;
    if (known_.contains({std::string(path), key})) return true;
    for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
      if (known_.contains({std::string(path.substr(slash + 1)), key})) return true;
    }
    return false;
  }

 private:
  static std::string key_of(const report::Object& failure) {
    return fmt::format("{}\n{}\n{}", failure.text("code"), failure.text("tensor"), failure.text("message"));
  }
  std::set<std::pair<std::string, std::string>> known_;  // path and the rest
};

}  // namespace

std::vector<std::string> typed_dumps(const CLI::App& app) {
  std::vector<std::string> dumps;
  for (const char* const name : {"--dump", "DUMP", "PATH", "FILE", "PART"}) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr) continue;
    for (const std::string& typed : option->results()) dumps.push_back(typed);
  }
  return dumps;
}

bool asks_for_json(const CLI::App& app) {
  const CLI::Option* const option = app.get_option_no_throw("--json");
  return option != nullptr && option->count() > 0;
}

void finish_document(PendingDocument& document, Output& out, const Messages& messages, const CancelToken& cancel,
                     const std::string& command, const std::vector<std::string>& dumps) {
  if (!document.closing) {
    if (out.used() || document.answered || cancel.cancelled()) return;
    report::Report report{command, std::string(version_number()), dumps, {}};
    (void)report::make_sink(report::Form::kJson, out, std::move(report), {.held = &document.closing})->finish({});
  }
  report::Closing closing = std::move(*document.closing);
  document.closing.reset();
  const KnownFailures known(closing.failures);
  const RelativePaths relative(dumps);
  for (Error error : messages.errors()) {
    if (known.have(error)) continue;
    error.path = relative.of(error.path);
    closing.failures.push_back(report::failure_object(error));
  }
  (void)report::write_json_end(out, closing);
}

}  // namespace msdump::cli
