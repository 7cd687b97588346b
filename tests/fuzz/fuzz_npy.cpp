// Any bytes as an .npy file, and as the literal in its header.
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "npy/npy.h"

namespace {

using namespace msdump;
using fuzz::require;

void check_file(const uint8_t* data, size_t size) {
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  const auto header = npy::read_header(file);
  if (!header) return fuzz::require_good_error(header.error());
  require(header->data_offset <= size && header->data_bytes <= size - header->data_offset,
          "the elements end inside the file");
  require(header->shape.size() <= kMaxRank, "the rank is limited");
  const auto count = element_count(header->shape);
  require(count && bytes_of(header->dtype, *count) == header->data_bytes, "shape and dtype give the size");
  if (!header->readable_by_numpy) return;
  // What we would write for it is read back the same.
  const std::string written = npy::make_header(header->dtype, header->shape);
  require(written.size() % 64 == 0, "elements are aligned");
  std::string again = written;
  again.append(reinterpret_cast<const char*>(data) + header->data_offset, static_cast<size_t>(header->data_bytes));
  const fuzz::FuzzFile copy(reinterpret_cast<const uint8_t*>(again.data()), again.size());
  const auto read_back = npy::read_header(copy.open());
  require(read_back && read_back->shape == header->shape && read_back->dtype == header->dtype &&
              !read_back->big_endian && read_back->data_offset == written.size() &&
              read_back->data_bytes == header->data_bytes,
          "a header of ours is read back");
}

std::string print(const npy::HeaderLiteral& literal) {
  std::string dims = join_dims(literal.shape, ",");
  if (literal.shape.size() == 1) dims += ',';
  const char quote = literal.descr.find('\'') == std::string::npos ? '\'' : '"';
  return "{'shape':(" + dims + "),'descr':" + quote + literal.descr + quote +
         ",'fortran_order':" + (literal.fortran_order ? "True}" : "False}");
}

void check_literal(std::string_view text) {
  const auto literal = npy::parse_header_literal(text);
  if (!literal) return require(!literal.error().message.empty(), "an error says something");
  const auto again = npy::parse_header_literal(print(*literal));
  require(again && again->descr == literal->descr && again->shape == literal->shape &&
              again->fortran_order == literal->fortran_order,
          "a literal printed is parsed back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_file(data, size);
  check_literal({reinterpret_cast<const char*>(data), size});
  return 0;
}
