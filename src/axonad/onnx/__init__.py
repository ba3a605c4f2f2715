"""A fitted AxonAD as an ONNX file."""
