// What the compiler of the robot's SDK (gcc 3.3) brought in with its own headers, and sources of the time rely on.
// `openr_build.py` includes it before every source of the older languages.
#ifndef NUTMEG_OPENR_OLD_INCLUDES_H
#define NUTMEG_OPENR_OLD_INCLUDES_H

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#endif
