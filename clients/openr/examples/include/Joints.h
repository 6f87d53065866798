// Joints of an AIBO for the examples: opening, gains, reading, and command vectors of eight-millisecond frames.
#pragma once

#include <OPENR/ODataFormats.h>
#include <OPENR/OPENRAPI.h>
#include <OPENR/OSyslog.h>
#include <OPENR/RCRegion.h>

#include <string>
#include <vector>

// Whether the robot is an ERS-7; otherwise it is an ERS-210.
inline bool is_ers7() {
    char design[orobotdesignNAME_MAX + 1] = "";
    OPENR::GetRobotDesign(design);
    return std::string(design) == "ERS-7";
}

// Legs in the order left front, left rear, right front, right rear, each J1 (swing, positive away from the middle of
// the body), J2 (out to the side) and J3 (knee); then the neck: tilt, pan, nod (ERS-210: roll).
inline const std::vector<std::string>& aibo_locators() {
    static const std::vector<std::string> ers7 = {
        "PRM:/r2/c1-Joint2:21", "PRM:/r2/c1/c2-Joint2:22", "PRM:/r2/c1/c2/c3-Joint2:23",
        "PRM:/r3/c1-Joint2:31", "PRM:/r3/c1/c2-Joint2:32", "PRM:/r3/c1/c2/c3-Joint2:33",
        "PRM:/r4/c1-Joint2:41", "PRM:/r4/c1/c2-Joint2:42", "PRM:/r4/c1/c2/c3-Joint2:43",
        "PRM:/r5/c1-Joint2:51", "PRM:/r5/c1/c2-Joint2:52", "PRM:/r5/c1/c2/c3-Joint2:53",
        "PRM:/r1/c1-Joint2:11", "PRM:/r1/c1/c2-Joint2:12", "PRM:/r1/c1/c2/c3-Joint2:13"};
    static const std::vector<std::string> ers210 = {
        "PRM:/r2/c1-Joint2:j1", "PRM:/r2/c1/c2-Joint2:j2", "PRM:/r2/c1/c2/c3-Joint2:j3",
        "PRM:/r3/c1-Joint2:j1", "PRM:/r3/c1/c2-Joint2:j2", "PRM:/r3/c1/c2/c3-Joint2:j3",
        "PRM:/r4/c1-Joint2:j1", "PRM:/r4/c1/c2-Joint2:j2", "PRM:/r4/c1/c2/c3-Joint2:j3",
        "PRM:/r5/c1-Joint2:j1", "PRM:/r5/c1/c2-Joint2:j2", "PRM:/r5/c1/c2/c3-Joint2:j3",
        "PRM:/r1/c1-Joint2:j1", "PRM:/r1/c1/c2-Joint2:j2", "PRM:/r1/c1/c2/c3-Joint2:j3"};
    return is_ers7() ? ers7 : ers210;
}

const int LEG_JOINTS = 12;
const int NECK_TILT = 12;
const int NECK_PAN = 13;
const int NECK_NOD = 14;

// The first `frames` frames of the straight way from one pose to another that takes `all` frames.
inline std::vector<std::vector<double>> even_way(const std::vector<double>& from, const std::vector<double>& to,
                                                 int frames, int all) {
    std::vector<std::vector<double>> poses;
    for (int frame = 1; frame <= frames; ++frame) {
        std::vector<double> pose;
        for (size_t j = 0; j < from.size(); ++j) pose.push_back(from[j] + (to[j] - from[j]) * frame / all);
        poses.push_back(pose);
    }
    return poses;
}

class Joints {
public:
    // Opens these joints and makes `vectors` command vectors for them.
    void open(const std::vector<std::string>& locators, int vectors) {
        for (const std::string& locator : locators) {
            OPrimitiveID id = oprimitiveID_UNDEF;
            const OStatus status = OPENR::OpenPrimitive(locator.c_str(), &id);
            if (status != oSUCCESS) OSYSLOG1((osyslogERROR, "cannot open %s: status %d", locator.c_str(), status));
            ids_.push_back(id);
        }
        for (int i = 0; i < vectors; ++i) {
            MemoryRegionID memory;
            OCommandVectorData* vector;
            OPENR::NewCommandVectorData(ids_.size(), &memory, &vector);
            vector->SetNumData(ids_.size());
            regions_.push_back(new RCRegion(vector->vectorInfo.memRegionID, vector->vectorInfo.offset, vector,
                                            vector->vectorInfo.totalSize));
        }
    }

    int size() const { return static_cast<int>(ids_.size()); }
    OPrimitiveID id(int joint) const { return ids_[static_cast<size_t>(joint)]; }

    // Where the joints are [rad].
    std::vector<double> angles() const {
        std::vector<double> result;
        for (const OPrimitiveID id : ids_) {
            OJointValue value;
            result.push_back(OPENR::GetJointValue(id, &value) == oSUCCESS ? value.value / 1e6 : 0.0);
        }
        return result;
    }

    void use_standard_gains() {
        for (const OPrimitiveID id : ids_) {
            OPENR::EnableJointGain(id);
            OPENR::SetDefaultJointGain(id);
        }
    }

    // A vector that leads from one pose to another [rad] in `frames` frames; null while all vectors are under way.
    RCRegion* move(const std::vector<double>& from, const std::vector<double>& to, int frames = 16) {
        return follow(even_way(from, to, frames, frames));
    }

    // A vector with a pose for each frame [rad]; null while all vectors are under way.
    RCRegion* follow(const std::vector<std::vector<double>>& poses) {
        for (RCRegion* region : regions_) {
            if (region->NumberOfReference() != 1) continue;
            auto* vector = reinterpret_cast<OCommandVectorData*>(region->Base());
            for (int joint = 0; joint < size(); ++joint) {
                const size_t j = static_cast<size_t>(joint);
                vector->GetInfo(joint)->Set(odataJOINT_COMMAND2, ids_[j], poses.size());
                auto* values = reinterpret_cast<OJointCommandValue2*>(vector->GetData(joint)->value);
                for (size_t frame = 0; frame < poses.size(); ++frame) values[frame].value = micro(poses[frame][j]);
            }
            return region;
        }
        return nullptr;
    }

private:
    std::vector<OPrimitiveID> ids_;
    std::vector<RCRegion*> regions_;
};

// The crouch in which the simulated robots start: all legs bent, the body level.
inline std::vector<double> crouch() {
    return {-0.45, 0.2, 1.67, -0.75, 0.12, 1.965, -0.45, 0.2, 1.67, -0.75, 0.12, 1.965, -0.35, 0.0, 0.3};
}
