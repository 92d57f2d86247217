// SPDX-License-Identifier: MIT
#include "calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vramlab::calibration {

namespace {

constexpr std::size_t column_count = 11;   // of the first look along the second scalar
constexpr u32 inner_trials_max = 24;       // of the first scalar for one value of the second
constexpr u32 step_trials_max = 60;        // of steps in all directions
constexpr u64 first_step_denominator = 16; // of a range

class search {
public:
    search(const fit_problem &p, const model_fn &model) : p_(p), model_(model) {}

    fit_trial trial(const scalars &at) { return trial(at, ask(0, at)); }

    // The first scalar with which the first datum is reached, or the end of its range that is nearest to
    // that.
    fit_trial column(u64 second)
    {
        u64 low = p_.first[0];
        u64 high = p_.last[0];
        double low_off = off(low, second);
        if (low_off >= -p_.close_enough / 4)
            return trial({low, second}, low_off + p_.wanted[0]);
        double high_off = off(high, second);
        if (high_off <= p_.close_enough / 4)
            return trial({high, second}, high_off + p_.wanted[0]);
        u64 at = low;
        double at_off = low_off;
        int kept = 0; // which end has stayed: its weight is halved (Illinois), so that both close in
        for (u32 i = 0; i < inner_trials_max && high - low > 1; i++) {
            const double share = low_off / (low_off - high_off);
            at = std::clamp(low + static_cast<u64>(share * static_cast<double>(high - low)), low + 1,
                            high - 1);
            const double now = off(at, second);
            at_off = now;
            if (std::fabs(now) <= p_.close_enough / 4)
                break;
            if (now < 0) {
                low = at;
                low_off = now;
                high_off /= kept > 0 ? 2 : 1;
                kept = 1;
            } else {
                high = at;
                high_off = now;
                low_off /= kept < 0 ? 2 : 1;
                kept = -1;
            }
        }
        return trial({at, second}, at_off + p_.wanted[0]);
    }

    double second_off(const fit_trial &t) const { return t.got[1] - p_.wanted[1]; }
    bool reached(const fit_trial &t) const
    {
        return std::fabs(t.got[0] - p_.wanted[0]) <= p_.close_enough &&
               std::fabs(second_off(t)) <= p_.close_enough;
    }
    std::size_t runs() const { return runs_; }
    const fit_problem &problem() const { return p_; }

private:
    double ask(std::size_t datum, const scalars &at)
    {
        runs_++;
        return model_(datum, at);
    }
    double off(u64 first, u64 second) { return ask(0, {first, second}) - p_.wanted[0]; }
    // first_got: the first datum, which is known
    fit_trial trial(const scalars &at, double first_got)
    {
        fit_trial t{at, {first_got, ask(1, at)}, 0};
        for (std::size_t i = 0; i < 2; i++)
            t.misfit += (t.got[i] - p_.wanted[i]) * (t.got[i] - p_.wanted[i]);
        return t;
    }

    const fit_problem &p_;
    const model_fn &model_;
    std::size_t runs_ = 0;
};

void keep_better(fit_trial &best, const fit_trial &t)
{
    if (t.misfit < best.misfit)
        best = t;
}

// Between two columns on both sides of the second datum.
fit_trial bisect(search &s, fit_trial a, fit_trial b)
{
    fit_trial best = a.misfit <= b.misfit ? a : b;
    while (b.at[1] - a.at[1] > 1 && !s.reached(best)) {
        const fit_trial middle = s.column(a.at[1] + (b.at[1] - a.at[1]) / 2);
        keep_better(best, middle);
        ((s.second_off(middle) < 0) == (s.second_off(a) < 0) ? a : b) = middle;
    }
    return best;
}

// A step of `by` from `at` towards one side, within the range.
u64 stepped(u64 at, u64 by, bool up, u64 first, u64 last)
{
    return up ? at + std::min(by, last - at) : at - std::min(by, at - first);
}

// Steps in all four directions, shorter ones where none is better.
fit_trial descend(search &s, fit_trial best)
{
    const fit_problem &p = s.problem();
    scalars step;
    for (std::size_t i = 0; i < 2; i++)
        step[i] = std::max<u64>(1, (p.last[i] - p.first[i]) / first_step_denominator);
    for (u32 trials = 0; trials < step_trials_max && (step[0] > 1 || step[1] > 1);) {
        const fit_trial from = best;
        for (std::size_t i = 0; i < 2; i++)
            for (const bool up : {false, true}) {
                scalars at = from.at;
                at[i] = stepped(at[i], step[i], up, p.first[i], p.last[i]);
                if (at == from.at)
                    continue;
                keep_better(best, s.trial(at));
                trials++;
            }
        if (best.misfit < from.misfit)
            continue;
        for (u64 &width : step)
            width = std::max<u64>(1, width / 2);
    }
    return best;
}

} // namespace

void one_by_one(std::size_t count, const std::function<void(std::size_t)> &work)
{
    for (std::size_t i = 0; i < count; i++)
        work(i);
}

fit_result fit(const fit_problem &problem, const model_fn &model, const for_all_fn &for_all)
{
    const u64 first = problem.first[1];
    const u64 width = problem.last[1] - first;
    const std::size_t columns = static_cast<std::size_t>(std::min<u64>(column_count, width + 1));
    std::vector<fit_trial> look(columns);
    std::vector<std::size_t> runs(columns);
    for_all(columns, [&](std::size_t i) {
        search s(problem, model);
        look[i] = s.column(columns > 1 ? first + width * i / (columns - 1) : first);
        runs[i] = s.runs();
    });
    search s(problem, model);
    fit_result r;
    r.best = look[0];
    for (const fit_trial &t : look)
        keep_better(r.best, t);
    for (std::size_t i = 1; i < columns && !s.reached(r.best); i++)
        if ((s.second_off(look[i - 1]) < 0) != (s.second_off(look[i]) < 0))
            keep_better(r.best, bisect(s, look[i - 1], look[i]));
    if (!s.reached(r.best))
        r.best = descend(s, r.best);
    r.reached = s.reached(r.best);
    r.runs = s.runs();
    for (const std::size_t n : runs)
        r.runs += n;
    return r;
}

} // namespace vramlab::calibration
