// Any bytes as a tokenizer.json: either texts of ids, or one error of one line. Texts are no longer than what they are decoded from.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compare/tokens/token_texts.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace msdump;
  using fuzz::require;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const Result<TokenTexts> texts = TokenTexts::parse(json);
  if (!texts) {
    require(!texts.error().message.empty() && texts.error().message.find('\n') == std::string_view::npos,
            "an error is one line");
    require(texts.error().message.size() < 1000, "an error quotes little");
    return 0;
  }
  for (int64_t id = -1; id < 64; ++id) {
    const auto text = texts->of(id);
    require(!text || text->size() <= json.size(), "a text is no longer than the file");
  }
  return 0;
}
