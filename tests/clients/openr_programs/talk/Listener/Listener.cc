#include "Listener.h"
#include <OPENR/OSyslog.h>
#include <OPENR/core_macro.h>
#include <fstream>

OStatus Listener::DoInit(const OSystemEvent& event) {
    NEW_ALL_SUBJECT_AND_OBSERVER;
    REGISTER_ALL_ENTRY;
    SET_ALL_READY_AND_NOTIFY_ENTRY;
    kept = 0;
    return oSUCCESS;
}

OStatus Listener::DoStart(const OSystemEvent& event) {
    char word[16] = "";
    FILE* file = fopen("/ms/open-r/mw/data/p/count.txt", "r");
    if (file != 0 && fscanf(file, "%15s", word) == 1) OSYSPRINT(("the stick says %s\n", word));
    if (file != 0) fclose(file);
    std::ofstream heard("/MS/OPEN-R/MW/DATA/P/HEARD.TXT");
    heard << "heard\n";
    ASSERT_READY_TO_ALL_OBSERVER;
    return oSUCCESS;
}

OStatus Listener::DoStop(const OSystemEvent& event) {
    DEASSERT_READY_TO_ALL_OBSERVER;
    return oSUCCESS;
}

// Keeps the second region until the fourth message: meanwhile the speaker has one region only.
void Listener::Notify(const ONotifyEvent& event) {
    int number = *(const int*)event.Data(0);
    OSYSPRINT(("heard %d of %d\n", number, event.NumOfData()));
    if (number == 2) {
        kept = event.RCData(0);
        kept->AddReference();
    }
    if (number == 4) kept->RemoveReference();
    observer[event.ObsIndex()]->AssertReady();
}
