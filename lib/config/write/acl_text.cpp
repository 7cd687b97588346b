#include "config/write/config_objects.h"

namespace msdump {
namespace {

using report::List;
using report::Object;

constexpr size_t kMostAclSteps = 100;  // as the documents of AscendCL have it

Result<void> check_acl(const DumpRequest& request) {
  if (!request.scope.empty())
    return fail(ErrorCode::kUsage, "AscendCL takes a range of operators only with a model's name: name the operators");
  if (request.overflow && (!request.list.empty() || request.statistics))
    return fail(ErrorCode::kUsage, "AscendCL dumps tensors of all operators that overflow: no {} with it",
                request.statistics ? "statistics" : "list");
  if (!request.watched.empty() && (request.overflow || request.statistics || request.list.empty()))
    return fail(ErrorCode::kUsage, "AscendCL watches outputs as tensors, after the operators of a list");
  return {};
}

}  // namespace

Result<Object> acl_object(const DumpRequest& request) {
  MSDUMP_CHECK_OK(check_acl(request));
  Object dump;
  dump.add("dump_path", request.path);
  if (!request.steps.empty()) {
    MSDUMP_TRY(std::string steps, steps_text(request.steps, kMostAclSteps));
    dump.add("dump_step", std::move(steps));
  }
  if (request.overflow) {
    dump.add("dump_debug", "on");
    return Object().add("dump", std::move(dump));
  }
  List models;
  if (!request.list.empty()) {
    Object model;
    model.add("layer", report::list_of(request.list));
    if (!request.watched.empty()) model.add("watcher_nodes", report::list_of(request.watched));
    models.emplace_back(std::move(model));
  }
  if (request.watched.empty()) {
    // Operators outside of models have no layers: a list would not narrow them.
    dump.add("dump_mode", "all").add("dump_op_switch", request.list.empty() ? "on" : "off");
    dump.add("dump_data", request.statistics ? "stats" : "tensor");
    if (request.statistics)
      dump.add("dump_stats", List{"Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf", "L2norm"});
  } else {
    dump.add("dump_scene", "watcher").add("dump_mode", "output");
  }
  dump.add("dump_list", std::move(models));
  return Object().add("dump", std::move(dump));
}

}  // namespace msdump
