// SPDX-License-Identifier: MIT
// A device with many BOs for the benchmarks: shared BOs of one process, in lists of list_length, created in
// VRAM.
#pragma once

#include "backend/sim_backend.h"
#include "base/rng.h"

#include <stdexcept>
#include <vector>

namespace vramlab::bench {

inline constexpr u32 list_length = 1000;
inline constexpr u64 bo_size_bytes = 64 * KiB;

class many_bos {
public:
    // bos: a multiple of list_length. vram_percent: size of VRAM, 100 is what they need. shuffled: lists are
    // of BOs that were created at any time, else of neighbours.
    many_bos(u64 bos, u32 vram_percent, bool shuffled) : bos_(bos)
    {
        system_config s;
        s.device.vram_size_bytes = (bos * bo_size_bytes / 100 * vram_percent + 4095) / 4096 * 4096;
        s.device.gtt_size_bytes = 4 * bos * bo_size_bytes;
        s.device.log2_max_mbps = 32; // the budget is never in the way
        s.processes = {{1, "bench", ""}};
        backend.reset(s);
        must({.kind = request_kind::vm_open, .process = 1, .vm = 1});
        std::vector<u64> tags;
        for (u64 tag = 1; tag <= bos; tag++) {
            must({.kind = request_kind::bo_create,
                  .process = 1,
                  .vm = 1,
                  .bo = tag,
                  .size_bytes = bo_size_bytes,
                  .preferred = domain_vram});
            tags.push_back(tag);
            if (tag % list_length == 0)
                backend.advance(backend.now_ns() + ns_per_s); // clears are done
        }
        lists_ = static_cast<u32>(bos / list_length);
        // Shuffled: as many lists again, so that a BO's turn comes at irregular times.
        rng random(1);
        for (u32 round = 0; round < (shuffled ? 2 : 1); round++) {
            if (shuffled)
                random.shuffle(tags);
            for (u32 i = 0; i < lists_; i++) {
                request list{.kind = request_kind::list_define, .process = 1, .vm = 1};
                list.id = round * lists_ + i + 1;
                list.bos.assign(tags.begin() + i * list_length, tags.begin() + (i + 1) * list_length);
                must(list);
            }
        }
        lists_ *= shuffled ? 2 : 1;
        submit_.resize(lists_, {.kind = request_kind::submit, .process = 1, .vm = 1, .compute_ns = 1000});
        for (u32 i = 0; i < lists_; i++)
            submit_[i].list = i + 1;
    }

    // Submits the next list, and lets time pass as a program that is two submissions ahead would.
    void submit_next()
    {
        const u64 seqno = must(submit_[next_]).seqno;
        next_ = next_ + 1 == lists_ ? 0 : next_ + 1;
        if (seqno > 2) {
            wait_.seqno = seqno - 2;
            must(wait_);
        }
    }
    u32 lists() const { return lists_; }
    u64 bos() const { return bos_; }

    backend::sim_backend backend;

private:
    result must(const request &r)
    {
        const result res = backend.execute(r);
        if (res.error)
            throw std::runtime_error("benchmark: a request failed");
        return res;
    }

    u64 bos_;
    u32 lists_ = 0;
    u32 next_ = 0;
    std::vector<request> submit_;
    request wait_{.kind = request_kind::wait, .process = 1, .vm = 1};
};

} // namespace vramlab::bench
