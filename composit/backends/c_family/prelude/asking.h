// Who is asked if long work is to go on.
#pragma once

// False: the work is to end at once; nobody reads its results. Null: there is nobody to ask. Of the
// module: whoever loads it may set it.
typedef bool (*GoesOn)();
static GoesOn module_goes_on = nullptr;
