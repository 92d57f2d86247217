// SPDX-License-Identifier: MIT
// What a frame submits: for each VM, `submissions` jobs, which share the frame's touches by rank.
#include "workload/expander.h"

#include <algorithm>

namespace vramlab::workload {

const drawn_group *expander::swapchain(const expanded_process &p) const
{
    for (const drawn_group &g : p.groups)
        if (g.config->name == p.spec->swapchain)
            return &g;
    return nullptr;
}

u32 expander::image_count(const expanded_process &p) const
{
    const drawn_group *g = swapchain(p);

    return g ? g->count() : 1;
}

// A group's part in submission `index`. Of a swapchain, the current image is touched, by the first
// submission.
void expander::collect(expanded_process &p, const drawn_group &g, u32 index, submission &out)
{
    const group_config &c = *g.config;
    const bool listed = !(c.flags & bo_vm_private);
    const bool reverse =
        c.list_order == listing_order::reverse || (c.list_order == listing_order::alternate && p.copy % 2);
    count_work(g.count(), c.line);
    const std::size_t first = out.list.size();
    const std::vector<u32> touched = &g == swapchain(p)
                                         ? std::vector<u32>{static_cast<u32>(p.frame % g.count())}
                                         : touched_bos(g, p.frame);

    if (listed && c.listing == listing_kind::all)
        for (u32 bo : g.creation)
            out.list.push_back(g.tag(bo));
    for (std::size_t rank = index; rank < touched.size(); rank += p.spec->submissions) {
        const touch t = touch_of(g, touched[rank], static_cast<u32>(rank));

        if (listed && c.listing == listing_kind::touched)
            out.list.push_back(t.bo);
        if (t.vram_bytes || t.link_bytes)
            out.touches.push_back(t);
    }
    if (reverse)
        std::reverse(out.list.begin() + static_cast<std::ptrdiff_t>(first), out.list.end());
}

// A compositor reads the client's current image, in its first submission.
void expander::collect_client(const expanded_process::client &c, u64 frame, submission &out)
{
    const drawn_group &images = *swapchain(*c.process);

    for (u32 bo : images.creation)
        out.list.push_back(images.tag(bo));
    const touch t = touch_of(images, static_cast<u32>(frame % images.count()), 0);

    if (t.vram_bytes || t.link_bytes)
        out.touches.push_back(t);
}

// The submission, after whatever of its list and touch set has to be defined anew. Each has an id of its own
// for every image and index, so that a steady frame defines nothing.
request expander::define_submission(expanded_process &p, u32 vm, u32 index)
{
    const u32 label = p.vms[vm];
    const u32 id = static_cast<u32>(p.frame % image_count(p)) * p.spec->submissions + index + 1;
    submission job;

    for (const drawn_group &g : p.groups)
        if (g.alive && g.config->vm == vm + 1)
            collect(p, g, index, job);
    if (vm == 0 && index == 0)
        for (const expanded_process::client &c : p.clients)
            if (c.shown)
                collect_client(c, p.frame, job);

    request r;

    r.kind = request_kind::submit;
    r.process = p.number;
    r.vm = label;
    r.compute_ns = p.spec->compute_ns;
    r.list = job.list.empty() ? 0 : id;
    r.touch_set = job.touches.empty() ? 0 : id;
    if (std::vector<u64> &now = p.lists[{label, id}]; r.list && now != job.list) {
        request &define = request_of(p, label, request_kind::list_define, p.spec->line);

        count_elements(job.list.size());
        define.id = id;
        define.bos = now = std::move(job.list);
    }
    if (std::vector<touch> &now = p.touches[{label, id}]; r.touch_set && now != job.touches) {
        request &define = request_of(p, label, request_kind::touch_define, p.spec->line);

        count_elements(job.touches.size());
        define.id = id;
        define.touches = now = std::move(job.touches);
    }
    return r;
}

void expander::submit_frame(expanded_process &p)
{
    for (u32 vm = 0; vm < p.vms.size(); vm++) {
        for (u32 index = 0; index < p.spec->submissions; index++) {
            const request r = define_submission(p, vm, index);

            if (p.spec->submit_cpu_ns) {
                operation op = make(op_kind::cpu, p.number, p.spec->line);

                op.period_ns = p.spec->submit_cpu_ns;
                push(std::move(op));
            }

            request_of(p, r.vm, r.kind, p.spec->line) = r;
        }
    }
}

} // namespace vramlab::workload
