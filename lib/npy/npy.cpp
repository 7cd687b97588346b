#include "npy/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/text.h"

namespace msdump::npy {
namespace {

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  Result<HeaderLiteral> parse() {
    MSDUMP_CHECK_OK(expect('{'));
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    while (!accept('}')) {
      MSDUMP_TRY(const std::string key, quoted());
      MSDUMP_CHECK_OK(expect(':'));
      if (key == "descr" && !descr) {
        MSDUMP_TRY(descr, descr_value());
      } else if (key == "fortran_order" && !fortran_order) {
        MSDUMP_TRY(fortran_order, boolean());
      } else if (key == "shape" && !shape) {
        MSDUMP_TRY(shape, tuple());
      } else {
        return fail(bad(fmt::format("unexpected key '{}'", excerpt(key))));
      }
      if (accept(',')) continue;
      MSDUMP_CHECK_OK(expect('}'));
      break;
    }
    skip_blanks();
    if (at_ != text_.size()) return fail(bad("text after the closing brace"));
    if (!descr || !fortran_order || !shape) return fail(bad("descr, fortran_order or shape is missing"));
    return HeaderLiteral{std::move(*descr), *fortran_order, std::move(*shape)};
  }

 private:
  [[nodiscard]] Error bad(std::string_view what) const {
    return make_error(ErrorCode::kBadNpy, "npy header, column {}: {}", at_ + 1, what);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool accept(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Status expect(char wanted) {
    if (accept(wanted)) return {};
    return fail(bad(fmt::format("expected '{}'", wanted)));
  }

  Result<std::string> quoted() {
    skip_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return fail(bad("expected a quoted text"));
    const char quote = text_[at_];
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return fail(bad("a quote is not closed"));
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    if (value.find('\\') != std::string_view::npos) return fail(bad("escapes are not expected here"));
    at_ = end + 1;
    return std::string(value);
  }

  Result<std::string> descr_value() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') {
      return fail(make_error(ErrorCode::kUnsupportedDtype, "a structured npy dtype is not supported"));
    }
    return quoted();
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Result<bool> boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    return fail(bad("expected True or False"));
  }

  Result<Shape> tuple() {
    MSDUMP_CHECK_OK(expect('('));
    Shape shape;
    while (!accept(')')) {
      MSDUMP_TRY(const int64_t dim, integer());
      shape.push_back(dim);
      if (shape.size() > kMaxRank) return fail(bad(fmt::format("rank above {}", kMaxRank)));
      if (accept(',')) continue;
      // "(3)" is a number in Python, not a tuple.
      if (shape.size() == 1) return fail(bad("expected ',' after the only dimension"));
      MSDUMP_CHECK_OK(expect(')'));
      break;
    }
    return shape;
  }

