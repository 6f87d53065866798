#include "image_layers.h"

#include <OPENR/OFbkImage.h>

#include <algorithm>
#include <cstring>

namespace nutmeg::openr {

namespace {

const int LAYERS = 4;
const byte FLAT = 128;  // a band of detail without detail

longword layer_width(int layer, longword width) { return layer == ofbkimageLAYER_C ? width : width >> layer; }

longword bands_of(ODataType type) { return type == odataFBK_YCrCb_HPF ? 6 : type == odataFBK_YCrCb ? 3 : 1; }

ODataType type_of(int layer) {
    return layer == ofbkimageLAYER_H ? odataFBK_YCrCb_HPF : layer == ofbkimageLAYER_C ? odataFBK_CDT : odataFBK_YCrCb;
}

// A plane at half size, each pixel the mean of four.
Bytes halved(const Bytes& plane, longword width, longword height) {
    Bytes half(static_cast<size_t>(width / 2) * (height / 2));
    for (longword y = 0; y < height / 2; ++y) {
        const unsigned char* upper = plane.data() + static_cast<size_t>(2 * y) * width;
        const unsigned char* lower = upper + width;
        for (longword x = 0; x < width / 2; ++x) {
            const int sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
            half[static_cast<size_t>(y) * (width / 2) + x] = static_cast<unsigned char>((sum + 2) / 4);
        }
    }
    return half;
}

void put_band(OFbkImageVectorData& vector, int layer, OFbkImageBand band, const Bytes& plane) {
    OFbkImage image(vector.GetInfo(layer), vector.GetData(layer), band);
    const size_t width = static_cast<size_t>(image.Width());
    for (int y = 0; y < image.Height(); ++y) {
        byte* row = image.Pointer() + (image.Width() + image.Skip()) * y;
        if (plane.empty()) {
            std::memset(row, FLAT, width);
        } else {
            std::memcpy(row, plane.data() + static_cast<size_t>(y) * width, width);
        }
    }
}

// How often each colour was found, in units of 16 pixels, where the tag has it.
void count_colours(const Bytes& found, byte tag[12]) {
    size_t counts[ocdtNUM_CHANNELS] = {};
    for (const unsigned char bits : found) {
        for (int channel = 0; channel < ocdtNUM_CHANNELS; ++channel) counts[channel] += bits >> channel & 1;
    }
    for (int channel = 0; channel < ocdtNUM_CHANNELS; ++channel) {
        const int place = channel < 4 ? 8 + channel : channel;
        tag[place] = static_cast<byte>(std::min<size_t>(counts[channel] / 16, 255));
    }
}

void put_tag(OFbkImageVectorData& vector, int layer, OFbkImageBand band, const byte tag[12]) {
    OFbkImage image(vector.GetInfo(layer), vector.GetData(layer), band);
    std::memcpy(image.Pointer() + (image.Width() + image.Skip()) * (image.Height() - 1), tag, 12);
}

}  // namespace

void ColourTables::set(const OCdtVectorData& tables) {
    std::lock_guard<std::mutex> lock(mutex_);
    const longword count = std::min<longword>(tables.vectorInfo.numData, ocdtNUM_CHANNELS);
    for (longword i = 0; i < count; ++i) {
        const OCdtInfo& added = tables.info[i];
        const auto same = std::find_if(tables_.begin(), tables_.end(),
                                       [&added](const OCdtInfo& table) { return table.channel == added.channel; });
        if (same == tables_.end()) {
            tables_.push_back(added);
        } else {
            *same = added;
        }
    }
}

Bytes ColourTables::detect(const Bytes& y, const Bytes& cr, const Bytes& cb) const {
    std::lock_guard<std::mutex> lock(mutex_);
    Bytes found(y.size(), 0);
    for (const OCdtInfo& table : tables_) {
        for (size_t i = 0; i < y.size(); ++i) {
            const longword box = table.table[y[i] >> 3];
            if (box == ocdtINIT) continue;
            const bool inside = cr[i] >= (box & 0xff) && cr[i] <= (box >> 8 & 0xff) && cb[i] >= (box >> 16 & 0xff) &&
                                cb[i] <= (box >> 24 & 0xff);
            if (inside) found[i] = static_cast<unsigned char>(found[i] | table.channel);
        }
    }
    return found;
}

ColourTables& colour_tables() {
    static ColourTables the_tables;
    return the_tables;
}

size_t image_vector_size(longword width, longword height) {
    size_t size = sizeof(ODataVectorInfo) + LAYERS * sizeof(OFbkImageInfo);
    for (int layer = 0; layer < LAYERS; ++layer) {
        size += static_cast<size_t>(layer_width(layer, width)) * layer_width(layer, height) * bands_of(type_of(layer));
    }
    return size;
}

void lay_out_image_vector(OFbkImageVectorData& vector, longword width, longword height) {
    longword offset = sizeof(ODataVectorInfo) + LAYERS * sizeof(OFbkImageInfo);
    for (int layer = 0; layer < LAYERS; ++layer) {
        OFbkImageInfo& info = *vector.GetInfo(layer);
        info.type = type_of(layer);
        info.primitiveID = oprimitiveID_UNDEF;
        info.width = layer_width(layer, width);
        info.height = layer_width(layer, height);
        info.dataOffset = offset;
        info.dataSize = info.width * info.height * bands_of(info.type);
        offset += info.dataSize;
    }
    ODataVectorInfo& head = vector.vectorInfo;
    head.type = odataFBKIMAGE_VECTOR;
    head.totalSize = offset;
    head.infoOffset = sizeof(ODataVectorInfo);
    head.infoSize = sizeof(OFbkImageInfo);
    head.maxNumData = head.numData = LAYERS;
    head.syncKey = ovrsynckeyUNDEF;
}

void fill_image_vector(OFbkImageVectorData& vector, const Picture& picture) {
    const longword width = picture.info.width;
    const longword height = picture.info.height;
    const Bytes found = colour_tables().detect(picture.planes[0], picture.planes[1], picture.planes[2]);
    byte tag[12] = {static_cast<byte>(picture.field_counter), static_cast<byte>(picture.field_counter >> 8)};
    count_colours(found, tag);
    for (int layer = 0; layer < LAYERS; ++layer) {
        vector.GetInfo(layer)->primitiveID = picture.info.primitiveID;
        vector.GetInfo(layer)->frameNumber = picture.info.frameNumber;
    }
    for (OFbkImageBand band = ofbkimageBAND_Y; band <= ofbkimageBAND_Cb; ++band) {
        const Bytes& full = picture.planes[band];
        const Bytes half = halved(full, width, height);
        put_band(vector, ofbkimageLAYER_H, band, full);
        put_band(vector, ofbkimageLAYER_M, band, half);
        put_band(vector, ofbkimageLAYER_L, band, halved(half, width / 2, height / 2));
        for (int layer = ofbkimageLAYER_H; layer <= ofbkimageLAYER_L; ++layer) put_tag(vector, layer, band, tag);
    }
    for (OFbkImageBand band = ofbkimageBAND_Y_LH; band <= ofbkimageBAND_Y_HH; ++band) {
        put_band(vector, ofbkimageLAYER_H, band, Bytes());
    }
    put_band(vector, ofbkimageLAYER_C, ofbkimageBAND_CDT, found);
    put_tag(vector, ofbkimageLAYER_C, ofbkimageBAND_CDT, tag);
}

}  // namespace nutmeg::openr

