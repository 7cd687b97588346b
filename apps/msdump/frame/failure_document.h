// --json of a command that ended before it had rows: still a document, with what went wrong.
#pragma once

#include "frame/subcommand.h"

namespace CLI {
class App;
}

namespace msdump::cli {

[[nodiscard]] bool asks_for_json(const CLI::App& app);

// Prints it unless the run printed anything, was interrupted, or was not asked for JSON. `app` has parsed the options.
void print_failure_document(const Session& session, const CLI::App& app);

}  // namespace msdump::cli
