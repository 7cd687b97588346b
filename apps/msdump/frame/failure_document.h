// --json: `failures` of the document has everything that was said to have failed, whenever a command said it, and a command
// that ended before it had rows prints a document nevertheless. So the frame writes the end of every document.
#pragma once

#include <string>
#include <vector>

#include "frame/subcommand.h"

namespace CLI {
class App;
}

namespace msdump::cli {

[[nodiscard]] bool asks_for_json(const CLI::App& app);  // that has parsed its options
// The dumps, or what a command has instead, as typed.
[[nodiscard]] std::vector<std::string> typed_dumps(const CLI::App& app);

// Ends a document that was begun. Else prints one, unless anything was printed, or the run was interrupted.
void finish_document(PendingDocument& document, Output& out, const Messages& messages, const CancelToken& cancel,
                     const std::string& command, const std::vector<std::string>& dumps);

}  // namespace msdump::cli
