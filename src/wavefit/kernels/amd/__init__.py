"""What one AMD code object says: its target, its metadata, its descriptors, and the Kernel out of them."""
