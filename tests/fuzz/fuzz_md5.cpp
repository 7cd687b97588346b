// Bytes become jobs; their MD5 on every CPU target against the scalar form, each job alone and whole.
//
//   byte 0     how many jobs (mod 70)
//   then per job 3 bytes: low and high byte of its size, place of the cut between its two updates (in 256ths)
//   the rest   what is hashed, each job from another place on, repeated if it is too short
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz_file.h"
#include "kernels/cpu.h"
#include "kernels/digest/digest.h"

namespace {

using namespace msdump;
using kernels::Md5Job;
using kernels::Md5State;
using Bytes = std::vector<std::byte>;

struct Piece {
  Bytes bytes;  // its own memory: a read beyond it is the sanitizer's
  size_t cut;
};

std::vector<Piece> pieces_of(const uint8_t* data, size_t size) {
  if (size == 0) return {};
  const size_t count = data[0] % 70;
  std::vector<Piece> pieces;
  size_t at = 1;
  for (; pieces.size() < count && at + 3 <= size; at += 3) {
    const size_t length = data[at] + size_t{256} * (data[at + 1] % 16);
    pieces.push_back({Bytes(length), length * data[at + 2] / 255});
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    Bytes& bytes = pieces[i].bytes;
    for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(data[(at + i + k) % size]);
  }
  return pieces;
}

std::vector<std::string> digests(const std::vector<Piece>& pieces) {
  std::vector<Md5State> states(pieces.size());
  std::vector<Md5Job> first, second;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Bytes& bytes = pieces[i].bytes;
    first.push_back({&states[i], bytes.data(), pieces[i].cut});
    second.push_back({&states[i], bytes.data() + pieces[i].cut, bytes.size() - pieces[i].cut});
  }
  kernels::md5_update(first);
  kernels::md5_update(second);
  std::vector<std::string> all;
  for (const Md5State& state : states) all.push_back(kernels::hex(kernels::md5_finish(state)));
  return all;
}

std::string scalar_digest(const Bytes& bytes) {
  Md5State state;
  const Md5Job job{&state, bytes.data(), bytes.size()};
  kernels::md5_update({&job, 1});
  return kernels::hex(kernels::md5_finish(state));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<Piece> pieces = pieces_of(data, size);
  std::vector<std::string> expected;
  fuzz::require(kernels::choose_cpu_target("scalar").has_value(), "the scalar form is always there");
  for (const Piece& piece : pieces) expected.push_back(scalar_digest(piece.bytes));
  for (const std::string& target : kernels::available_cpu_targets()) {
    fuzz::require(kernels::choose_cpu_target(target).has_value(), "an available target can be chosen");
    fuzz::require(digests(pieces) == expected, "every target gives the digests of the scalar form");
  }
  return 0;
}
