"""From the generated declarations to a loaded library: finding it, calling it checked, owning what it hands out."""
