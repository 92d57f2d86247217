// SPDX-License-Identifier: MIT
// Scanout in fragmented video memory: is what is evicted for an image the least that could be? Runs in the
// guest. VRAMLAB_LAYOUTS: how many layouts are drawn.
#include "backend/range_search.h"
#include "base/rng.h"
#include "tests/vttm_virtual.h"

#include <cstdio>

namespace vramlab::tests {
namespace {

using backend::cheapest_range;
using backend::placed;

constexpr u64 granule = 64 * KiB; // every size is a multiple of it
constexpr u64 vram_size = 128 * MiB;
constexpr u64 image_size = 4 * MiB;

u64 layouts(u64 usual)
{
    const char *const text = std::getenv("VRAMLAB_LAYOUTS");
    return text ? std::strtoull(text, nullptr, 10) : usual;
}

class vttm_range : public virtual_test {
protected:
    void SetUp() override { set_up(vram_size); }

    // A program fills VRAM, frees and fills again, pins some and uses some; somebody else has an image in
    // GTT.
    void draw(u64 seed)
    {
        close_clients();
        set_up(vram_size);
        rng_ = rng(seed);
        bos_.clear();
        used_ = 0;
        program_ = &open();
        fill();
        for (int round = 0; round < 4; round++) {
            rng_.shuffle(bos_);
            for (std::size_t n = bos_.size() / 3; n > 0; n--, bos_.pop_back()) {
                used_ -= bos_.back().size;
                ASSERT_EQ(program_->file.close_handle(bos_.back().handle), 0);
            }
            sleep_ms(1000);
            fill();
        }
        pin_some();
        use();
        screen_ = &open();
        drm_vttm_gem_create args{};
        args.size = image_size;
        args.tag = image_tag_ = screen_->tag() + 1;
        args.preferred_domains = DRM_VTTM_DOMAIN_GTT;
        args.allowed_domains = DRM_VTTM_DOMAIN_GTT | DRM_VTTM_DOMAIN_VRAM;
        ASSERT_EQ(screen_->file.create(args), 0);
        image_ = args.handle;
    }
    struct outcome {
        int error;
        u64 start = 0;
        u64 evicted_bytes = 0;
    };
    outcome pin_image()
    {
        const std::map<u64, placed> before = backend::in_vram(vttm_state());
        outcome o{.error = screen_->file.pin(image_)};
        const std::map<u64, placed> after = backend::in_vram(vttm_state());
        for (const auto &[tag, p] : before)
            o.evicted_bytes += after.contains(tag) ? 0 : p.size;
        if (const auto it = after.find(image_tag_); it != after.end() && backend::one_range(it->second))
            o.start = it->second.blocks.front().first;
        return o;
    }
    // Draws layouts until so many suit; with each of them look(seed, what an image must evict).
    template <typename Look> void each_layout(u64 wanted, Look &&look)
    {
        for (u64 seed = 1, tried = 0; tried < wanted; seed++) {
            ASSERT_LT(seed, 4 * wanted + 20) << "layouts do not suit";
            draw(seed);
            const std::map<u64, placed> bos = backend::in_vram(vttm_state());
            if (!backend::is_tight(bos, vram_size, image_size, granule))
                continue;
            tried++;
            const std::optional<cheapest_range> expected =
                backend::exhaustive(bos, vram_size, image_size, granule);
            ASSERT_TRUE(expected) << "seed " << seed;
            look(seed, *expected);
        }
    }

private:
    struct bo {
        u32 handle;
        u64 size;
        u64 tag;
    };
    void fill()
    {
        for (;;) {
            // Odd, as multiples of 2 MiB need blocks of that size, for which others would be evicted.
            const u64 size = (2 * rng_.below(rng_.below(4) ? 6 : 32) + 1) * granule;
            if (used_ + size > vram_size / 1000 * 985)
                break;
            used_ += size;
            const u32 handle = program_->create(size);
            ASSERT_NE(handle, 0u);
            bos_.push_back({handle, size, program_->tag()});
        }
        sleep_ms(1000);
    }
    // Where they are: those that are one range already.
    void pin_some()
    {
        const u64 wanted = vram_size / 1000 * rng_.between(20, 40);
        u64 pinned = 0;
        rng_.shuffle(bos_);
        const std::map<u64, placed> places = backend::in_vram(vttm_state());
        for (const bo &b : bos_) {
            if (pinned >= wanted)
                break;
            if (b.size > 11 * granule || !places.contains(b.tag) || !backend::one_range(places.at(b.tag)))
                continue;
            ASSERT_EQ(program_->file.pin(b.handle), 0);
            pinned += b.size;
        }
    }
    // Another order in the LRU than that of creation; every other time some are in use.
    void use()
    {
        rng_.shuffle(bos_);
        submit(bos_.size(), 1000);
        sleep_ms(1000);
        if (rng_.below(2))
            submit(bos_.size() / 8, 1000 * ns_per_ms);
    }
    void submit(std::size_t count, u64 compute_ns)
    {
        vttm_file::job job{.handles = {}, .ops = {}, .syncs = {}, .compute_ns = compute_ns};
        for (std::size_t i = 0; i < count; i++)
            job.handles.push_back(bos_[i].handle);
        ASSERT_EQ(program_->file.submit_job(job), 0);
    }

