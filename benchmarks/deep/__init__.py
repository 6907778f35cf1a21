"""Networks with structured outputs: inference on tensors, and training through it."""
