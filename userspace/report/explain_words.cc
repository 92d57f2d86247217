// SPDX-License-Identifier: MIT
// The wording of explanations: who, why, and the conclusion.
#include "report/explain.h"

#include "base/request.h"
#include "report/format.h"

#include <fmt/format.h>

namespace vramlab::report {

using events::event;

namespace {

std::string counted(u64 n, const char *what)
{
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string skipping(const std::unordered_map<u64, std::string_view> &skipped)
{
    return skipped.empty() ? "" : "skipping " + skipped_words(skipped);
}

std::string joined(const std::string &a, const std::string &b)
{
    return a.empty() || b.empty() ? a + b : a + ", " + b;
}

} // namespace

bool explainer::is_private() const
{
    return last_.flags & bo_vm_private;
}

std::string explainer::of_process(u32 process, u64 bo) const
{
    const operation_info &op = bos_.operation(process);
    std::string s = bo             ? fmt::format("BO {}", bo)
                    : op.under_way ? std::string(op.name)
                                   : "the system's own doing";
    if (!bo)
        return s;
    if (const auto it = bos_.bos().find(bo); it != bos_.bos().end())
        s += fmt::format(" ({} of {}{})", format_bytes(it->second.size_bytes), names_(it->second.process),
                         bos_.is_scanout(bo, process) ? ", scanout" : "");
    if (op.under_way)
        s += fmt::format(" in {}'s {}", names_(process), op.name);
    return s;
}

// What making room for our BO took.
std::string explainer::walk_words(const walk &w) const
{
    std::string s;
    if (w.evicted)
        s = fmt::format("evicting {} ({})", counted(w.evicted, "BO"), format_bytes(w.evicted_bytes));
    return joined(s, skipping(w.skipped));
}

// What came before our BO when it was the victim.
std::string explainer::victim_words(const walk &w) const
{
    std::string s;
    if (w.evicted)
        s = fmt::format("after {} ({})", counted(w.evicted, "BO"), format_bytes(w.evicted_bytes));
    return joined(s, skipping(w.skipped));
}

// Why a validation left the BO outside of VRAM although it prefers VRAM.
std::string explainer::why_outside(const event &e, const submission &s, const walk &w, std::string *key) const
{
    const std::string looked = w.evictor == bo_ ? walk_words(w) : "";
    const std::string tried = looked.empty() ? "" : " (" + looked + ")";
    const bool over = s.threshold_bytes != never_ns && s.moved_bytes >= s.threshold_bytes;
    if (e.error) {
        *key = "failed";
        return fmt::format("no room could be made in {}{}", domain_names(e.a), tried);
    }
    if (s.failed_once) {
        *key = "no room";
        return fmt::format("no room could be made in its preferred domains{}, and {} is allowed", tried,
                           domain_names(e.c));
    }
    if (over) {
        *key = "budget";
        const std::string used = s.threshold_bytes
                                     ? fmt::format("is used up ({} of {})", format_bytes(s.moved_bytes),
                                                   format_bytes(s.threshold_bytes))
                                     : std::string("is 0");
        return fmt::format("the submission's move threshold {}, so an allowed domain, {}, suffices unless "
                           "VRAM has room that is "
                           "free",
                           used, domain_names(e.c));
    }
    if (gtt_preferred_ && (e.a & domain_gtt)) {
        *key = "gtt preferred";
        return fmt::format("VRAM has no free room, and {} counts as preferred since creation found no room "
                           "in VRAM: nobody is "
                           "evicted for it",
                           domain_names(e.c));
    }
    *key = "suffices";
    return fmt::format("{} was asked for, and {} suffices while VRAM has no free room", domain_names(e.a),
                       domain_names(e.c));
}

std::string explainer::conclude()
{
    if (!known_)
        return "";
    if (destroyed_)
        return "It does not exist any more.";
    std::string s = fmt::format("It is in {}", domain_names(last_.domain));
    if (last_.domain == domain_vram || !(last_.preferred & domain_vram))
        return s + fmt::format(" since {}.", format_time(arrived_ns_));
    s += last_.left_vram_ns == never_ns
             ? ", and never was in VRAM"
             : fmt::format(" since {}, out of VRAM since {}: {}", format_time(arrived_ns_),
                           format_time(last_.left_vram_ns), evicted_why_);
    if (outside_key_ == "not on the list")
        return s + fmt::format(".\nIt has not come back because the last {} of its VM did not look at it: it "
                               "is not on the "
                               "evicted list.",
                               counted(outside_count_, "submission"));
    if (on_evicted_list_)
        return s +
               ".\nIt has not come back because its VM has not submitted since: it is on the evicted list.";
    if (outside_why_.empty())
        return s + ".\nIt has not come back because no submission has used it since.";
    return s + fmt::format(".\nIt has not come back because {}{}.", outside_why_,
                           outside_count_ > 1 ? fmt::format(" ({} times in a row)", outside_count_) : "");
}

} // namespace vramlab::report
