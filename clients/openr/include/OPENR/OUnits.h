// OPEN-R counts in millionths: of a metre, a radian, a newton, a degree Celsius.
#ifndef NUTMEG_OPENR_OUNITS_H
#define NUTMEG_OPENR_OUNITS_H

#include <Types.h>

typedef slongword Length;
typedef slongword Mass;
typedef slongword Angle;
typedef slongword Temperature;
typedef slongword Velocity;
typedef slongword Acceleration;
typedef slongword AngularVelocity;
typedef slongword Force;
typedef slongword Percentage;

const slongword oradiansPI = 3141592;
const slongword oradiansPI_2 = 1570796;
const slongword oradiansPI_4 = 785398;

inline slongword micro(double value) { return static_cast<slongword>(value * 1e6); }
inline double radians(double degree) { return degree * (3.14159265358979323846 / 180.0); }
inline double degrees(double radian) { return radian * (180.0 / 3.14159265358979323846); }
inline slongword oradians(double degree) { return micro(radians(degree)); }

#endif
