## How the kernels that make a W pack it: see `layout.Packing`.

## The number of columns, padded, of which rows i .. i + width - 1 of W take a part.
<%def name="columns(width, products)">\
${f"MIN(i + {width}, (dim + 7) / 8 * 8)" if products else f"MIN(i + {width}, dim)"}\
</%def>

## Declares the column j and the row of W that number e of rows i .. i + width - 1 is. Products of matrices take 8 rows and
## 8 columns at a time: lane l of a warp takes those in row l / 4 and columns l % 4 + {0, 4}.
<%def name="place(width, products)">\
% if products:
const int j = e / ${8 * width} * 8 + e / 2 % 4 + e % 2 * 4, row = i + e % ${8 * width} / 64 * 8 + e / 8 % 8;\
% else:
const int j = e / ${width}, row = i + e % ${width};\
% endif
</%def>
