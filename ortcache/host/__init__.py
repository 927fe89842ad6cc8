"""What stock ONNX Runtime lacks of the proposal, supplied in the process: nothing is compiled or patched."""