    rng rng_{0};
    std::vector<bo> bos_;
    u64 used_ = 0;
    u64 image_tag_ = 0;
    u32 image_ = 0;
    client *program_ = nullptr, *screen_ = nullptr;
};

TEST_F(vttm_range, an_image_evicts_no_more_than_it_must)
{
    each_layout(layouts(12), [&](u64 seed, const cheapest_range &expected) {
        const outcome o = pin_image();
        ASSERT_EQ(o.error, 0) << "seed " << seed;
        EXPECT_EQ(o.start, expected.start) << "seed " << seed;
        EXPECT_EQ(o.evicted_bytes, expected.bytes) << "seed " << seed;
    });
}

// What mainline makes of the same layouts; if it made the same of them, the test above would show nothing.
TEST_F(vttm_range, without_it_an_image_evicts_more)
{
    constexpr u64 tried = 6;
    u64 least = 0, evicted = 0, failed = 0;
    each_layout(tried, [&](u64, const cheapest_range &expected) {
        ASSERT_TRUE(set_switch("contig_range", false));
        const outcome o = pin_image();
        failed += o.error != 0;
        evicted += o.evicted_bytes;
        least += expected.bytes;
    });
    std::printf("%llu layouts: %.2f MiB evicted, %.2f had to go, %llu failed\n",
                static_cast<unsigned long long>(tried), static_cast<double>(evicted) / MiB,
                static_cast<double>(least) / MiB, static_cast<unsigned long long>(failed));
    EXPECT_GT(evicted, 3 * least);
}

// Nothing has to go at all where there is a hole, and nothing goes in vain where pins leave no range.
TEST_F(vttm_range, holes_are_used_and_pins_respected)
{
    client &program = open(), &screen = open();
    std::vector<u32> bos = program.create_many(16, vram_size);
    ASSERT_EQ(program.file.close_handle(bos[5]), 0);
    sleep_ms(1);
    const u64 before = evictions();
    const u32 fits = screen.create(vram_size / 16, DRM_VTTM_GEM_CONTIGUOUS);
    EXPECT_EQ(screen.file.pin(fits), 0);
    EXPECT_EQ(evictions(), before);

    bos.erase(bos.begin() + 5);
    for (std::size_t i = 0; i < bos.size(); i += 2)
        ASSERT_EQ(program.file.pin(bos[i]), 0);
    const u32 there = program.count_in_vram(bos);
    drm_vttm_gem_create args{};
    args.size = vram_size / 4;
    args.preferred_domains = DRM_VTTM_DOMAIN_GTT;
    args.allowed_domains = DRM_VTTM_DOMAIN_GTT | DRM_VTTM_DOMAIN_VRAM;
    ASSERT_EQ(screen.file.create(args), 0);
    EXPECT_EQ(screen.file.pin(args.handle), -ENOMEM);
    EXPECT_EQ(program.count_in_vram(bos), there);
}

} // namespace
} // namespace vramlab::tests
