// SPDX-License-Identifier: MIT
// Every decision about one BO in words, with times: created where and why, validated, evicted for whom and
// why it was the victim, moved, came back or why not, and why it is where it is at the end. From events only,
// as they come.
#pragma once

#include "report/bo_tracker.h"
#include "report/narrative.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vramlab::report {

class explainer final : public events::event_sink {
public:
    // lru_order: victims are taken in LRU order, as mainline does.
    explainer(u64 bo, std::vector<process_config> processes, bool lru_order = true);

    void record(const events::event &e) override;
    // Once, after the last event.
    void finish(u64 end_ns);

    bool known() const { return known_; } // whether the BO was ever to be created
    const narrative &story() const { return story_; }
    // Why it is where it is, and why it has not come back.
    const std::string &conclusion() const { return conclusion_; }
    std::string render(const painter &p) const;

private:
    // One look for victims: for `evictor`, by the operation of one process.
    struct walk {
        u64 evictor = 0;
        u64 evicted = 0;
        u64 evicted_bytes = 0;
        u64 no_space_bytes = 0; // that were wanted and not free
        std::unordered_map<u64, std::string_view>
            skipped; // BO -> last reason; several passes look at the same ones
    };
    // What the submission under way has done so far.
    struct submission {
        u64 threshold_bytes = never_ns; // never_ns: not known (yet)
        u64 moved_bytes = 0;
        bool looked_at = false;   // our BO was validated
        bool failed_once = false; // and did not get where it wanted
    };

    void creation_ends(const events::event &e);
    void submission_ends(const events::event &e);
    void operation_ends(const events::event &e);
    void validated(const events::event &e);
    void evicted(const events::event &e);
    void moved(const events::event &e);
    void skipped(const events::event &e);
    void lock(const events::event &e);
    void note_walk(const events::event &e);

    std::string of_process(u32 process, u64 bo) const;
    std::string walk_words(const walk &w) const;
    std::string victim_words(const walk &w) const;
    std::string why_outside(const events::event &e, const submission &s, const walk &w,
                            std::string *key) const;
    bool is_private() const;
    std::string conclude();

    const u64 bo_;
    const bool lru_order_;
    process_names names_;
    bo_tracker bos_;
    narrative story_;
    std::string conclusion_;
    std::map<u32, walk> walks_;             // by process
    std::map<u32, submission> submissions_; // by process
    bo_info last_;                          // as of the BO's last event, also when it is gone
    bool known_ = false;
    bool destroyed_ = false;
    bool gtt_preferred_ = false; // creation found no room in VRAM: GTT is preferred, too, for good
    bool on_evicted_list_ = false;
    u64 pending_move_from_ = 0;  // domain; 0 for none: a move that the validation after it will tell
    u64 last_use_ns_ = never_ns; // last submission that used it
    u64 arrived_ns_ = 0;         // in the domain where it is
    std::string evicted_why_;    // last eviction from VRAM
    std::string outside_why_;    // last answer to why it is not in VRAM
    std::string outside_key_;    // what makes two answers the same, though their figures differ
    u64 outside_count_ = 0;      // times in a row that it was given
};

} // namespace vramlab::report
