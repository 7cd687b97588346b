#include "graph/load/ir_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <glob.h>

#include "base/text.h"
#include "ge/graph/ge_graph.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "msprobe/dump_pkl.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListed = 20'000;  // entries of a folder beside the dump
constexpr int kFoldersUp = 4;           // rank, net, graph, step
constexpr int kNoFamily = 9;

// The families of snapshots, nearest to execution first. A name is the word of a family, perhaps after numbers.
struct FamilyName {
  std::string_view word;
  int priority;
};
constexpr FamilyName kFamilies[] = {
    {"graph_build", 1}, {"trace_code_graph", 2}, {"execute", 3}, {"task_emit", 4}, {"validate", 6}};

// Takes "_0012" off the end.
std::optional<int64_t> take_number(std::string_view& name) {
  const size_t mark = name.rfind('_');
  if (mark == std::string_view::npos || !is_digits(name.substr(mark + 1))) return std::nullopt;
  const auto number = parse_i64(name.substr(mark + 1));
  if (number) name = name.substr(0, mark);
  return number;
}

std::string_view without_leading_number(std::string_view name) {
  const size_t mark = name.find('_');
  return mark != std::string_view::npos && is_digits(name.substr(0, mark)) ? name.substr(mark + 1) : name;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The rank in a path: the last "rank_3", or the device of GE's "pid_12_deviceid_3", which is the folder of its dump.
std::optional<int64_t> rank_of_path(std::string_view path) {
  constexpr std::string_view kRank = "rank_", kPid = "pid_", kDevice = "_deviceid_";
  std::optional<int64_t> rank;
  for (const std::string_view part : split(path, '/')) {
    const size_t device = part.starts_with(kPid) ? part.rfind(kDevice) : std::string_view::npos;
    if (device != std::string_view::npos && is_digits(part.substr(device + kDevice.size())))
      rank = parse_i64(part.substr(device + kDevice.size()));
    if (part.starts_with(kRank) && is_digits(part.substr(kRank.size()))) rank = parse_i64(part.substr(kRank.size()));
  }
  return rank;
}

// dynamo_optimized_graph_1_rank_0_pid_12_ts_34.py
bool is_torchair_name(std::string_view name) {
  return name.starts_with("dynamo_") && name.ends_with(".py") && name.find("_graph_") != std::string_view::npos;
}

struct Snapshot {
  IrFile file;
  std::string family;   // name without numbers
  int64_t counter = 0;  // of the pass that wrote it
};

Snapshot snapshot_of(const IrFile& file) {
  Snapshot snapshot{file, {}, 0};
  std::string_view name = base_name(file.path);
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name = name.substr(0, dot);
  if (const auto counter = take_number(name)) snapshot.counter = *counter;
  snapshot.family = name;
  return snapshot;
}

// Keeps the last snapshot of each graph in a family. All of trace_code_graph are kept, because these names have no
// graph.
std::vector<IrFile> final_snapshots(const std::vector<IrFile>& files) {
  std::map<std::tuple<int64_t, std::string, int64_t>, Snapshot> last;
  for (const IrFile& file : files) {
    Snapshot snapshot = snapshot_of(file);
    const bool every = snapshot.family == "trace_code_graph";
    const std::tuple key(file.graph_id.value_or(-1), file.priority == kNoFamily ? std::string() : snapshot.family,
                         every ? snapshot.counter : 0);
    const auto [at, added] = last.try_emplace(key, snapshot);
    if (!added && snapshot.counter >= at->second.counter) at->second = std::move(snapshot);
  }
  std::vector<IrFile> result;
  for (auto& [key, snapshot] : last) result.push_back(std::move(snapshot.file));
  return result;
}

// If text and protobuf of the same graph are found, keeps the text, which says more.
void drop_protobuf_beside_text(std::vector<IrFile>& files) {
  std::set<std::pair<std::optional<int64_t>, std::optional<int64_t>>> text;
  for (const IrFile& file : files) {
    if (file.kind == OriginKind::kIrText) text.emplace(file.rank, file.graph_id);
  }
  std::erase_if(files, [&](const IrFile& file) {
    return file.kind == OriginKind::kIrProtobuf && text.count({file.rank, file.graph_id}) > 0;
  });
}

// Selects the files to read from all IR files of some folders.
std::vector<IrFile> choose(const std::vector<IrFile>& files) {
  std::vector<IrFile> of_dump, saved;
  for (const IrFile& file : files) (file.priority == 0 ? of_dump : saved).push_back(file);
  if (!of_dump.empty()) {
    drop_protobuf_beside_text(of_dump);
    return of_dump;
  }
  // save_graphs writes one folder a rank, and folders of further snapshots inside it.
  std::map<std::optional<int64_t>, int> best;
  for (const IrFile& file : saved) {
    const auto [at, added] = best.try_emplace(file.rank, file.priority);
    if (!added) at->second = std::min(at->second, file.priority);
  }
  std::map<std::string, std::vector<IrFile>> by_folder;
  for (const IrFile& file : saved) {
    if (file.priority == best[file.rank]) by_folder[file.path.substr(0, file.path.rfind('/') + 1)].push_back(file);
  }
  std::vector<IrFile> result;
  for (const auto& [folder, members] : by_folder) {
    for (IrFile& file : final_snapshots(members)) result.push_back(std::move(file));
  }
  return result;
}

// The graphs of GE in one folder that were executed; if none was, the last one that GE wrote.
std::vector<IrFile> choose_ge_of_folder(const std::vector<IrFile>& files) {
  struct Named {
    const IrFile* file;
    GeFileName name;
  };
  std::vector<Named> executed, others;
  for (const IrFile& file : files) {
    const auto name = ge_file_name(base_name(file.path));
    if (name) (name->executed() ? executed : others).push_back({&file, *name});
  }
  std::vector<Named>& candidates = executed.empty() ? others : executed;
  const bool any_proto = std::any_of(candidates.begin(), candidates.end(),
                                     [](const Named& one) { return one.name.form == GeForm::kProto; });
  if (any_proto) std::erase_if(candidates, [](const Named& one) { return one.name.form != GeForm::kProto; });
  std::vector<IrFile> result;
  if (!executed.empty()) {
    for (const Named& one : candidates) result.push_back(*one.file);
  } else if (!others.empty()) {
    result.push_back(*std::max_element(candidates.begin(), candidates.end(), [](const Named& a, const Named& b) {
                        return std::pair(a.name.number, std::string_view(a.file->path)) <
                               std::pair(b.name.number, std::string_view(b.file->path));
                      })->file);
  }
  return result;
}

// Removes the graphs of GE and torchair's lines from `files` and returns those to read.
std::vector<IrFile> choose_ge(std::vector<IrFile>& files) {
  std::map<std::string, std::vector<IrFile>> by_folder;
  std::vector<IrFile> lines;
  std::erase_if(files, [&](IrFile& file) {
    const bool torchair = is_torchair_name(base_name(file.path));
    if (file.kind == OriginKind::kGeGraph) by_folder[file.path.substr(0, file.path.rfind('/') + 1)].push_back(file);
    if (torchair) lines.push_back(file);
    return torchair || file.kind == OriginKind::kGeGraph;
  });
  std::vector<IrFile> result;
  for (const auto& [folder, members] : by_folder) {
    for (IrFile& file : choose_ge_of_folder(members)) result.push_back(std::move(file));
  }
  result.insert(result.end(), lines.begin(), lines.end());
  return result;
}

std::vector<IrFile> ir_below(const std::string& folder) {
  std::vector<IrFile> files;
  const auto walk = walk_directory(folder, {});
  if (!walk) return files;
  for (const WalkedFile& file : walk->files) {
    if (!file.regular) continue;
    if (auto ir = ir_file_of_name(walk->full_path(file))) files.push_back(std::move(*ir));
  }
  return files;
}

// Removes files that were found twice, perhaps by another path. Also removes a protobuf beside a text of the same name:
// the text says more and is read together with its .pb.
void drop_repeated(std::vector<IrFile>& files) {
  const auto whole = [](const std::string& path) {
    std::error_code ignored;
    return fs::weakly_canonical(path, ignored).string();
  };
  std::set<std::string> seen;
  std::erase_if(files, [&](const IrFile& file) { return !seen.insert(whole(file.path)).second; });
  std::erase_if(files, [&](const IrFile& file) {
    if (file.kind != OriginKind::kIrProtobuf) return false;
    return seen.count(fs::path(whole(file.path)).replace_extension(".ir").string()) > 0;
  });
}

// Of a dump.pkl.
bool has_stacks_in(const std::string& path) {
  const auto file = File::open(path);
  return file && has_stacks(file->head());
}

class Search {
 public:
  explicit Search(const DumpIndex& index) : index_(index) {}

  IrSearch run() {
    result_.found_by_itself = true;
    inside();
    take_ge();
    std::vector<IrFile> chosen = choose(found_);
    const bool of_run = std::any_of(chosen.begin(), chosen.end(), [](const IrFile& file) {
      return file.place == OriginPlace::kDump || file.kind == OriginKind::kStackJson;
    });
    if (!of_run && stacks_.empty()) {
      above();
      chosen = choose(found_);
    }
    if (!of_run && stacks_.empty() && (chosen.empty() || ge_.empty())) {
      const bool had_ir = !chosen.empty();
      const std::vector<IrFile> before = found_;
      beside();
      take_ge();
      if (had_ir) found_ = before;
      chosen = choose(found_);
    }
    result_.files = std::move(chosen);
    result_.files.insert(result_.files.end(), stacks_.begin(), stacks_.end());
    result_.files.insert(result_.files.end(), ge_.begin(), ge_.end());
    drop_repeated(result_.files);
    return std::move(result_);
  }

 private:
  void take_ge() {
    std::vector<IrFile> more = choose_ge(found_);
    if (ge_.empty()) ge_ = std::move(more);
  }

  void inside() {
    for (const std::string& path : index_.paths()) result_.looked_in.push_back(path);
    for (const IndexedFile& file : index_.files()) {
      const FolderIdentity& folder = index_.folders()[file.folder].identity;
      if (file.kind == FileKind::kStackJson ||
          (file.kind == FileKind::kDumpPkl && has_stacks_in(index_.path_of(file)))) {
        stacks_.push_back(
            {{index_.path_of(file), OriginKind::kStackJson, OriginPlace::kSaved, folder.rank, {}, folder.step}});
      } else if (file.kind == FileKind::kIrText || file.kind == FileKind::kIrProtobuf ||
                 ge_file_name(file.shown_name()) || is_torchair_name(file.shown_name())) {
        if (auto ir = ir_file_of_name(index_.path_of(file))) found_.push_back(std::move(*ir));
      }
    }
  }

  // Searches the folders above the dump: the given folder may be one step of a tree.
  void above() {
    for (const std::string& path : index_.paths()) {
      std::error_code ignored;
      fs::path folder = fs::absolute(path, ignored);
      for (int up = 0; up < kFoldersUp && folder.has_parent_path() && folder != folder.parent_path(); ++up) {
        folder = folder.parent_path();
        const fs::path graphs = folder / "graphs";
        if (!fs::is_directory(graphs, ignored)) continue;
        result_.looked_in.push_back(graphs.string());
        for (IrFile& file : ir_below(graphs.string())) add_outside(std::move(file));
        break;
      }
    }
  }

  // Searches folders next to the dump whose names look like those of save_graphs.
  void beside() {
    std::set<std::string> folders;
    for (const std::string& path : index_.paths()) {
      std::error_code ignored;
      const fs::path root = fs::absolute(path, ignored).lexically_normal();
      const fs::path folder = (root.has_filename() ? root : root.parent_path()).parent_path();
      if (folder.has_relative_path()) folders.insert(folder.string());
    }
    for (const std::string& folder : folders) {
      result_.looked_in.push_back(folder);
      list(folder);
    }
  }

  void list(const std::string& folder) {
    std::error_code error;
    size_t entries = 0;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++entries > kMostListed) {
        result_.limits.insert(
            {"entries_beside", kMostListed, "a graph of the dump was not looked for in all of the folder beside it"});
        break;
      }
      std::error_code ignored;
      const std::string name = at->path().filename().string();
      if (at->is_directory(ignored)) {
        const std::string lower = to_lower(name);
        const bool of_ge = lower.find("_deviceid_") != std::string::npos || lower == "extra-info";
        if (lower.find("graph") == std::string::npos && lower != "ir" && !of_ge) continue;
        for (IrFile& file : ir_below(at->path().string())) add_outside(std::move(file));
      } else if (auto ir = ir_file_of_name(at->path().string())) {
        add_outside(std::move(*ir));
      }
    }
  }

  void add_outside(IrFile file) {
    file.outside = true;
    found_.push_back(std::move(file));
  }

  const DumpIndex& index_;
  IrSearch result_;
  std::vector<IrFile> found_, stacks_, ge_;
};

