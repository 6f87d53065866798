#include "program.h"

#include <OPENR/OPENRMessages.h>
#include <ObjectEntryTable.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "robot_link.h"

namespace nutmeg::openr {

namespace {

std::string object_name(const std::string& library) {
    const size_t slash = library.rfind('/');
    const std::string file = slash == std::string::npos ? library : library.substr(slash + 1);
    return file.substr(0, file.rfind('.'));
}

Message reason_message(Selector entry, OReason reason, std::shared_ptr<Answer> answer) {
    const OReasonMessage content(reason);
    const auto* first = reinterpret_cast<const unsigned char*>(&content);
    return Message{entry, Bytes(first, first + sizeof(content)), std::move(answer)};
}

}  // namespace

void Program::load(const std::string& library) {
    auto task = std::make_unique<Task>(object_name(library));
    // The object is made while its library is loaded, and asks who it is.
    set_current_task(task.get());
    const std::string path = library.find('/') == std::string::npos ? "./" + library : library;
    void* loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    set_current_task(nullptr);
    if (loaded == nullptr) throw std::runtime_error(std::string("cannot load an object: ") + dlerror());
    auto* table = static_cast<ObjectEntry*>(dlsym(loaded, "ObjectEntryTable"));
    if (table == nullptr) throw std::runtime_error(library + " has no entry table: it was not built with a stub");
    for (; table->selector != UNDEF; ++table) {
        const auto entry = reinterpret_cast<void (*)(void*)>(table->entry);
        task->set_entry(table->selector, entry);
    }
    if (verbose_) std::fprintf(stderr, "runtime: loaded %s\n", task->name().c_str());
    task->start();
    tasks_.push_back(std::move(task));
}

void Program::connect(const std::string& file) {
    std::ifstream lines(file);
    if (!lines) throw std::runtime_error("cannot read the connections in " + file);
    std::string line;
    std::string model;  // [ERS-210] begins lines for that robot only
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line);
        std::string subject;
        std::string observer;
        if (!(words >> subject) || subject[0] == '#' || subject.rfind("//", 0) == 0) continue;
        if (subject[0] == '[') {
            model = subject.substr(1, subject.find(']') - 1);
            continue;
        }
        if (!model.empty() && model != robot_link().design().name) continue;
        const std::string where = file + ":" + std::to_string(number);
        if (!(words >> observer)) throw std::runtime_error(where + " names a subject and no observer");
        connect_pair(subject, observer, where);
    }
}

void Program::connect_pair(const std::string& subject, const std::string& observer, const std::string& where) {
    const OServiceEntry* from = services().find(subject);
    const OServiceEntry* to = services().find(observer);
    if (from == nullptr || to == nullptr) {
        const std::string& missing = from == nullptr ? subject : observer;
        std::fprintf(stderr, "runtime: %s is skipped: no object here offers %s\n", where.c_str(), missing.c_str());
        return;
    }
    OConnectMessage message(oconnectcmdCONNECT);
    message.entry = *from;
    std::strncpy(message.subName, subject.c_str(), sizeof(message.subName) - 1);
    message.subName[sizeof(message.subName) - 1] = 0;
    Call(to->oid, to->selector, &message, sizeof(message));
    if (verbose_) std::fprintf(stderr, "runtime: connected %s to %s\n", subject.c_str(), observer.c_str());
}

void Program::send_all(Selector entry, OReason reason) {
    const auto limit = reason == oreasonBOOT ? std::chrono::hours(24) : std::chrono::seconds(1);
    for (const auto& task : tasks_) {
        auto answer = std::make_shared<Answer>();
        task->post(reason_message(entry, reason, answer));
        answer->wait_for(limit);
    }
}

}  // namespace nutmeg::openr
