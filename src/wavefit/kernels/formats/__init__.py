"""One format a file; every module here is imported and registers its reader (see `wavefit.kernels`)."""