  Result<int64_t> integer() {
    skip_blanks();
    int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) return fail(bad("expected a dimension"));
    at_ += static_cast<size_t>(end - begin);
    // Python 2 wrote long integers with an L.
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<HeaderLiteral> parse_header_literal(std::string_view text) { return LiteralParser(text).parse(); }

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint32_t kMaxHeaderBytes = 1 << 20;

// Spellings of ml_dtypes and others for a type that numpy does not have.
constexpr std::array<std::string_view, 3> kBfloat16Descrs = {"E2", "T2", "h2"};

Status set_dtype(const std::string& descr, Header& header) {
  const char order = descr.empty() ? '\0' : descr[0];
  const bool has_order = order == '<' || order == '>' || order == '=' || order == '|';
  const std::string_view rest = std::string_view(descr).substr(has_order ? 1 : 0);
  auto dtype = dtype_spelled(rest, &DTypeTraits::numpy);
  header.readable_by_numpy = dtype.has_value();
  if (std::find(kBfloat16Descrs.begin(), kBfloat16Descrs.end(), rest) != kBfloat16Descrs.end())
    dtype = DType::kBfloat16;
  if (dtype) {
    header.dtype = *dtype;
    header.big_endian = order == '>' && info(*dtype).bits > 8;
    return {};
  }
  return fail(ErrorCode::kUnsupportedDtype, "npy dtype '{}' is not supported", excerpt(descr));
}

// The first bytes of an array, and the file with the rest; null: there is none.
struct Source {
  std::span<const std::byte> head;
  uint64_t size = 0;
  const File* file = nullptr;
};

Result<std::string> read_literal(const Source& source, uint64_t& data_offset) {
  const auto head = source.head;
  if (!has_magic(head)) return fail(ErrorCode::kBadNpy, "not an .npy file: it does not begin with \\x93NUMPY");
  ByteReader reader(head.subspan(kMagic.size()), kMagic.size());
  MSDUMP_TRY(const auto version, reader.bytes(2));
  const int major = std::to_integer<int>(version[0]), minor = std::to_integer<int>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    return fail(make_error(ErrorCode::kBadNpy, "npy version {}.{} is not known", major, minor).with_offset(6));
  }
  MSDUMP_TRY(const auto length_bytes, reader.bytes(major == 1 ? 2 : 4));
  const uint32_t length = major == 1 ? load<uint16_t>(length_bytes.data()) : load<uint32_t>(length_bytes.data());
  data_offset = reader.offset() + length;
  if (data_offset > source.size) {
    return fail(make_error(ErrorCode::kTruncated, "header of {} bytes announced, {} present", length,
                           source.size - reader.offset())
                    .with_offset(reader.offset()));
  }
  if (length > kMaxHeaderBytes) return fail(ErrorCode::kTooLarge, "an npy header of {} bytes", length);
  std::string literal(length, '\0');
  if (reader.remaining() >= length) {
    std::memcpy(literal.data(), head.data() + reader.offset(), length);
    return literal;
  }
  if (source.file == nullptr) return fail(ErrorCode::kTooLarge, "an npy header of {} bytes", length);
  MSDUMP_CHECK_OK(
      source.file->read_at(reader.offset(), std::as_writable_bytes(std::span(literal.data(), literal.size()))));
  return literal;
}

Result<Header> read(const Source& source) {
  Header header;
  MSDUMP_TRY(const std::string literal, read_literal(source, header.data_offset));
  MSDUMP_TRY(HeaderLiteral fields, parse_header_literal(literal));
  MSDUMP_CHECK_OK(set_dtype(fields.descr, header));
  header.descr = std::move(fields.descr);
  header.fortran_order = fields.fortran_order;
  header.shape = std::move(fields.shape);
  const auto count = element_count(header.shape);
  const auto bytes = count ? bytes_of(header.dtype, *count) : std::nullopt;
  if (!bytes) return fail(ErrorCode::kBadNpy, "dimension product of {} overflows", describe(header.shape));
  header.data_bytes = *bytes;
  return header;
}

Status check_data(uint64_t size, const Header& header) {
  const uint64_t present = size - header.data_offset;
  if (header.data_bytes <= present) return {};
  return fail(make_error(ErrorCode::kTruncated, "needs {} bytes of data, {} present", header.data_bytes, present)
                  .with_offset(header.data_offset)
                  .with_hint("the file was cut off or is still being written"));
}

}  // namespace

Result<Header> read_header(const File& file) {
  MSDUMP_TRY(Header header, read_header_alone(file));
  if (Status complete = check_data(file.size(), header); !complete)
    return fail(std::move(complete).error().with_path(file.path()));
  return header;
}

Result<Header> read_header_alone(const File& file) {
  return in_file(read({file.head(), file.size(), &file}), file.path());
}

Result<Header> read_header(std::span<const std::byte> head, uint64_t size) {
  MSDUMP_TRY(Header header, read({head, size, nullptr}));
  MSDUMP_CHECK_OK(check_data(size, header));
  return header;
}

std::string make_header(DType dtype, const Shape& shape) {
  std::string dims = join_dims(shape, ", ");
  if (shape.size() == 1) dims += ',';
  const char order = info(dtype).bits > 8 ? '<' : '|';
  std::string literal = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order,
                                    info(dtype).traits.numpy, dims);
  // Blanks and a line feed up to a multiple of 64 align the elements. kMaxRank dimensions take far less than the 65535 bytes
  // of version 1.0.
  constexpr size_t kPrefixBytes = 10, kAlignment = 64;
  const size_t unpadded = kPrefixBytes + literal.size() + 1;
  literal.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  literal += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(literal.size() & 0xFF);
  header += static_cast<char>(literal.size() >> 8);
  return header + literal;
}

bool has_magic(std::span<const std::byte> head) {
  return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

}  // namespace msdump::npy
