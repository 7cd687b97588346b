// Selection: the part of a dump that a command reads, by the same options for every command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "dump/names/identity.h"

namespace msdump {

// The options as typed.
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

  // All functions are thread-safe. This one tests rank, graph and step; an unknown number matches only without the option.
  [[nodiscard]] bool matches_folder(const Identity& identity) const;
  // Tests rank and graph, for a file whose rows have steps of their own.
  [[nodiscard]] bool matches_any_step(const Identity& identity) const;
  // Tests rank, graph, step and operator. A '/' of a glob also matches the '_' of file names, and so does the '.' of a
  // parameter's name.
  [[nodiscard]] bool matches_file(const Identity& identity) const;
  [[nodiscard]] bool matches_tensor(Io io, std::string_view slot) const;
  [[nodiscard]] bool everything() const;

 private:
  struct Rules;
  std::unique_ptr<Rules> rules_;
};

}  // namespace msdump
