// A list with room for MaxSize items.
#ifndef NUTMEG_OPENR_OLIST_H
#define NUTMEG_OPENR_OLIST_H

#include <OPENR/ODebug.h>
#include <OPENR/OTLStatus.h>

#include <list>

template <class T, int MaxSize>
class OList {
public:
    class Iterator {
    public:
        Iterator() {}
        bool operator==(const Iterator& other) const { return at_ == other.at_; }
        bool operator!=(const Iterator& other) const { return at_ != other.at_; }
        T& operator*() { return *at_; }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        Iterator& operator--() {
            --at_;
            return *this;
        }
        Iterator operator++(int) { return Iterator(at_++); }
        Iterator operator--(int) { return Iterator(at_--); }

    private:
        friend class OList<T, MaxSize>;
        explicit Iterator(typename std::list<T>::iterator at) : at_(at) {}
        typename std::list<T>::iterator at_;
    };

    OTLStatus PushFront(const T& item) { return Insert(Begin(), item); }
    OTLStatus PushBack(const T& item) { return Insert(End(), item); }
    OTLStatus PopFront() { return items_.empty() ? otlUNDERFLOW : Erase(Begin()); }
    OTLStatus PopBack() { return items_.empty() ? otlUNDERFLOW : Erase(--End()); }
    T& Front() { return items_.empty() ? Nothing() : items_.front(); }
    T& Back() { return items_.empty() ? Nothing() : items_.back(); }
    void Clear() { items_.clear(); }
    int GetSize() { return static_cast<int>(items_.size()); }
    int GetMaxSize() { return MaxSize; }
    Iterator Begin() { return Iterator(items_.begin()); }
    Iterator End() { return Iterator(items_.end()); }
    OTLStatus Insert(Iterator before, const T& item) {
        if (GetSize() >= MaxSize) return otlOVERFLOW;
        items_.insert(before.at_, item);
        return otlSUCCESS;
    }
    OTLStatus Erase(Iterator which) {
        if (which == End()) return otlFAIL;
        items_.erase(which.at_);
        return otlSUCCESS;
    }

private:
    T& Nothing() {
        nothing_ = T();
        return nothing_;
    }
    std::list<T> items_;
    T nothing_;
};

#endif
