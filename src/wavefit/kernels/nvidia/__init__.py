"""What the readers of NVIDIA formats share: the records of `.nv.info`, targets, LZ4 blocks."""
