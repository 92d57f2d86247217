// SPDX-License-Identifier: MIT
// Scanout in fragmented video memory: is what is evicted for an image the least that could be, how much is it
// beside mainline, and what do cgroups say to it? VRAMLAB_LAYOUTS: how many layouts are drawn.
#include "backend/range_search.h"
#include "backend/sim_fixture.h"
#include "base/rng.h"

#include <cstdio>
#include <cstdlib>

using namespace vramlab;
using namespace vramlab::backend;

namespace {

constexpr u64 granule = 256 * KiB; // every size is a multiple of it
constexpr u64 vram_size = 512 * MiB;
constexpr u64 image_size = 16 * MiB;
constexpr u64 image = 1'000'000; // tag

// The same requests for both.
class layout {
public:
    explicit layout(u64 seed) : rng_(seed)
    {
        system_config s = small_system();
        s.device.vram_size_bytes = vram_size;
        s.device.gtt_size_bytes = 4 * vram_size;
        for (auto &b : {&mainline, &range}) {
            b->reset(s);
            for (const process_config &p : s.processes)
                b->execute({.kind = request_kind::vm_open, .process = p.process, .vm = p.process});
        }
        fill();
        for (int round = 0; round < 4; round++) {
            rng_.shuffle(tags_);
            for (std::size_t n = tags_.size() / 3; n > 0; n--) {
                used_ -= sizes_[tags_.back()];
                both({.kind = request_kind::bo_destroy, .vm = 1, .bo = tags_.back()});
                tags_.pop_back();
            }
            idle();
            fill();
        }
        pin_some();
        age();
        both({.kind = request_kind::bo_create,
              .vm = 2,
              .bo = image,
              .size_bytes = image_size,
              .preferred = domain_gtt,
              .allowed = domain_gtt | domain_vram});
    }
    bool suits() const { return is_tight(in_vram(text()), vram_size, image_size, granule); }
    std::string text() const { return const_cast<sim_backend &>(range).state(); }

    sim_backend mainline{driver::make_policy("mainline-7.3.4")};
    sim_backend range{driver::make_policy("contig-range")};

private:
    void both(request r)
    {
        r.process = r.vm;
        const int error = mainline.execute(r).error;
        ASSERT_EQ(error, 0);
        ASSERT_EQ(range.execute(r).error, 0);
    }
    void idle()
    {
        for (auto &b : {&mainline, &range})
            b->advance(b->now_ns() + ns_per_s);
    }
    void fill()
    {
        for (;;) {
            // Odd, as multiples of 2 MiB need blocks of that size, for which others would be evicted.
            const u64 size = (2 * rng_.below(rng_.below(4) ? 6 : 32) + 1) * granule;
            if (used_ + size > vram_size / 1000 * 985)
                break;
            used_ += size;
            tags_.push_back(next_++);
            sizes_[tags_.back()] = size;
            both({.kind = request_kind::bo_create,
                  .vm = 1,
                  .bo = tags_.back(),
                  .size_bytes = size,
                  .preferred = domain_vram,
                  .allowed = domain_vram | domain_gtt});
        }
        idle();
    }
    // Where they are: those that are one range already.
    void pin_some()
    {
        const u64 wanted = vram_size / 1000 * rng_.between(20, 40);
        u64 pinned = 0;
        rng_.shuffle(tags_);
        const std::map<u64, placed> bos = in_vram(text());
        for (const u64 tag : tags_)
            if (const placed &p = bos.at(tag); pinned < wanted && one_range(p) && p.size <= 11 * granule) {
                both({.kind = request_kind::pin, .vm = 1, .bo = tag});
                pinned += p.size;
            }
    }
    // Another order in the LRU than that of creation; every other time some are in use.
    void age()
    {
        rng_.shuffle(tags_);
        submit(tags_, 1000);
        idle();
        if (rng_.below(2))
            submit({tags_.begin(), tags_.begin() + static_cast<s64>(tags_.size() / 8)}, ns_per_s);
    }
    void submit(std::vector<u64> bos, u64 compute_ns)
    {
        both({.kind = request_kind::list_define, .vm = 1, .id = 1, .bos = std::move(bos)});
        both({.kind = request_kind::submit, .vm = 1, .list = 1, .compute_ns = compute_ns});
    }

