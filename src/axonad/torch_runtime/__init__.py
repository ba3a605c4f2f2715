"""What every torch network needs to run: device, seed, threads, CUDA graphs, windows."""
