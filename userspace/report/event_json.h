// SPDX-License-Identifier: MIT
// Events as JSON Lines: one object a line, {"t": ns, "type": name, ...}; fields that are zero are left out.
// The names are those of struct events::event.
#pragma once

#include "events/event.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace vramlab::report {

const char *event_type_name(events::event_type t);

// Appends one line.
void append_event_json(std::string &out, const events::event &e);

// Writes each event to f, which the caller owns and closes, through a buffer of its own: flush() when done.
// Errors are sticky: check ok().
class event_writer final : public events::event_sink {
public:
    explicit event_writer(std::FILE *f) : f_(f) {}
    void record(const events::event &e) override;
    bool flush();
    bool ok() const { return ok_; }

private:
    std::FILE *f_;
    std::string buffer_;
    bool ok_ = true;
};

// Hands each event to all of several sinks.
class event_tee final : public events::event_sink {
public:
    void add(events::event_sink *sink) { sinks_.push_back(sink); }
    void record(const events::event &e) override
    {
        for (events::event_sink *s : sinks_)
            s->record(e);
    }
    bool wants_skipped() const override
    {
        return std::any_of(sinks_.begin(), sinks_.end(),
                           [](const events::event_sink *s) { return s->wants_skipped(); });
    }

private:
    std::vector<events::event_sink *> sinks_;
};

} // namespace vramlab::report