    rng rng_;
    std::vector<u64> tags_;
    std::map<u64, u64> sizes_;
    u64 used_ = 0;
    u64 next_ = 1;
};

struct outcome {
    int error;
    u64 evicted_bytes = 0;
    u64 choices = 0;
    events::event choice{};
};

outcome pin_image(sim_backend &b)
{
    events::event_log log;
    b.set_event_sink(&log);
    outcome o{.error = b.execute({.kind = request_kind::pin, .process = 2, .vm = 2, .bo = image}).error};
    b.set_event_sink(nullptr);
    for (const events::event &e : log.events()) {
        if (e.type == events::event_type::move && e.flag)
            o.evicted_bytes += e.c;
        if (e.type == events::event_type::range_chosen) {
            o.choices++;
            o.choice = e;
        }
    }
    return o;
}

u64 median(std::vector<u64> &v)
{
    std::nth_element(v.begin(), v.begin() + static_cast<s64>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

TEST(range_layouts, least_that_could_be_evicted)
{
    const char *const wanted = std::getenv("VRAMLAB_LAYOUTS");
    const u64 layouts = wanted ? std::strtoull(wanted, nullptr, 10) : 60;
    std::vector<u64> by_lru, by_range;
    u64 drawn = 0, lru_failed = 0;

    while (by_range.size() < layouts) {
        layout l(++drawn);
        ASSERT_LT(drawn, 4 * layouts + 50) << "layouts do not suit";
        if (!l.suits())
            continue;
        ASSERT_EQ(l.mainline.state(), l.range.state());
        const std::optional<cheapest_range> expected =
            exhaustive(in_vram(l.text()), vram_size, image_size, granule);
        ASSERT_TRUE(expected) << "seed " << drawn;

        const outcome range = pin_image(l.range);
        ASSERT_EQ(range.error, 0) << "seed " << drawn;
        ASSERT_EQ(range.choices, 1u) << "seed " << drawn;
        ASSERT_EQ(range.choice.a, expected->start) << "seed " << drawn;
        ASSERT_EQ(range.choice.b, expected->cost) << "seed " << drawn;
        ASSERT_EQ(range.evicted_bytes, expected->bytes) << "seed " << drawn;
        by_range.push_back(range.evicted_bytes);
        const outcome lru = pin_image(l.mainline);
        lru_failed += lru.error != 0;
        by_lru.push_back(lru.evicted_bytes);
    }

    const auto mib = [](u64 bytes) { return static_cast<double>(bytes) / static_cast<double>(MiB); };
    const u64 lru_median = median(by_lru), range_median = median(by_range);
    std::printf("%llu layouts (%llu drawn), MiB evicted for an image of %.0f in %.0f:\n",
                static_cast<unsigned long long>(layouts), static_cast<unsigned long long>(drawn),
                mib(image_size), mib(vram_size));
    std::printf("mainline      median %8.2f  max %8.2f  failed %llu\n", mib(lru_median),
                mib(*std::max_element(by_lru.begin(), by_lru.end())),
                static_cast<unsigned long long>(lru_failed));
    std::printf("contig-range  median %8.2f  max %8.2f  failed 0\n", mib(range_median),
                mib(*std::max_element(by_range.begin(), by_range.end())));
    EXPECT_GE(lru_median, 10 * range_median);
}

// ---- cgroups: 16 MiB of VRAM, the game has the lower half and strangers the upper one

class range_protection : public testing::Test {
protected:
    void use(const char *policy, u64 game_min, u64 game_low, u64 image_max = ~u64{0})
    {
        system_config s = small_system();
        // Below the root itself nothing is protected from each other.
        s.cgroups = {
            {"all"}, {"all/game", game_min, game_low}, {"all/other"}, {"all/image", 0, 0, image_max}};
        s.processes = {{1, "game", "all/game"}, {2, "other", "all/other"}, {3, "image", "all/image"}};
        b = std::make_unique<sim_backend>(driver::make_policy(policy));
        b->reset(s);
        for (const process_config &p : s.processes)
            run({.kind = request_kind::vm_open, .vm = p.process});
    }
    int run(request r)
    {
        r.process = r.vm;
        return b->execute(r).error;
    }
    void create(u32 vm, u64 tag, u64 mib, u32 preferred = domain_vram)
    {
        ASSERT_EQ(run({.kind = request_kind::bo_create,
                       .vm = vm,
                       .bo = tag,
                       .size_bytes = mib * MiB,
                       .preferred = preferred,
                       .allowed = domain_vram | domain_gtt}),
                  0);
        b->advance(b->now_ns() + ns_per_s);
    }
    int pin(u64 tag) { return run({.kind = request_kind::pin, .vm = 3, .bo = tag}); }
    bool there(u64 tag) { return in_vram(b->state()).contains(tag); }

    std::unique_ptr<sim_backend> b;
};

TEST_F(range_protection, low_is_the_last_resort)
{
    use("contig-range", 0, 8 * MiB);
    create(1, 1, 2); // the cheapest but for its protection
    create(1, 2, 6);
    create(2, 3, 8);
    create(3, image, 2, domain_gtt);
    create(3, image + 1, 10, domain_gtt);
    EXPECT_EQ(pin(image), 0);
    EXPECT_TRUE(there(1) && there(2));
    EXPECT_FALSE(there(3));
    // There is no range of 10 MiB without the game.
    EXPECT_EQ(pin(image + 1), 0);
    EXPECT_FALSE(there(1) && there(2));
}

TEST_F(range_protection, min_is_none)
{
    use("contig-range", 8 * MiB, 0);
    create(1, 1, 2);
    create(1, 2, 6);
    create(2, 3, 8);
    create(3, image, 10, domain_gtt);
    create(3, image + 1, 8, domain_gtt);
    EXPECT_EQ(pin(image), -ENOMEM);
    EXPECT_TRUE(there(1) && there(2) && there(3)) << "nothing is evicted in vain";
    EXPECT_EQ(pin(image + 1), 0);
    EXPECT_TRUE(there(1) && there(2));
    EXPECT_FALSE(there(3));
}

TEST_F(range_protection, a_limit_is_met_by_the_cgroup_s_own)
{
    for (const char *policy : {"mainline-7.3.4", "contig-range"}) {
        use(policy, 0, 0, 4 * MiB);
        create(3, 1, 4);
        create(1, 2, 2);
        create(2, 3, 10);
        create(3, image, 3, domain_gtt);
        EXPECT_EQ(pin(image), 0) << policy;
        EXPECT_FALSE(there(1)) << policy;
        EXPECT_TRUE(there(2) && there(3)) << policy;
    }
}

TEST_F(range_protection, beyond_the_limit_room_is_made_whose_ever_it_is)
{
    use("contig-range", 0, 0, 4 * MiB);
    create(1, 1, 2);
    create(3, 2, 1);
    create(1, 3, 7);
    create(3, 4, 1); // apart from the other
    create(2, 5, 5);
    create(3, image, 4, domain_gtt);
    EXPECT_EQ(pin(image), 0);
    EXPECT_FALSE(there(2)); // for the charge
    EXPECT_FALSE(there(4));
    EXPECT_TRUE(there(1) && there(3) ? !there(5) : there(5)) << "and one of the neighbours";
}

} // namespace
