// Selection: which part of a dump a command looks at; the same options and the same code for every command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "dump/names/identity.h"

namespace msdump {

// As typed; `compile` turns it into a Selection once.
struct SelectionOptions {
  std::string rank = {}, graph = {}, step = {};    // IntRanges
  std::vector<std::string> op = {}, op_type = {};  // globs, any of them
  std::string regex = {};                          // RE2, anywhere in the op name
  std::string io = {};                             // "input", "output" or "parameter"
  std::string slot = {};
};

class Selection {
 public:
  Selection();  // selects everything
  static Result<Selection> compile(const SelectionOptions& options);
  Selection(Selection&&) noexcept;
  Selection& operator=(Selection&&) noexcept;
  ~Selection();

  // Rank, graph and step; an unknown value matches only if the option is absent. Thread-safe, like all of these.
  [[nodiscard]] bool matches_folder(const Identity& identity) const;
  // Rank and graph only: for a file whose rows have steps of their own.
  [[nodiscard]] bool matches_any_step(const Identity& identity) const;
  // Rank, graph, step and the operator. A '/' of a glob also matches the '_' of file names; so does a '.' for parameters.
  [[nodiscard]] bool matches_file(const Identity& identity) const;
  // io and slot of one tensor.
  [[nodiscard]] bool matches_tensor(Io io, std::string_view slot) const;
  [[nodiscard]] bool everything() const;

 private:
  struct Rules;
  std::unique_ptr<Rules> rules_;
};

}  // namespace msdump
