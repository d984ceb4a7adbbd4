## Reductions over the threads of a block, which all get the result; `parts` has a number for each thread.
<%def name="functions(threads)">\
% for name, combined in (("total", "{0} + {1}"), ("least", "fmin({0}, {1})"), ("greatest", "fmax({0}, {1})")):
DEVICE double ${name}(SHARED double *parts, double own)
{
    parts[THREAD] = own;
    for (int width = ${threads // 2}; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            parts[THREAD] = ${combined.format("parts[THREAD]", "parts[THREAD + width]")};
    }
    BARRIER();
    own = parts[0];
    BARRIER();  // before the next one's parts
    return own;
}

% endfor
</%def>
