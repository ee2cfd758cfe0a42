// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Intrusive doubly linked lists: linking and unlinking never allocate. A type that is on several
// lists at once derives from one ListNode for each, told apart by a tag.

namespace odrc {

template <class Tag = void>
struct ListNode {
    ListNode* next{nullptr};
    ListNode* prev{nullptr};
    bool linked() const noexcept { return next != nullptr; }
};

template <class T, class Tag = void>
class List {
    using Node = ListNode<Tag>;

public:
    List() noexcept { head_.next = head_.prev = &head_; }
    List(const List&) = delete;
    List& operator=(const List&) = delete;

    bool empty() const noexcept { return head_.next == &head_; }
    T* front() const noexcept { return empty() ? nullptr : item(head_.next); }
    T* after(T& t) const noexcept {
        Node* n = static_cast<Node&>(t).next;
        return n == &head_ ? nullptr : item(n);
    }

    void push_back(T& t) noexcept { insert(static_cast<Node&>(t), head_); }
    void push_front(T& t) noexcept { insert(static_cast<Node&>(t), *head_.next); }

    static void insert_before(T& t, T& behind) noexcept {
        insert(static_cast<Node&>(t), static_cast<Node&>(behind));
    }

    T* pop_front() noexcept {
        T* t = front();
        if (t) erase(*t);
        return t;
    }

    static void erase(T& t) noexcept {
        Node& n = t;
        n.prev->next = n.next;
        n.next->prev = n.prev;
        n.next = n.prev = nullptr;
    }

private:
    static T* item(Node* n) noexcept { return static_cast<T*>(n); }

    static void insert(Node& n, Node& before) noexcept {
        n.next = &before;
        n.prev = before.prev;
        before.prev->next = &n;
        before.prev = &n;
    }

    Node head_;
};

} // namespace odrc
