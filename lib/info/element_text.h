// The elements of a ShownArray one by one, formatted so that they stand under each other. Internal to array_text.
#pragma once

#include <memory>
#include <string>

#include "info/shown_array.h"
#include "report/value.h"

namespace msdump {

class ElementTexts {
 public:
  virtual ~ElementTexts() = default;
  [[nodiscard]] virtual std::string text(size_t index) const = 0;
  // Of an array that is one number: as it is printed alone.
  [[nodiscard]] virtual std::string single() const = 0;
  [[nodiscard]] virtual report::Value value(size_t index) const = 0;
};

// The elements stay those of `array`.
[[nodiscard]] std::unique_ptr<ElementTexts> make_element_texts(const ShownArray& array);

}  // namespace msdump
