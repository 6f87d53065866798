// From the three planes of a picture to the vector of layers that OPEN-R programs see: H, M, L and the colours found.
#ifndef NUTMEG_OPENR_IMAGE_LAYERS_H
#define NUTMEG_OPENR_IMAGE_LAYERS_H

#include <OPENR/ODataFormats.h>

#include <mutex>
#include <vector>

#include "robot_link.h"

namespace nutmeg::openr {

// The colour detection tables that a program has set; shared by all objects.
class ColourTables {
public:
    void set(const OCdtVectorData& tables);
    // For each pixel, one bit per channel whose box holds its colour.
    Bytes detect(const Bytes& y, const Bytes& cr, const Bytes& cb) const;

private:
    mutable std::mutex mutex_;
    std::vector<OCdtInfo> tables_;
};
ColourTables& colour_tables();

size_t image_vector_size(longword width, longword height);
// Lays out an empty vector (offsets, sizes, types) in memory of image_vector_size bytes.
void lay_out_image_vector(OFbkImageVectorData& vector, longword width, longword height);
void fill_image_vector(OFbkImageVectorData& vector, const Picture& picture);

}  // namespace nutmeg::openr

#endif
