// SPDX-License-Identifier: MIT
// Tests that run in the guest under the virtual clock: time passes when they say so, and copies take none to
// speak of. BOs have no contents.
#pragma once

#include "tests/vttm_device.h"
#include "tests/vttm_lifecycle.h"
#include "tests/vttm_switch.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>

namespace vramlab::tests {

inline constexpr u64 ns_per_ms = 1'000'000;

// A program: a file with its own VM and a list of BOs that it submits.
class client {
public:
    explicit client(u32 label) : label_(label)
    {
        drm_vttm_vm_set_label args{label, 0};
        file.call(DRM_IOCTL_VTTM_VM_SET_LABEL, &args);
    }
    // The tag of the last BO.
    u64 tag() const { return u64{label_} * 1'000'000 + count_; }
    // Prefers VRAM, may be in GTT unless vram_only. Returns the handle, 0 if it fails.
    u32 create(u64 bytes, u32 flags = 0, u32 priority = DRM_VTTM_PRIORITY_DEFAULT, bool vram_only = false)
    {
        drm_vttm_gem_create args{};
        args.size = bytes;
        count_++;
        args.tag = tag();
        args.preferred_domains = DRM_VTTM_DOMAIN_VRAM;
        args.allowed_domains = DRM_VTTM_DOMAIN_VRAM | (vram_only ? 0 : DRM_VTTM_DOMAIN_GTT);
        args.flags = flags;
        args.priority = priority;
        return file.create(args) ? 0 : args.handle;
    }
    // So many BOs that add up to that.
    std::vector<u32> create_many(u32 count, u64 bytes, u32 flags = 0)
    {
        std::vector<u32> handles;
        for (u32 i = 0; i < count; i++)
            handles.push_back(create(bytes / count, flags));
        return handles;
    }
    bool in_vram(u32 handle) const { return file.domain_of(handle) == DRM_VTTM_DOMAIN_VRAM; }
    u32 count_in_vram(const std::vector<u32> &handles) const
    {
        u32 n = 0;
        for (u32 handle : handles)
            n += in_vram(handle);
        return n;
    }
    void close_all(const std::vector<u32> &handles)
    {
        for (u32 handle : handles)
            ASSERT_EQ(file.close_handle(handle), 0);
    }
    u32 label() const { return label_; }

    vttm_file file;

private:
    u32 label_;
    u32 count_ = 0;
};

// What the state says of a throttled VM.
struct throttle_state {
    std::optional<u64> evicted_ns;
    std::vector<u64> displaced; // tags, in the order in which they are tried
};

inline throttle_state throttle_of(const client &c)
{
    throttle_state t;
    std::istringstream lines(vttm_state());
    const std::string start = "throttle " + std::to_string(c.label()) + " evicted ";
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(start))
            continue;
        std::istringstream words(line.substr(start.size()));
        std::string when, word;
        words >> when >> word;
        if (when != "-")
            t.evicted_ns = std::stoull(when);
        for (u64 tag = 0; words >> tag;)
            t.displaced.push_back(tag);
    }
    return t;
}

// The device under the virtual clock, and any number of clients.
class virtual_test : public testing::Test {
protected:
    void set_up(u64 vram_size, u32 log2_max_mbps = 32)
    {
        if (control_.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        for (const char *name : all_switches)
            if (!has_switch(name))
                GTEST_SKIP() << "a kernel whose TTM has no " << name;
        restore_switches();
        const drm_vttm_lab_config config{vram_size,
                                         u64{4} * GiB,
                                         u64{1} << 50,
                                         u64{1} << 50,
                                         0,
                                         log2_max_mbps,
                                         DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK | DRM_VTTM_LAB_CONFIG_NO_CONTENTS};
        ASSERT_EQ(reset_when_idle(control_, config), 0);
        // The move budget begins with nothing.
        advance_to(1000 * ns_per_ms);
    }
    void TearDown() override
    {
        close_clients();
        restore_switches();
        if (control_.fd() < 0)
            return;
        // Others want a clock that goes.
        const drm_vttm_lab_config config{40 * MiB, u64{1} * GiB, u64{1} << 50, u64{1} << 50, 0, 32, 0};
        EXPECT_EQ(reset_when_idle(control_, config), 0);
    }
    void close_clients() { clients_.clear(); }
    client &open() { return *clients_.emplace_back(std::make_unique<client>(clients_.size() + 1)); }
    u64 now() const { return control_.info().clock_ns; }
    void advance_to(u64 ns) const
    {
        if (ns > now()) {
            ASSERT_EQ(control_.lab(DRM_VTTM_LAB_ADVANCE, ns), 0);
        }
    }
    void sleep_ms(u64 ms) const { advance_to(now() + ms * ns_per_ms); }
    u64 evictions() const { return control_.info().evictions; }

    vttm_file control_;

private:
    std::vector<std::unique_ptr<client>> clients_;
};

} // namespace vramlab::tests
