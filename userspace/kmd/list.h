// SPDX-License-Identifier: MIT
// Models include/linux/list.h: circular doubly linked intrusive lists. An element inherits list_head (once)
// and is got back with a static_cast; lists neither own nor count their elements.
#pragma once

#include "base/types.h"

namespace vramlab::kmd {

struct list_head {
    list_head *next = this;
    list_head *prev = this;

    list_head() = default;
    list_head(const list_head &) = delete;
    list_head &operator=(const list_head &) = delete;
};

inline bool list_empty(const list_head &head)
{
    return head.next == &head;
}
inline bool list_is_last(const list_head &entry, const list_head &head)
{
    return entry.next == &head;
}
inline bool list_is_singular(const list_head &head)
{
    return !list_empty(head) && head.next == head.prev;
}

inline void list_insert_between(list_head &entry, list_head &prev, list_head &next)
{
    next.prev = &entry;
    entry.next = &next;
    entry.prev = &prev;
    prev.next = &entry;
}
// After head.
inline void list_add(list_head &entry, list_head &head)
{
    list_insert_between(entry, head, *head.next);
}
// Before head.
inline void list_add_tail(list_head &entry, list_head &head)
{
    list_insert_between(entry, *head.prev, head);
}
inline void list_del_init(list_head &entry)
{
    entry.next->prev = entry.prev;
    entry.prev->next = entry.next;
    entry.next = entry.prev = &entry;
}
inline void list_move(list_head &entry, list_head &head)
{
    entry.next->prev = entry.prev;
    entry.prev->next = entry.next;
    list_add(entry, head);
}
inline void list_move_tail(list_head &entry, list_head &head)
{
    entry.next->prev = entry.prev;
    entry.prev->next = entry.next;
    list_add_tail(entry, head);
}
// Moves first..last, which adjoin in that order, before head.
inline void list_bulk_move_tail(list_head &head, list_head &first, list_head &last)
{
    first.prev->next = last.next;
    last.next->prev = first.prev;

    head.prev->next = &first;
    first.prev = head.prev;

    last.next = &head;
    head.prev = &last;
}
inline u32 list_count_nodes(const list_head &head)
{
    u32 n = 0;
    for (const list_head *e = head.next; e != &head; e = e->next)
        n++;
    return n;
}

} // namespace vramlab::kmd
