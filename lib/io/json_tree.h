// Builds a JsonValue from the events of a parser; shared by io/json and io/yaml. Internal to lib/io.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/json.h"

namespace msdump {

// Every call returns whether the parser may go on; if not, `refusal` says why.
class JsonTree {
 public:
  // The tree takes at most twice the memory of its text, plus `spare_memory`.
  JsonTree(size_t text_bytes, size_t spare_memory) : budget_(2 * text_bytes + spare_memory) {}

  bool open(JsonKind kind, size_t offset);
  bool close();
  bool put(JsonKind kind, std::string_view text, size_t offset, bool boolean = false);
  bool key(std::string_view text, size_t offset);
  // Inside an object whose next event is a key.
  [[nodiscard]] bool wants_key() const;

  [[nodiscard]] const std::string& refusal() const { return refusal_; }  // empty: none
  JsonValue take() { return std::move(root_); }

 private:
  struct Open {
    JsonValue value;
    bool waits_for_value = false;  // the last member of the object has only its key yet
  };

  bool attach(JsonValue&& value);
  bool keep_text(std::string_view text, std::string& into);
  template <class T>
  bool append(std::vector<T>& to, T&& item);
  bool charge(size_t bytes);

  size_t budget_, used_ = 0;
  std::vector<Open> open_;  // the objects and arrays not closed yet
  JsonValue root_;
  std::string refusal_;
};

}  // namespace msdump
