"""What users see of objects: HTML of notebooks, small pictures, short descriptions of arrays."""
