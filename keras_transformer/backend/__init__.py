"""Hardware support: XLA compilation, devices and precision. The layers themselves stay backend-agnostic."""
