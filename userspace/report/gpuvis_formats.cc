// SPDX-License-Identifier: MIT
#include "report/gpuvis_formats.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace vramlab::report {

namespace {

using trace::event_format;

constexpr const char *string_type = "__data_loc char[]";

// fields: type and name. The print format is "name=value, name=value".
event_format make(u16 id, const char *system, const char *name,
                  std::initializer_list<std::pair<const char *, const char *>> fields)
{
    event_format f{system, name, id, trace::common_fields(), {}, "\""};
    std::string arguments;
    for (const auto &[type, field_name] : fields) {
        add_field(f, type, field_name);
        const trace::field &x = f.fields.back();
        const bool text = x.kind == trace::field_kind::where;
        f.print += fmt::format("{}{}=%{}", f.fields.size() > 1 ? ", " : "", field_name,
                               text          ? "s"
                               : x.size == 8 ? "llu"
                               : x.is_signed ? "d"
                                             : "u");
        arguments += text ? fmt::format(", __get_str({})", field_name) : fmt::format(", REC->{}", field_name);
    }
    f.print += "\"" + arguments;
    return f;
}

event_format make_print()
{
    event_format f{
        "ftrace", "print", 5, trace::common_fields(), {}, "\"%ps: %s\", (void *)REC->ip, REC->buf"};
    add_field(f, "u64", "ip");
    f.fields.back().type = "unsigned long";
    add_field(f, "char[]", "buf");
    return f;
}

} // namespace

const gpuvis_formats &gpuvis_formats::get()
{
    static const gpuvis_formats formats = {
        make_print(),
        make(900, "amdgpu", "amdgpu_cs_ioctl",
             {{string_type, "timeline"},
              {"u64", "context"},
              {"u64", "seqno"},
              {string_type, "ring"},
              {"u32", "num_ibs"}}),
        make(901, "amdgpu", "amdgpu_sched_run_job",
             {{string_type, "timeline"},
              {"u64", "context"},
              {"u64", "seqno"},
              {string_type, "ring"},
              {"u32", "num_ibs"}}),
        make(902, "dma_fence", "dma_fence_signaled",
             {{string_type, "driver"}, {string_type, "timeline"}, {"u32", "context"}, {"u32", "seqno"}}),
        make(903, "drm", "drm_vblank_event",
             {{"int", "crtc"}, {"u32", "seq"}, {"u64", "time"}, {"u8", "high_prec"}}),
        make(904, "vramlab", "vramlab_bo_move",
             {{"u64", "bo"},
              {"u64", "bytes"},
              {"u8", "evict"},
              {string_type, "from"},
              {string_type, "to"},
              {string_type, "owner"},
              {string_type, "reason"}}),
        make(905, "vramlab", "vramlab_vram", {{"u64", "mib"}, {"u32", "bos"}}),
        make(906, "vramlab", "vramlab_frame_done",
             {{"u32", "process"},
              {"u64", "number"},
              {"u64", "time_us"},
              {"u64", "link_kib"},
              {string_type, "name"}}),
    };
    return formats;
}

} // namespace vramlab::report