std::vector<std::string> expand_glob(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  return paths;
}

Status add_named(const std::string& named, IrSearch& search) {
  std::vector<std::string> paths{named};
  if (path_kind(named) == PathKind::kMissing) paths = expand_glob(named);
  if (paths.empty()) return fail(make_error(ErrorCode::kNotFound, "no such file or directory").with_path(named));
  for (const std::string& path : paths) {
    search.looked_in.push_back(path);
    if (path_kind(path) == PathKind::kDirectory) {
      std::vector<IrFile> found = ir_below(path);
      std::vector<IrFile> of_ge = choose_ge(found);
      for (IrFile& file : choose(found)) search.files.push_back(std::move(file));
      for (IrFile& file : of_ge) search.files.push_back(std::move(file));
      continue;
    }
    // A file that the user names is read even if its name is unusual.
    auto file = ir_file_of_name(path);
    if (!file) file = IrFile{{path, OriginKind::kIrText, OriginPlace::kSaved, rank_of_path(path)}, kNoFamily};
    search.files.push_back(std::move(*file));
  }
  return {};
}

}  // namespace

std::optional<IrFile> ir_file_of_name(std::string_view path) {
  const std::string_view file_name = base_name(path);
  const FileKind kind = kind_of_name(file_name);
  IrFile file{{std::string(path), OriginKind::kIrText, OriginPlace::kSaved, rank_of_path(path)}, kNoFamily};
  if (kind == FileKind::kStackJson || kind == FileKind::kDumpPkl) {
    file.kind = OriginKind::kStackJson;
    return file;
  }
  if (is_torchair_name(file_name)) return file;
  if (ge_file_name(file_name)) {
    file.kind = OriginKind::kGeGraph;
    return file;
  }
  if (kind != FileKind::kIrText && kind != FileKind::kIrProtobuf) return std::nullopt;
  if (kind == FileKind::kIrProtobuf) file.kind = OriginKind::kIrProtobuf;
  std::string_view name = file_name;
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name = name.substr(0, dot);
  const auto last = take_number(name);
  if (name == "ms_output_trace_code_graph") {
    file.place = OriginPlace::kDump;
    file.graph_id = last;
    file.priority = 0;
    return file;
  }
  name = without_leading_number(name);
  if (const auto graph = take_number(name)) file.graph_id = graph;
  // Written before operators are renumbered.
  if (name == "graph_before_reset_id") file.place = OriginPlace::kDump;
  for (const FamilyName& family : kFamilies) {
    if (name == family.word) file.priority = family.priority;
  }
  return file;
}

Result<IrSearch> find_ir(const DumpIndex* index, const std::vector<std::string>& named) {
  if (named.empty()) return index == nullptr ? IrSearch() : Search(*index).run();
  IrSearch search;
  for (const std::string& name : named) MSDUMP_CHECK_OK(add_named(name, search));
  drop_repeated(search.files);
  return search;
}

}  // namespace msdump
