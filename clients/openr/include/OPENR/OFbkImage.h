// One band of one layer of a camera image.
//
// A row of layer H holds Y, Y_LH, Y_HL, Y_HH, Cr, Cb side by side; a row of M or L holds Y, Cr, Cb; a row of C holds
// the colour-detection bits. The last row's first bytes carry a tag: field counter, and how often each colour was seen.
#ifndef NUTMEG_OPENR_OFBKIMAGE_H
#define NUTMEG_OPENR_OFBKIMAGE_H

#include <OPENR/ODataFormats.h>

typedef longword OFbkImageBand;
const OFbkImageBand ofbkimageBAND_Y = 0;
const OFbkImageBand ofbkimageBAND_Cr = 1;
const OFbkImageBand ofbkimageBAND_Cb = 2;
const OFbkImageBand ofbkimageBAND_CDT = 3;
const OFbkImageBand ofbkimageBAND_Y_LH = 4;
const OFbkImageBand ofbkimageBAND_Y_HL = 5;
const OFbkImageBand ofbkimageBAND_Y_HH = 6;

class OFbkImage {
public:
    OFbkImage(OFbkImageInfo* info, byte* data, OFbkImageBand band);

    bool IsValid() const { return image_ != 0; }
    byte* Pointer() const { return image_; }
    int Width() const { return width_; }
    int Height() const { return height_; }
    int Skip() const { return skip_; }
    byte Pixel(int x, int y) const { return Row(y)[x]; }

    word FieldCounter() const { return static_cast<word>(Tag()[0] | Tag()[1] << 8); }
    byte ColorFrequency(OCdtChannel channel) const;

private:
    const byte* Row(int y) const { return image_ + (width_ + skip_) * y; }
    const byte* Tag() const { return Row(height_ - 1); }

    byte* image_;
    int width_;
    int height_;
    int skip_;
};

#endif