// Which place in a row a band has, or -1 where the layer has no such band.
static int place_of(ODataType type, OFbkImageBand band) {
    if (type == odataFBK_CDT) return band == ofbkimageBAND_CDT ? 0 : -1;
    if (band == ofbkimageBAND_Y) return 0;
    const bool detailed = type == odataFBK_YCrCb_HPF;
    if (band == ofbkimageBAND_Cr || band == ofbkimageBAND_Cb) return static_cast<int>(band) + (detailed ? 3 : 0);
    return detailed && band >= ofbkimageBAND_Y_LH && band <= ofbkimageBAND_Y_HH ? static_cast<int>(band) - 3 : -1;
}

OFbkImage::OFbkImage(OFbkImageInfo* info, byte* data, OFbkImageBand band)
    : image_(nullptr), width_(static_cast<int>(info->width)), height_(static_cast<int>(info->height)), skip_(0) {
    const int place = place_of(info->type, band);
    if (place < 0) return;
    image_ = data + place * width_;
    skip_ = width_ * (static_cast<int>(nutmeg::openr::bands_of(info->type)) - 1);
}

byte OFbkImage::ColorFrequency(OCdtChannel channel) const {
    for (int number = 0; number < ocdtNUM_CHANNELS; ++number) {
        if (channel == 1u << number) return Tag()[number < 4 ? 8 + number : number];
    }
    return 0;
}
