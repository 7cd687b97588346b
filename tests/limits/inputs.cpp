#include "limits/inputs.h"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "support/npy_builder.h"

namespace msdump::limits {

namespace fs = std::filesystem;

namespace {

std::ofstream opened(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw std::runtime_error("cannot write " + path.string());
  return file;
}

void close(std::ofstream& file, const fs::path& path) {
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

void write_sparse(const fs::path& path, std::string_view head, uint64_t zeros, std::string_view tail) {
  std::ofstream file = opened(path);
  file << head;
  file.flush();
  fs::resize_file(path, head.size() + zeros);
  file.seekp(0, std::ios::end);
  file << tail;
  close(file, path);
}

void write_text(const fs::path& path, std::string_view text) {
  std::ofstream file = opened(path);
  file << text;
  close(file, path);
}

void write_pieces(const fs::path& path, int64_t count, const std::function<void(std::string&, int64_t)>& add) {
  std::ofstream file = opened(path);
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    add(text, i);
    if (text.size() < size_t{1} << 20) continue;
    file << text;
    text.clear();
  }
  file << text;
  close(file, path);
}

void write_repeated(const fs::path& path, std::string_view head, std::string_view piece, int64_t times,
                    std::string_view tail) {
  write_pieces(path, times, [&](std::string& text, int64_t i) {
    if (i == 0) text += head;
    text += piece;
    if (i + 1 == times) text += tail;
  });
}

std::string npy_head(uint64_t count) {
  return test::build_npy({.literal = test::npy_literal("<f4", fmt::format("({},)", count)), .data = ""});
}

std::string tiny_npy(float first) {
  const float values[4] = {first, 2, -3, 0.5F};
  std::string data(sizeof values, '\0');
  std::memcpy(data.data(), values, sizeof values);
  return npy_head(4) + data;
}

}  // namespace msdump::limits
