// SPDX-License-Identifier: MIT
// What do the mechanisms of the patches cost a submission that has all that it wants? Runs in the guest
// (scripts/bench-kernel). Off and on alternate in one boot; the ratio of neighbours is what counts, since the
// machine's speed drifts.
//
// A round is one batch of submissions with the mechanism off and one with it on, in changing order. Of a
// batch the median submission counts, so that interrupts and other processes don't.
#include "tests/vttm_device.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace vramlab::bench {
namespace {

constexpr const char *switches[] = {"exec_retry", "throttle", "bo_priority", "contig_range"};
constexpr u32 list_sizes[] = {10, 1000, 10000};
constexpr u64 bo_size = 4 * KiB;
constexpr u64 batch_refs = 40'000; // BO references in a batch: tens of milliseconds

struct spread {
    double low, median, high; // quartiles
};

spread quartiles(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return {v[v.size() / 4], v[v.size() / 2], v[v.size() * 3 / 4]};
}

void set(const char *name, bool on)
{
    std::ofstream out(std::string("/sys/module/ttm/parameters/") + name);
    out << (on ? 'Y' : 'N') << std::flush;
    if (!out) {
        std::fprintf(stderr, "vttm_cost: cannot set ttm.%s: expected a kernel with the patches\n", name);
        std::exit(2);
    }
}

// which: index of the only one to be switched, or their number for all.
void set_mechanisms(std::size_t which, bool on)
{
    for (std::size_t i = 0; i < std::size(switches); i++)
        set(switches[i], on && (which == i || which == std::size(switches)));
}

// Nanoseconds of the median submission.
double batch(const tests::vttm_file &file, const std::vector<u32> &handles)
{
    using clock = std::chrono::steady_clock;
    const u64 count = std::max<u64>(batch_refs / handles.size(), 9);
    std::vector<double> times;
    u64 seqno = 0;
    for (u64 i = 0; i < count; i++) {
        const auto start = clock::now();
        const int ret = file.submit(handles, &seqno);
        times.push_back(std::chrono::duration<double, std::nano>(clock::now() - start).count());
        if (ret || (i % 8 == 7 && file.wait(seqno, 10'000'000'000))) {
            std::fprintf(stderr, "vttm_cost: a submission failed: %d\n", ret);
            std::exit(1);
        }
    }
    file.wait(seqno, 10'000'000'000);
    return quartiles(times).median;
}

void measure(const tests::vttm_file &file, const std::vector<u32> &handles, std::size_t which, u32 rounds)
{
    std::vector<double> off, ratio;
    for (u32 round = 0; round < rounds; round++) {
        double t[2];
        for (const bool on : {round % 2 == 1, round % 2 == 0}) {
            set_mechanisms(which, on);
            t[on] = batch(file, handles);
        }
        off.push_back(t[0]);
        ratio.push_back(t[1] / t[0]);
    }
    const spread o = quartiles(off), r = quartiles(ratio);
    std::printf("%6zu BOs  %-12s  off %9.2f us  on/off %.4f  (quartiles %.4f to %.4f)\n", handles.size(),
                which < std::size(switches) ? switches[which] : "all", o.median / 1e3, r.median, r.low,
                r.high);
    std::fflush(stdout);
}

int run(u32 rounds)
{
    for (const u32 count : list_sizes) {
        tests::vttm_file file;
        drm_vttm_lab_config config{
            512 * MiB, u64{1} * GiB, u64{1} << 50, u64{1} << 50, 0, 32, DRM_VTTM_LAB_CONFIG_NO_CONTENTS};
        if (file.fd() < 0 || file.lab(DRM_VTTM_LAB_RESET, 0, &config)) {
            std::fputs("vttm_cost: expected an idle vttm device: run it by scripts/bench-kernel\n", stderr);
            return 2;
        }
        std::vector<u32> handles;
        for (u32 i = 0; i < count; i++)
            handles.push_back(file.must_create(bo_size, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM));
        batch(file, handles); // warm
        for (std::size_t which = 0; which <= std::size(switches); which++)
            measure(file, handles, which, rounds);
    }
    return 0;
}

} // namespace
} // namespace vramlab::bench

int main(int argc, char **argv)
{
    const unsigned long rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 60;
    if (rounds < 4 || rounds > 100000) {
        std::fputs("vttm_cost [ROUNDS]: expected 4 to 100000\n", stderr);
        return 2;
    }
    return vramlab::bench::run(static_cast<vramlab::u32>(rounds));
}
