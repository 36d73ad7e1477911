// The send buffer's search for a segment that is sent again, in linear time.
#pragma once

// The library's own search walks the list of sent segments and, at each one, looks for its place in the
// list from the start. With a thousand segments in flight that takes milliseconds for each segment that is
// sent again, and nearly all of a run's time. After this call another search comes first: it returns the
// same segment in the plain case, and leaves merging and splitting segments to the library's. Results are
// the same to the byte (tests/simulator). Does nothing where a program may not change code that it loaded.
void SearchInLinearTime();
