// Any bytes as a part of a run, and, after a first byte that says so, as its facts: the digest at the end of a part would
// keep most of them from being read.
#include "compare/dumps/compare_dumps.h"
#include "convert/convert.h"
#include "fuzz_file.h"
#include "kernels/digest/digest.h"
#include "parts/part_file.h"
#include "recompute/kept_judgement.h"
#include "stats/compute.h"

namespace {

using namespace msdump;

// What is read is what would be written.
template <class T>
void read_fact(std::string_view bytes) {
  const Result<T> result = decode_result<T>(bytes);
  if (result) fuzz::require(decode_result<T>(encode_result(result)).has_value(), "a fact can be read again");
}

void read_facts(std::string_view bytes) {
  read_fact<TensorNumbers>(bytes);
  read_fact<FileOutcome>(bytes);
  read_fact<TensorDiff>(bytes);
  read_fact<PairDetails>(bytes);
  read_fact<recompute::KeptJudgement>(bytes);
}

void read_text(std::string_view text) {
  const auto part = read_part(text, "part");
  if (!part) return fuzz::require_good_error(part.error());
  std::map<FactKey, std::string> facts;
  for (const auto& [key, bytes] : part->facts) {
    facts.emplace(key, bytes);
    read_facts(bytes);
  }
  fuzz::require(facts.size() == part->facts.size(), "no fact is there twice");
  fuzz::require(read_part(part_text(part->header, facts), "again").has_value(), "a part can be written again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size), rest = text.substr(1);
  if (data[0] == 'f') {
    read_facts(rest);
  } else if (data[0] == 'b') {
    std::string whole = "msdump-part 1\nversion 1\ncommand stats\nshard 1/1\ninputs x\nunits 1\nfacts 1\n\n";
    whole += rest;
    whole += fmt::format("end 1 {}\n", kernels::hex(kernels::sha1(std::as_bytes(std::span(whole)))));
    read_text(whole);
  } else {
    read_text(text);
  }
  return 0;
}
