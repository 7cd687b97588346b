#include "frame/failure_document.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "io/dir_walk.h"

namespace msdump::cli {
namespace {

// The dumps, or what a command has instead, as typed.
std::vector<std::string> typed_dumps(const CLI::App& app) {
  std::vector<std::string> dumps;
  for (const char* const name : {"--dump", "DUMP", "PATH", "FILE", "PART"}) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr) continue;
    for (const std::string& typed : option->results()) dumps.push_back(typed);
  }
  return dumps;
}

}  // namespace

bool asks_for_json(const CLI::App& app) {
  const CLI::Option* const option = app.get_option_no_throw("--json");
  return option != nullptr && option->count() > 0;
}

void print_failure_document(const Session& session, const CLI::App& app) {
  if (!asks_for_json(app) || session.out.used() || session.answered || session.cancel.cancelled()) return;
  const std::vector<std::string> dumps = typed_dumps(app);
  const RelativePaths relative(dumps);
  report::Closing closing;
  for (Error error : session.messages.errors()) {
    error.path = relative.of(error.path);
    closing.failures.push_back(report::failure_object(error));
  }
  (void)session.open_report(report::Form::kJson, dumps, {})->finish(closing);
}

}  // namespace msdump::cli
